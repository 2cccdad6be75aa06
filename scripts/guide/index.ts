/**
 * Makes the documentation as a site, which the service shows at /guide: `npm run docs`. Usage:
 * scripts/guide/index.ts DIRECTORY Its pages are the documents of docs/ and those that they link to. It fails
 * on a broken link.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { build } from 'esbuild';
import { documents } from '../documents.js';
import { diagramStyles } from './diagram.js';
import { type Rendered, rendered } from './markdown.js';
import { addressOf, chapters, frontFile } from './navigation.js';
import { page } from './page.js';

const [target = 'dist/guide'] = process.argv.slice(2);
const making = `${target}.new`;
const listed = chapters();
const files = [frontFile, ...listed.flatMap(({ pages }) => pages.map(({ file }) => file))];
/** What is on the site besides its pages, by its place there: pictures and programs that pages link to. */
const others = new Map<string, string>();

const missing = documents('docs').filter((file) => !files.includes(file));
if (missing.length > 0) throw new Error(`${frontFile} does not list ${missing.join(', ')}`);

const made = new Map(files.map((file) => [file, renderedFile(file)]));
const sections = [...made].flatMap(([file, { title, sections }]) =>
  sections.map(({ anchor, heading, text }) => ({
    id: `${addressOf(file)}${anchor && `#${anchor}`}`,
    title,
    heading,
    text: text.trim(),
  })),
);
const known = new Set([...sections.map(({ id }) => id), ...others.keys()]);
for (const [file, { html }] of made) {
  for (const [, address = ''] of html.matchAll(/ (?:href|src)="(\/guide[^"]*)"/g))
    if (!known.has(address)) throw new Error(`${file} leads to ${address}, which is not there`);
}

rmSync(making, { recursive: true, force: true });
const css = `${readFileSync('scripts/guide/guide.css', 'utf8')}\n.diagram {${diagramStyles()}}\n`;
const js = await searchScript();
const json = JSON.stringify(sections);
write('guide.css', css);
write('search.js', js);
write('icon.svg', readFileSync('scripts/guide/icon.svg', 'utf8'));
write('search.json', json);
const version = createHash('sha256').update(css).update(js).update(json).digest('base64url').slice(0, 10);
const frame = { chapters: listed, version };
for (const [file, one] of made) write(fileOf(addressOf(file)), page(one, frame, file));
write('404.html', page(nothing(), frame));
for (const [address, file] of others) {
  mkdirSync(dirname(join(making, inside(address))), { recursive: true });
  cpSync(file, join(making, inside(address)));
}
rmSync(target, { recursive: true, force: true });
renameSync(making, target);

function renderedFile(file: string): Rendered {
  return rendered(readFileSync(file, 'utf8'), (link) => {
    if (/^[a-z]+:/.test(link)) return link;
    const [path = '', anchor] = link.split('#');
    const aim = path === '' ? file : normalize(join(dirname(file), path));
    if (!existsSync(aim)) throw new Error(`${file} leads to ${link}, which is not there`);
    if (!files.includes(aim)) others.set(addressOf(aim), aim);
    return `${addressOf(aim)}${anchor ? `#${anchor}` : ''}`;
  });
}

function nothing(): Rendered {
  const html = '<h1>There is no such page</h1>\n<p>Begin at the <a href="/guide">list of all pages</a>.</p>';
  return { title: 'There is no such page', html, sections: [] };
}

async function searchScript(): Promise<string> {
  const options = { bundle: true, minify: true, write: false, format: 'iife', target: 'es2022' } as const;
  const { outputFiles } = await build({ entryPoints: ['scripts/guide/search.js'], ...options });
  return outputFiles[0]!.text;
}

function write(name: string, text: string): void {
  mkdirSync(dirname(join(making, name)), { recursive: true });
  writeFileSync(join(making, name), text);
}

function inside(address: string): string {
  return address.replace(/^\/guide\/?/, '');
}

/** The file of a page. The page of a folder is next to the folder. */
function fileOf(address: string): string {
  return `${inside(address) || 'index'}.html`;
}
