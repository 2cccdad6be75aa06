import type { Element, Root as Html } from 'hast';
import { toHtml } from 'hast-util-to-html';
import type { Heading, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { defaultHandlers, type Handlers, toHast } from 'mdast-util-to-hast';
import { toString as textOf } from 'mdast-util-to-string';
import { gfmTable } from 'micromark-extension-gfm-table';
import { visit } from 'unist-util-visit';
import { diagram } from './diagram.js';

/** A part of a page below one heading, as the search knows it. */
export interface Section {
  /** Its anchor on the page; empty for what comes before the first heading below the title. */
  anchor: string;
  heading: string;
  depth: number;
  text: string;
}

/** A document as a page. */
export interface Rendered {
  title: string;
  html: string;
  sections: Section[];
}

/** A text in Markdown as a tree. */
export function parsed(markdown: string): Root {
  return fromMarkdown(markdown, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] });
}

/** Makes the page of a document. `addressOf` says where what it links to is on the site. */
export function rendered(markdown: string, addressOf: (target: string) => string): Rendered {
  const tree = parsed(markdown);
  const sections = sectionsOf(tree);
  visit(tree, (node) => {
    if (node.type === 'link' || node.type === 'image') node.url = addressOf(node.url);
  });
  const html = toHast(tree, { handlers }) as Html;
  makeScrollable(html);
  return { title: sections[0]!.heading, html: toHtml(html, { allowDangerousHtml: true }), sections };
}

/** The parts of a document, whose headings get their anchors. */
function sectionsOf(tree: Root): Section[] {
  const anchors = new Map<string, number>();
  const sections: Section[] = [];
  for (const node of tree.children) {
    if (node.type === 'heading') sections.push(sectionOf(node, anchors));
    else if (sections.length > 0) sections.at(-1)!.text += ` ${wordsOf(node)}`;
  }
  if (sections[0]?.depth !== 1) throw new Error('a document begins with its title');
  sections[0].anchor = '';
  return sections;
}

function sectionOf(node: Heading, anchors: Map<string, number>): Section {
  const heading = textOf(node);
  const plain = anchorOf(heading);
  const before = anchors.get(plain) ?? 0;
  anchors.set(plain, before + 1);
  const anchor = before === 0 ? plain : `${plain}-${before}`;
  node.data = { hProperties: { id: anchor } };
  return { anchor, heading, depth: node.depth, text: '' };
}

/** The anchor of a heading, as forges make it, so that a link leads to the same place there and here. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function wordsOf(node: Root['children'][number]): string {
  const words: string[] = [];
  visit(node, (part) => {
    if (part.type !== 'html' && 'value' in part) words.push(part.value);
  });
  return words.join(' ').replace(/\s+/g, ' ');
}

const handlers: Handlers = {
  code(state, node) {
    if (node.lang !== 'mermaid') return defaultHandlers.code(state, node);
    const properties = {
      className: ['diagram'],
      role: 'img',
      ariaLabel: 'Diagram of what is described here',
    };
    // made here, from a document of the repository
    const children = [{ type: 'raw', value: diagram(node.value) } as never];
    return { type: 'element', tagName: 'figure', properties, children };
  },
};

/** Lets wide tables and code be scrolled by themselves, by keyboard too. */
function makeScrollable(tree: Html): void {
  visit(tree, 'element', (node, index, parent) => {
    if (node.tagName === 'pre') node.properties.tabIndex = 0;
    if (node.tagName !== 'table' || (parent as Element).properties?.className) return;
    const properties = { className: ['wide'], tabIndex: 0, role: 'region', ariaLabel: 'Table' };
    parent!.children[index!] = { type: 'element', tagName: 'div', properties, children: [node] };
  });
}
