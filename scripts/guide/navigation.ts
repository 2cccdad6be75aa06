import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Nodes } from 'mdast';
import { toString as textOf } from 'mdast-util-to-string';
import { visit } from 'unist-util-visit';
import { parsed } from './markdown.js';

/** The page that lists all others. */
export const frontFile = 'docs/README.md';

/** Pages of one kind, in the order in which the list has them. */
export interface Chapter {
  title: string;
  pages: { title: string; file: string }[];
}

/** The chapters of the site: the headings of the list of pages, with the pages that are linked below each. */
export function chapters(): Chapter[] {
  const found: Chapter[] = [];
  for (const node of parsed(readFileSync(frontFile, 'utf8')).children) {
    if (node.type === 'heading' && node.depth === 2)
      found.push({ title: textOf(node).split(':')[0]!, pages: [] });
    else found.at(-1)?.pages.push(...pagesIn(node));
  }
  return found.filter(({ pages }) => pages.length > 0);
}

function pagesIn(node: Nodes): Chapter['pages'] {
  const pages: Chapter['pages'] = [];
  visit(node, 'link', (link) => {
    if (/^[^:#]+\.md$/.test(link.url))
      pages.push({ title: textOf(link), file: join(dirname(frontFile), link.url) });
  });
  return pages;
}

/** Where a file of the repository is on the site: a document without its ending, a folder's README at the folder. */
export function addressOf(file: string): string {
  const path = file
    .replace(/^docs\//, '')
    .replace(/(^|\/)README\.md$/, '')
    .replace(/\.md$/, '');
  return path === '' ? '/guide' : `/guide/${path}`;
}
