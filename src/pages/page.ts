import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../servers/binaries.js';

/** A page for people, and the headers that let nothing into it but what it came with. */
export interface Page {
  html: string;
  headers: Record<string, string>;
}

/** Reads a page of this folder. Values take the places of `{name}` in its text; they are escaped. */
export function pageOf(file: string, values: Record<string, string> = {}): Page {
  const source = readFileSync(join(projectDir, 'src', 'pages', file), 'utf8');
  const html = Object.entries(values).reduce(
    (text, [name, value]) => text.replaceAll(`{${name}}`, escaped(value)),
    source,
  );
  return {
    html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': [
        "default-src 'none'",
        `script-src ${hashOf(html, 'script')}`,
        `style-src ${hashOf(html, 'style')}`,
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  };
}

/** What a browser compares with what is between the tags of the page's only element of this kind. */
function hashOf(html: string, tag: string): string {
  const text = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(html)?.[1] ?? '';
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** A text for a place between tags or between quotation marks. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
