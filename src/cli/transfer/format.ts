import { isUtf8 } from 'node:buffer';
import * as crypto from 'node:crypto';
import { z } from 'zod';
import type { Entry } from '../../../streams/core/index.js';

/*
 * An export is a file of JSON lines. The first one names the streams. Then each message of a stream has a
 * line, in the order of the stream. A line with `end` says up to which sequences the export is complete. An
 * export that is continued has more messages and a new end after the first one.
 *
 * An export leaves out what else the log server keeps of a message. The id that recognises a repeated append
 * is in the fact as well. Conditions of an append mean nothing afterwards.
 *
 * Each line ends with a checksum over it and all lines before it, so that the first damaged line is found.
 * This guards against damage only: somebody who changes a file on purpose can compute the checksums again.
 */

const Head = z
  .strictObject({
    /** 1 had no checksums. */
    relay_export: z.literal([1, 2]),
    streams: z.array(z.string()).min(1),
    /** Whether these were all streams of the log: a part of them is not a whole environment. */
    whole: z.boolean(),
    sum: z.string().optional(),
  })
  .refine(({ relay_export, sum }) => (relay_export === 2) === (sum !== undefined));
const Message = z.object({
  stream: z.string(),
  seq: z.int().positive(),
  subject: z.string().min(1),
  /** When it was first stored. */
  at: z.iso.datetime(),
  /** The bytes: as text, or in base64 if they are not valid UTF-8. */
  data: z.string().optional(),
  base64: z.base64().optional(),
});
const End = z.object({ end: z.record(z.string(), z.int().min(0)) });
const Line = z.union([Message, End, Head]);

/** A message of a stream, outside its log. */
export interface ExportedMessage {
  stream: string;
  seq: number;
  subject: string;
  at: Date;
  data: Uint8Array;
}

/** What a line of an export says. */
export type ExportLine =
  | { is: 'head'; streams: string[]; whole: boolean; hasChecksums: boolean }
  | { is: 'message'; message: ExportedMessage }
  | { is: 'end'; seqs: Map<string, number> };

const digestLength = 64;

/** The checksums of an export, line by line from the first one on. */
export class Checksums {
  #digest = '0'.repeat(digestLength);
  #hashed = Buffer.alloc(4_096);

  /** Whether the next line ends with its checksum. */
  fits(line: Buffer): boolean {
    const at = Math.max(0, line.length - endingLength);
    return line.toString('latin1', at) === this.ending(line.subarray(0, at));
  }

  /**
   * The end of the next line, after all of it but its brace. It has digits of a SHA-256, in hex, over the
   * digest before and the text so far. Eight digits are enough: the whole digest goes into the next ones, so
   * later lines find what one has missed.
   */
  ending(open: Buffer): string {
    const end = digestLength + open.length;
    if (end > this.#hashed.length) this.#hashed = Buffer.alloc(2 * end);
    this.#hashed.write(this.#digest, 'latin1');
    this.#hashed.set(open, digestLength);
    this.#digest = sha256(this.#hashed.subarray(0, end));
    return `,"sum":"${this.#digest.slice(0, 8)}"}`;
  }
}

const endingLength = ',"sum":"01234567"}'.length;

/** In hex. The function that Node has from 20.12 on takes half of the time. */
function sha256(bytes: Buffer): string {
  return crypto.hash?.('sha256', bytes) ?? crypto.createHash('sha256').update(bytes).digest('hex');
}

/** The bytes of lines as they are in the file: with their checksums, unless the file began without. */
export function bytesOf(lines: string[], checksums: Checksums | undefined): Buffer {
  const parts = lines.flatMap((line) => {
    if (!checksums) return [Buffer.from(`${line}\n`)];
    const open = Buffer.from(line.slice(0, -1));
    return [open, Buffer.from(`${checksums.ending(open)}\n`)];
  });
  return Buffer.concat(parts);
}

/** How the first line of every export begins, whatever version has written it. */
export const headBeginning = '{"relay_export"';

/** The first line of an export; like the others, without its checksum. */
export function headLine(streams: string[], whole: boolean): string {
  return JSON.stringify({ relay_export: 2, streams, whole } satisfies z.input<typeof Head>);
}

/** The line of one message; its bytes come back exactly. */
export function messageLine(stream: string, { seq, subject, at, data }: Omit<Entry, 'pending'>): string {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const content = isUtf8(bytes) ? { data: bytes.toString() } : { base64: bytes.toString('base64') };
  return JSON.stringify({ stream, seq, subject, at: at.toISOString(), ...content } satisfies z.input<
    typeof Message
  >);
}

/** The line that says that everything up to these sequences is there. */
export function endLine(seqs: ReadonlyMap<string, number>): string {
  return JSON.stringify({ end: Object.fromEntries(seqs) } satisfies z.input<typeof End>);
}

/** Whether two messages of the same stream are the same one. */
export function isSameMessage(a: ExportedMessage, b: Omit<Entry, 'pending'>): boolean {
  const isSamePlace = a.seq === b.seq && a.subject === b.subject && a.at.getTime() === b.at.getTime();
  return isSamePlace && Buffer.compare(a.data, b.data) === 0;
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // what the parser says is about JSON, and no help to whoever took another file
  }
}

/** Reads one line. Throws if it is not a line of an export. */
export function parseExportLine(line: string): ExportLine {
  const parsed = Line.safeParse(jsonOf(line));
  if (!parsed.success) throw new Error('it is no line of an export that this version knows');
  const found = parsed.data;
  if ('end' in found) return { is: 'end', seqs: new Map(Object.entries(found.end)) };
  if ('relay_export' in found) {
    const { streams, whole, sum } = found;
    return { is: 'head', streams, whole, hasChecksums: sum !== undefined };
  }
  const { data, base64, at, stream, seq, subject } = found;
  const bytes = data === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(data);
  return { is: 'message', message: { stream, seq, subject, at: new Date(at), data: bytes } };
}

/** A line of a file, and where it ends. */
export interface FileLine {
  line: Buffer;
  end: number;
}

/**
 * The whole lines of a file, in batches as they were read: one by one takes longer. Text after the last line
 * end is not a line yet. (Node's line reader also ends lines at U+2028, which JSON text may hold.)
 */
export async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<FileLine[]> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of input) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const lines: FileLine[] = [];
    let from = 0;
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      lines.push({ line: bytes.subarray(from, at), end: offset + at + 1 });
      from = at + 1;
    }
    yield lines;
    rest = bytes.subarray(from);
    offset += from;
  }
}
