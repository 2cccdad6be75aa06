import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import type { Entry, Log, StreamDefinition } from '../../../streams/core/index.js';
import { streams } from '../../../streams/index.js';
import { Failed } from '../core/failure.js';
import type { Progress } from '../core/progress.js';
import { readRange } from '../log/read-range.js';
import { type ExportedMessage, isSameMessage, linesOf } from './format.js';
import { ExportReader } from './reader.js';

/** An export that was read to its end and fits the log. */
export interface CheckedExport {
  messages: number;
  bytes: number;
  /** Whether it has checksums, and so is as it was written. */
  hasChecksums: boolean;
  streams: Map<string, CheckedStream>;
}

/** Where an export is read, and what it is called. */
export interface ExportSource {
  path: string;
  name: string;
}

/** One stream of it, and of the log. */
export interface CheckedStream {
  definition: StreamDefinition;
  /** Sequence that the export ends with, whether or not there is a message at it. */
  end: number;
  /** Sequence that the log ends with now. */
  head: number;
  /** How many of its messages are in the export. */
  messages: number;
  /** How many of those the log does not have yet. */
  missing: number;
}

/** Lines between two words about the progress. */
export const progressEvery = 256;

/** What an import does along the way. */
export interface ImportStep {
  stop: AbortSignal;
  /** Told how many bytes of the export are dealt with. */
  progress: Progress;
}

/** Is in the place of messages that the exported log had not any more, until the import is finished. */
export function placeholderSubject({ subjects }: StreamDefinition): string {
  return subjects[0]!.replace(/[*>].*$/, 'import.placeholder');
}

/** Reads a whole export and compares it with what the log has. Throws `Failed` when it is not whole or does not fit. */
export async function checkExport(
  { path, name: source }: ExportSource,
  log: Log,
  step: ImportStep,
): Promise<CheckedExport> {
  const bytes = await sizeOf(path);
  if (bytes === 0) throw new Failed(`${source} is empty: there is no export`, 'not_an_export');
  const checked: CheckedExport = { messages: 0, bytes, hasChecksums: false, streams: new Map() };
  const comparisons = new Map<string, Comparison>();
  const reader = new ExportReader(source);
  let read = 0;
  let isEnded = false;
  for await (const lines of linesOf(createReadStream(path))) {
    for (const { line, end } of lines) {
      read = end;
      const said = reader.read(line);
      isEnded = said.is === 'end';
      if (said.is === 'head') {
        checked.hasChecksums = said.hasChecksums;
        if (!said.whole) throw partial(source, said.streams);
        for (const name of said.streams) {
          const definition = streams.find((stream) => stream.name === name);
          if (!definition) throw new Failed(`this version has no stream ${name}`, 'unknown_stream');
          const head = await log.head(definition);
          checked.streams.set(name, { definition, end: 0, head, messages: 0, missing: 0 });
          comparisons.set(name, new Comparison(log, definition, head, step.stop));
        }
      } else if (said.is === 'end') {
        for (const [name, seq] of said.seqs) {
          if (seq < named(checked, reader, name).end) throw reader.refusal(`${name} goes on after its end`);
          checked.streams.get(name)!.end = seq;
        }
      } else {
        const { stream, seq } = said.message;
        if (seq <= named(checked, reader, stream).end)
          throw reader.refusal(`${stream} ${seq} does not come after what is before it`);
        const of = checked.streams.get(stream)!;
        of.end = seq;
        of.messages += 1;
        if (seq > of.head) of.missing += 1;
        checked.messages += 1;
        await comparisons.get(stream)!.next(said.message);
      }
      if (reader.number % progressEvery === 0) step.progress.to(read, bytes);
    }
  }
  if (!isEnded || read < bytes) {
    const hint = 'The same "relay export" goes on with it, where the exported log is.';
    throw new Failed(`${source} is not whole: the export was interrupted`, 'export_incomplete', hint);
  }
  for (const [name, { end }] of checked.streams) await comparisons.get(name)!.finish(end);
  step.progress.to(bytes, bytes);
  return checked;
}

/** Compares messages of an export, one after the other, with those that the log has in their place. */
class Comparison {
  readonly #stream: StreamDefinition;
  readonly #head: number;
  readonly #batches: AsyncGenerator<Entry[]>;
  #entries: Entry[] = [];

  constructor(log: Log, stream: StreamDefinition, head: number, stop: AbortSignal) {
    this.#stream = stream;
    this.#head = head;
    this.#batches = readRange(log, stream, { after: 0, upTo: head, stop });
  }

  /** Throws `Failed` when the log is beyond this message and has another one, none, or one before it that is not in the export. */
  async next(message: ExportedMessage): Promise<void> {
    const { seq } = message;
    if (seq > this.#head) return;
    const entry = await this.#take();
    if (!entry || entry.seq > seq) throw this.#differs(seq, 'the log has no fact there any more');
    if (entry.seq < seq) throw this.#differs(entry.seq, 'the export has no fact there');
    if (!isSameMessage(message, entry)) throw this.#differs(seq, 'it is another fact in the log');
  }

  /** Throws `Failed` when the log has more than the export, which ends with this sequence. */
  async finish(end: number): Promise<void> {
    const entry = await this.#take();
    if (this.#head > end || entry)
      throw this.#differs(entry?.seq ?? this.#head, 'the log has more than the export');
  }

  async #take(): Promise<Entry | undefined> {
    for (;;) {
      const entry = this.#entries.shift();
      if (entry && entry.subject !== placeholderSubject(this.#stream)) return entry;
      if (entry) continue;
      const { value, done } = await this.#batches.next();
      if (done) return undefined;
      this.#entries = value;
    }
  }

  #differs(seq: number, how: string): Failed {
    const hint =
      'Nothing was changed. An import needs an empty event log, or one that holds the beginning of the export.';
    return new Failed(`${this.#stream.name} ${seq}: ${how}`, 'other_log', hint);
  }
}

function named({ streams }: CheckedExport, reader: ExportReader, name: string): CheckedStream {
  const found = streams.get(name);
  if (found) return found;
  throw reader.refusal(`its head does not name ${name}`);
}

function partial(source: string, names: string[]): Failed {
  const hint = 'Facts refer to facts of other streams: export all of them.';
  return new Failed(`${source} has only ${names.join(', ')}`, 'export_partial', hint);
}

async function sizeOf(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new Error('it is no file');
    await access(path, constants.R_OK);
    return found.size;
  } catch (error) {
    throw new Failed(`${path} cannot be read: ${(error as Error).message}`, 'file_unreadable');
  }
}
