import { renderMermaidSVG } from 'beautiful-mermaid';

/** A diagram in the language of Mermaid as a picture. Its colours are those of the page: see {@link diagramStyles}. */
export function diagram(source: string): string {
  return renderMermaidSVG(source, colours)
    .replace(styleElement, '')
    .replace(/^(<svg[^>]*) style="[^"]*"/, '$1');
}

/** The rules for all diagrams. They are kept apart from the pictures, as the pages allow no styles but those of their sheet. */
export function diagramStyles(): string {
  const [, rules = ''] = styleElement.exec(renderMermaidSVG('flowchart LR\n  a --> b', colours)) ?? [];
  // the fonts of another host
  return rules.replace(/^ *@import [^\n]*\n/m, '').replace(/^ *text \{[^\n]*\n/m, '');
}

const colours = { bg: 'var(--bg)', fg: 'var(--fg)' };
const styleElement = /<style>(.*?)<\/style>\n?/s;
