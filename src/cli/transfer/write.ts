import { createReadStream } from 'node:fs';
import { headers as newHeaders } from 'nats';
import { importedHeader, type Log, markImport } from '../../../streams/core/index.js';
import { Failed } from '../core/failure.js';
import {
  type CheckedExport,
  type CheckedStream,
  type ImportStep,
  placeholderSubject,
  progressEvery,
} from './check.js';
import { linesOf, parseExportLine } from './format.js';

/** Appends on their way at most. */
const maxPending = 256;
const appendBoundMs = 10_000;
const logFull = [10047, 10077, 10122];

/**
 * Appends what the log does not have yet of a checked export. Answers how much that was. Until all of it is
 * there, no service starts on the log.
 */
export async function writeImport(
  path: string,
  log: Log,
  { streams, bytes }: CheckedExport,
  { stop, progress }: ImportStep,
): Promise<number> {
  const isMissing = [...streams.values()].some(({ head, end }) => head < end);
  if (!isMissing && !log.hasUnfinishedImport) return 0;
  const writers = new Map<string, StreamWriter>();
  for (const [name, checked] of streams) await unlock(log, name, checked);
  for (const [name, checked] of streams) {
    await markImport(log.manager, name, 'unfinished');
    writers.set(name, await StreamWriter.open(log, checked));
  }
  let imported = 0;
  let number = 0;
  try {
    for await (const lines of linesOf(createReadStream(path))) {
      for (const { line, end } of lines) {
        if (stop.aborted) throw new Failed('the import was interrupted', 'interrupted');
        number += 1;
        if (number % progressEvery === 0) progress.to(end, bytes);
        const said = parseExportLine(line.toString());
        if (said.is !== 'message') continue;
        const { stream, seq, subject, at, data } = said.message;
        if (await writers.get(stream)!.append(seq, subject, data, at)) imported += 1;
      }
    }
    progress.to(bytes, bytes);
    for (const [name, { end }] of streams) await writers.get(name)!.finish(end);
  } catch (error) {
    const { message, code = 'failed' } = error as Error & { code?: string };
    throw new Failed(
      message,
      code,
      'No service starts on this log now; the same command goes on with the import.',
    );
  }
  for (const [name, { end }] of streams) await markImport(log.manager, name, end);
  return imported;
}

/**
 * Makes sure that placeholders can be removed from a stream. Once a service has started on a stream, nothing
 * can ever be removed from it. An empty stream is made again. A stream with messages is good enough if no
 * sequence is missing.
 */
async function unlock(log: Log, name: string, { head, end, missing }: CheckedStream): Promise<void> {
  const { streams } = log.manager;
  const { config, state } = await streams.info(name);
  if (!config.deny_purge) return;
  if (state.messages === 0) {
    await streams.delete(name);
    await streams.add({ ...config, deny_delete: false, deny_purge: false });
    if (head > 0) await streams.purge(name, { seq: head + 1 });
  } else if (end - head > missing) {
    const reason = `${name}: a service was started on this log, and not all sequences after ${head} are in the export`;
    throw new Failed(reason, 'other_log', 'Nothing was changed. Import into an empty event log.');
  }
}

/** Appends to one stream so that each message gets the sequence that it had. */
class StreamWriter {
  readonly #log: Log;
  readonly #name: string;
  readonly #placeholder: string;
  readonly #pending = new Set<Promise<void>>();
  #failure: Error | undefined;
  #next: number;
  #isEmpty: boolean;
  #hasPlaceholders: boolean;

  private constructor(
    log: Log,
    { definition, head }: CheckedStream,
    is: { empty: boolean; sealed: boolean },
  ) {
    this.#log = log;
    this.#name = definition.name;
    this.#placeholder = placeholderSubject(definition);
    this.#next = head + 1;
    this.#isEmpty = is.empty;
    // an import before this one may have left some
    this.#hasPlaceholders = !is.sealed;
  }

  static async open(log: Log, checked: CheckedStream): Promise<StreamWriter> {
    const { config, state } = await log.manager.streams.info(checked.definition.name);
    return new StreamWriter(log, checked, { empty: state.messages === 0, sealed: config.deny_purge });
  }

  /**
   * Appends a message unless it is there already. Answers whether it did. Returns when there is room for the
   * next one.
   */
  async append(seq: number, subject: string, data: Uint8Array, at: Date): Promise<boolean> {
    if (seq < this.#next) return false;
    await this.#moveTo(seq);
    await this.#publish(subject, data, at);
    return true;
  }

  /** Brings the stream to the last sequence of the export, and removes the placeholders. */
  async finish(end: number): Promise<void> {
    await this.#moveTo(end + 1);
    await this.#settled(0);
    if (!this.#hasPlaceholders) return;
    await this.#log.manager.streams.purge(this.#name, { filter: this.#placeholder });
  }

  /**
   * Makes a sequence the next one. An empty stream can be set to it. After a message the log server only
   * counts on, so placeholders take the missing sequences.
   */
  async #moveTo(seq: number): Promise<void> {
    if (this.#isEmpty && this.#next < seq) {
      await this.#log.manager.streams.purge(this.#name, { seq });
      this.#next = seq;
    }
    while (this.#next < seq) await this.#publish(this.#placeholder, new Uint8Array());
  }

  async #publish(subject: string, data: Uint8Array, at?: Date): Promise<void> {
    const seq = this.#next++;
    this.#isEmpty = false;
    const headers = newHeaders();
    headers.set('Nats-Expected-Last-Sequence', String(seq - 1));
    if (at) headers.set(...importedHeader(at));
    const appended = this.#log.connection
      .request(subject, data, { headers, timeout: appendBoundMs })
      .then((answer) => this.#check(seq, answer.json<PubAck>()))
      .catch((error: Error) => {
        this.#failure ??= error;
      })
      .finally(() => this.#pending.delete(appended));
    this.#pending.add(appended);
    await this.#settled(maxPending - 1);
  }

  #check(seq: number, { seq: got, error }: PubAck): void {
    if (error && logFull.includes(error.err_code)) {
      const hint = `${this.#name} is full: raise STREAMS_MAX_BYTES`;
      throw new Failed(hint, 'log_full');
    }
    if (error) throw new Failed(`${this.#name} ${seq} was refused: ${error.description}`, 'log_refused');
    if (got !== seq) throw new Failed(`somebody else writes to ${this.#name}`, 'log_in_use');
  }

  /** Waits until no more than `most` appends are on their way. Throws the error of any of them. */
  async #settled(most: number): Promise<void> {
    if (this.#pending.size > most) await Promise.all(this.#pending);
    if (this.#failure) throw this.#failure;
  }
}

interface PubAck {
  seq?: number;
  error?: { err_code: number; description: string };
}
