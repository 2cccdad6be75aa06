import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import type { Entry } from '../../streams/core/index.js';

/*
 * An export is a file of JSON lines. The first one names the streams; then each message of a stream has a line,
 * in the order of the stream; a line with `end` says up to which sequences the export is complete. An export
 * that is continued has more messages and a new end behind the first one. What else the log server keeps of a
 * message is not in it: the id that recognises a repeated append is in the fact as well, and conditions of an
 * append mean nothing afterwards.
 */

const Head = z.object({
  relay_export: z.literal(1),
  streams: z.array(z.string()).min(1),
  /** Whether these were all streams of the log: others do not make an environment. */
  whole: z.boolean(),
});
const Message = z.object({
  stream: z.string(),
  seq: z.int().positive(),
  subject: z.string().min(1),
  /** When it was first stored. */
  at: z.iso.datetime(),
  /** The bytes: as text, or where they are no valid UTF-8 in base64. */
  data: z.string().optional(),
  base64: z.base64().optional(),
});
const End = z.object({ end: z.record(z.string(), z.int().min(0)) });
const Line = z.union([Message, End, Head]);

/** A message of a stream, taken out of its log. */
export interface ExportedMessage {
  stream: string;
  seq: number;
  subject: string;
  at: Date;
  data: Uint8Array;
}

/** What a line of an export says. */
export type ExportLine =
  | { is: 'head'; streams: string[]; whole: boolean }
  | { is: 'message'; message: ExportedMessage }
  | { is: 'end'; seqs: Map<string, number> };

/** The first line of an export. */
export function headLine(streams: string[], whole: boolean): string {
  return JSON.stringify({ relay_export: 1, streams, whole } satisfies z.input<typeof Head>);
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

/** Reads one line. Throws when it is none of an export. */
export function parseExportLine(line: string): ExportLine {
  const parsed = Line.safeParse(JSON.parse(line));
  if (!parsed.success) throw new Error('it is no line of an export that this version knows');
  const found = parsed.data;
  if ('end' in found) return { is: 'end', seqs: new Map(Object.entries(found.end)) };
  if ('relay_export' in found) return { is: 'head', ...found };
  const { data, base64, at, stream, seq, subject } = found;
  const bytes = data === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(data);
  return { is: 'message', message: { stream, seq, subject, at: new Date(at), data: bytes } };
}

/**
 * The whole lines of a file and where each of them ends; what stands behind the last line end is no line yet.
 * (The line reader of Node also ends lines at U+2028, which JSON text may hold.)
 */
export async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<{ line: string; end: number }> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of input) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let from = 0;
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      yield { line: bytes.toString('utf8', from, at), end: offset + at + 1 };
      from = at + 1;
    }
    rest = bytes.subarray(from);
    offset += from;
  }
}
