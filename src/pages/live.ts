import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../servers/binaries.js';

const html = readFileSync(join(projectDir, 'src', 'pages', 'live.html'), 'utf8');

/** The page on which people watch the network, and the headers that let nothing into it but what it came with. */
export const livePage = {
  html,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': [
      "default-src 'none'",
      `script-src ${hashOf('script')}`,
      `style-src ${hashOf('style')}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  },
};

/** What a browser compares with what stands between the tags of the page's only element of this kind. */
function hashOf(tag: string): string {
  const text = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(html)?.[1] ?? '';
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
