/** The head of a page that is made from the code. */
export function head(title: string, source: string, intro: string): string {
  return `# ${title}\n\n<!-- Made from ${source} by \`npm run docs:reference\`: not to be edited. -->\n\n${intro}`;
}

/** A table of Markdown. */
export function table(names: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(names), `|${'---|'.repeat(names.length)}`, ...rows.map(line), ''].join('\n');
}

/** A text in one cell: bars would end it, and angle brackets would be HTML. */
const cell = (text: string) =>
  text
    .replace(/\s*\n\s*/g, ' ')
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part.replaceAll('|', '\\|') : part.replace(/[<|]/g, '\\$&')))
    .join('');

/** A text as code. */
export const code = (text: string) => (text === '' ? '' : `\`${text}\``);
