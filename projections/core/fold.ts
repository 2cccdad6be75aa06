import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  type Entry,
  type Log,
  type Recorded,
  type StreamDefinition,
  decodeFact,
} from '../../streams/core/index.js';
import { operations, projectionSubject } from '../../streams/operations/facts.js';
import type { Projection } from './projection.js';
import { type Build, type Halt, advance, ensureBuild, readPosition, recordHalt } from './registry.js';
import type { Sql } from './sql.js';
import type { Turns } from './turns.js';

/** What a fold works with. */
export interface FoldOptions {
  log: Log;
  sql: Sql;
  logger: Logger;
  projection: Projection;
  build: Build;
  stream: StreamDefinition;
  /** Facts per transaction at most. */
  batch: number;
  /** Milliseconds between two looks for a command to skip the fact that halted it. */
  skipPollMs: number;
  /** The build's transactions run one at a time, and those of all builds a few at a time. */
  turns: { build: Turns; all: Turns };
  /** Called when the position moved, the end was seen or the state changed. */
  changed(): void;
  /** Told whether the read store answers, each time it is known anew. */
  store(error?: unknown): void;
}

/** Where a decoded batch ends, and the fact in the way when not all of it could be decoded. */
interface Decoded {
  facts: Recorded[];
  upTo: number;
  bad?: Halt;
}

/** Pieces of decoding that hold up the process no longer than this, in milliseconds. */
const decodeSliceMs = 4;
const longestPauseMs = 5_000;

/** Folds one stream into one build, from where the build is, for ever. */
export class Fold {
  readonly stream: StreamDefinition;
  readonly #options: FoldOptions;
  readonly #stop = new AbortController();
  #round = new AbortController();
  #running: Promise<void> | undefined;
  #position = 0;
  #state: 'folding' | 'waiting' | 'halted' = 'waiting';
  #halt: Halt | undefined;
  #sawEnd = false;
  #failures = 0;
  /** When it last showed a sign of life, and the head of the stream that it has certainly looked up to. */
  #alive = Date.now();
  #looked = 0;

  constructor(options: FoldOptions) {
    this.#options = options;
    this.stream = options.stream;
  }

  /** Sequence up to which the stream is folded, as far as this process knows. */
  get position(): number {
    return this.#position;
  }

  /** `waiting`: the read store or the log does not answer. */
  get state(): 'folding' | 'waiting' | 'halted' {
    return this.#state;
  }

  get halt(): Halt | undefined {
    return this.#halt;
  }

  /** Whether it has once been within one batch of the stream's end. */
  get sawEnd(): boolean {
    return this.#sawEnd;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Finishes the batch in hand and ends. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Reads the stream anew when its head has moved and the position has not for so long: a reader can be lost silently. */
  watch(head: number, stallMs: number): void {
    const isBehind = this.#state === 'folding' && head > Math.max(this.#position, this.#looked);
    if (!isBehind) this.#alive = Date.now();
    else if (Date.now() - this.#alive > stallMs) {
      this.#alive = Date.now();
      const { logger, build } = this.#options;
      logger.warn(
        { projection: build.schema, stream: this.stream.name, position: this.#position, head },
        'read model does not move, reading the stream again',
      );
      this.#round.abort();
    }
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const halt = (await this.#resume()) ?? (await this.#read());
        if (halt) await this.#waitForSkip(halt);
      } catch (error) {
        await this.#pause(error);
      }
    }
  }

  /** Takes up the position from the store, and passes over facts that the stream no longer has. */
  async #resume(): Promise<Halt | undefined> {
    const { log, sql, projection, build } = this.#options;
    let position = await readPosition(sql, build.schema, this.stream.name).catch(() => undefined);
    if (position === undefined) {
      await ensureBuild(sql, projection, build.generation);
      position = await readPosition(sql, build.schema, this.stream.name);
    }
    this.#position = position ?? 0;
    const { first_seq, last_seq } = (await log.manager.streams.info(this.stream.name)).state;
    if (last_seq < this.#position) {
      const message = `The stream ends at ${last_seq}, the read model has folded up to ${this.#position}: it is not the same log. Rebuild the read model if this log is the right one.`;
      return { seq: this.#position, message };
    }
    if (first_seq - 1 > this.#position) await this.#apply([], first_seq - 1);
    this.#looked = last_seq;
    return undefined;
  }

  /** Folds what is there and what comes. Ends when it has to resume, or at a fact that cannot be folded. */
  async #read(): Promise<Halt | undefined> {
    const { log, batch, projection } = this.#options;
    const looked = this.#looked;
    this.#round = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, this.#round.signal]);
    let halt: Halt | undefined;
    let failure: { error: unknown } | undefined;
    // the next batch is decoded while the store still writes the one before
    let writing = Promise.resolve();
    const write = async ({ facts, upTo, bad }: Decoded, pending: number) => {
      try {
        halt = (await this.#apply(facts, upTo)) ?? bad;
        if (pending < batch) this.#sawEnd = true;
        this.#options.store();
        this.#failures = 0;
      } catch (error) {
        failure = { error };
      }
      if (halt || failure) this.#round.abort();
      this.#options.changed();
    };
    for await (const entries of log.follow(this.stream, { after: this.#position, batch, signal })) {
      const decoded = await this.#decode(entries);
      await writing;
      if (halt || failure) break;
      this.#setState('folding');
      if (entries.length === 0) this.#looked = Math.max(this.#position, looked);
      writing = write(decoded, entries.at(-1)?.pending ?? 0);
    }
    await writing;
    if (failure) throw failure.error;
    return halt;
  }

  async #decode(entries: Entry[]): Promise<Decoded> {
    const facts: Recorded[] = [];
    let upTo = this.#position;
    let sliceEnds = performance.now() + decodeSliceMs;
    for (const entry of entries) {
      try {
        facts.push(decodeFact(this.stream, entry.data, entry));
      } catch (error) {
        return { facts, upTo, bad: { seq: entry.seq, message: messageOf(error) } };
      }
      upTo = entry.seq;
      if (performance.now() > sliceEnds) {
        await breathe();
        sliceEnds = performance.now() + decodeSliceMs;
      }
    }
    return { facts, upTo };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
