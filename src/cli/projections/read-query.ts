import { UsageError } from '../core/failure.js';

/** The first words of statements that only read. */
const readers = ['SELECT', 'WITH', 'VALUES', 'TABLE', 'SHOW', 'EXPLAIN'];

/**
 * The lexical parts of SQL, as far as they can hide a semicolon. They are comments, quoted names, strings
 * with and without escapes (also continued on the next line), dollar quotes, words, and each other character.
 */
const part =
  /(?<space>\s+|--[^\n\r]*)|(?<comment>\/\*)|"(?:[^"]|"")*"|[eE]'(?:[^'\\]|\\[\s\S]|''|'\s*[\n\r]\s*')*'|'(?:[^']|'')*'|[a-zA-Z_\u0080-\uffff][\w$\u0080-\uffff]*|(?<dollar>\$(?:[a-zA-Z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|[\s\S]/y;

/**
 * The first word of a text, in capitals, if it is one statement that begins like a reading one. A read-only
 * transaction then decides what it may do.
 */
export function readerOf(text: string): string | undefined {
  let first: string | undefined;
  let hasEnded = false;
  for (let at = 0; at < text.length; ) {
    part.lastIndex = at;
    const match = part.exec(text)!; // if nothing else then one character
    const { space, comment, dollar } = match.groups!;
    at = part.lastIndex;
    if (comment) at = behindComment(text, at);
    if (dollar) at = behind(text, dollar, at);
    if (space || comment) continue;
    const [found] = match;
    if (hasEnded && found !== ';') return undefined;
    if (found === ';') hasEnded = true;
    else if (found !== '(') first ??= found.toUpperCase();
  }
  return readers.find((reader) => reader === first);
}

/** Throws `UsageError` if a text is not a reading query. */
export function requireReadQuery(text: string): void {
  if (readerOf(text)) return;
  throw new UsageError(
    `--query must be one statement that reads, and begin with one of ${readers.join(', ')}`,
  );
}

/** Comments can hold others; one that is never closed reaches to the end. */
function behindComment(text: string, from: number): number {
  let depth = 1;
  for (const { 0: mark, index } of text.slice(from).matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1;
    if (depth === 0) return from + index + mark.length;
  }
  return text.length;
}

function behind(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end < 0 ? text.length : end + mark.length;
}
