import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';

/** Where a command writes: results to the standard output, everything about them to the error output. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /**
   * Waits until the standard output takes more, or `stop` aborts: lines that nobody takes are kept in memory. Whatever
   * writes without bound waits for it.
   */
  room(stop: AbortSignal): Promise<void>;
  /** Whether a person looks at the standard output. */
  isTty: boolean;
  /** Width of that person's window in characters; `undefined` when nothing has to fit. */
  columns: number | undefined;
  colours: boolean;
  /** Draws over the last line of the error output, '' removes it; `undefined` where nobody watches. */
  status: ((text: string) => void) | undefined;
  /** Asks that person; rejects when `stop` aborts or the input ends first. `undefined` where nobody can answer. */
  ask: ((question: string, stop: AbortSignal) => Promise<string>) | undefined;
}

const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Style = keyof typeof styles;
/** A cell of a table; what comes from outside is made printable when it is drawn. */
export type Cell = string | number | { text: string; style: Style };

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  return {
    out: (line) => void stdout.write(`${line}\n`),
    err: (line) => void stderr.write(`${line}\n`),
    room: async (stop) => {
      if (stdout.writableNeedDrain && !stop.aborted) await taken(stdout, stop);
    },
    isTty: stdout.isTTY === true,
    columns: stdout.isTTY ? stdout.columns : undefined,
    colours: hasColours(stdout),
    status: stderr.isTTY ? (text) => void stderr.write(`\r\x1b[K${text}`) : undefined,
    ask: stdin.isTTY && stderr.isTTY ? askOn({ input: stdin, output: stderr }) : undefined,
  };
}

/** Resolves when all that was written to a stream so far was taken or is lost, or when `stop` aborts. */
export async function taken(stream: Writable, stop?: AbortSignal): Promise<void> {
  if (stream.writableLength === 0) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      stop?.removeEventListener('abort', done);
      resolve();
    };
    stop?.addEventListener('abort', done);
    // called back after all before it, also where the reader has gone: then no `drain` comes
    stream.write('', done);
  });
}

/** Asks on one stream and reads the answer, a line, from another. Rejects when that one ends first. */
export function askOn(streams: { input: Readable; output: Writable }): NonNullable<Terminal['ask']> {
  return async (question, stop) => {
    // as no terminal of its own it leaves Ctrl-C to the process
    const reading = createInterface({ ...streams, terminal: false });
    // the question itself is left open for ever where the input ends, as with Ctrl-D
    const ended = once(reading, 'close').catch(() => {});
    try {
      const answer = await Promise.race([reading.question(question, { signal: stop }), ended]);
      if (typeof answer === 'string') return answer;
      streams.output.write('\n'); // nobody has ended the line of the question
      throw new Error('the input ended without an answer');
    } finally {
      reading.close();
    }
  };
}

/** Gives a result: as JSON for programs, and for people as the text or the lines that `people` makes. */
export function print(
  { json, terminal }: { json: boolean; terminal: Terminal },
  result: unknown,
  people: string | (() => void),
): void {
  if (json) terminal.out(JSON.stringify(result));
  else if (typeof people === 'string') terminal.out(printable(people));
  else people();
}

/** Text in a style, where the terminal shows styles. */
export function styled(terminal: Terminal, style: Style, text: string): string {
  return terminal.colours ? `\x1b[${styles[style]}m${text}\x1b[0m` : text;
}

/** Text from outside that can do nothing to a terminal: what is not visible is written as an escape. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);
}

/** Writes rows in aligned columns; numbers are on the right, and the last column is cut to the window. */
export function writeTable(terminal: Terminal, head: string[], rows: Cell[][]): void {
  const texts = rows.map((row) =>
    row.map((cell) => printable(typeof cell === 'object' ? cell.text : String(cell))),
  );
  const widths = head.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => row[column]!.length)),
  );
  const right = head.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'),
  );
  const last = head.length - 1;
  const room =
    (terminal.columns ?? Number.POSITIVE_INFINITY) - widths.slice(0, last).reduce((sum, n) => sum + n + 2, 0);
  const fit = (text: string, column: number) => {
    if (column === last && !right[column]) return cut(text, Math.max(room, 20));
    return right[column] ? text.padStart(widths[column]!) : text.padEnd(widths[column]!);
  };
  terminal.out(styled(terminal, 'bold', head.map(fit).join('  ').trimEnd()));
  for (const [index, row] of rows.entries()) {
    const cells = row.map((cell, column) => {
      const text = fit(texts[index]![column]!, column);
      return typeof cell === 'object' ? styled(terminal, cell.style, text) : text;
    });
    terminal.out(cells.join('  ').trimEnd());
  }
}

/** Text of at most `max` characters; what was cut off is three dots. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, Math.max(0, max - 3))}...`;
}

/** A number of bytes in the largest unit that leaves a digit before the point. */
export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = count;
  let unit = 0;
  for (; value >= 1_000 && unit < units.length - 1; unit++) value /= 1_000;
  return unit === 0 ? `${count} B` : `${value.toFixed(1)} ${units[unit]}`;
}

/** A time in UTC to the second; `-` for none. */
export function moment(time: Date | string | number | null | undefined): string {
  if (time === null || time === undefined) return '-';
  const date = new Date(time);
  return Number.isNaN(date.getTime())
    ? '-'
    : date
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, 'Z');
}

function hasColours(stream: WriteStream): boolean {
  return stream.isTTY === true && stream.hasColors();
}
