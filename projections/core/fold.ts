import { clock, pause, turn } from '../../streams/core/clock.js';
import {
  backoff,
  decodeFact,
  type Entry,
  type Log,
  type Recorded,
  type StreamDefinition,
} from '../../streams/core/index.js';
import { operations, projectionSubject } from '../../streams/operations/facts.js';
import { Batching, type BatchingOptions } from './batching.js';
import type { Halt } from './builds.js';
import { Cursor, type CursorOptions, messageOf, storeWentBack } from './cursor.js';
import type { Prepared } from './prepared.js';

/** What a fold works with. */
export interface FoldOptions extends CursorOptions, BatchingOptions {
  log: Log;
  /** Milliseconds between two looks for a command to skip the fact that halted it. */
  skipPollMs: number;
  /** Called when the position moved, the end was seen or the state changed. */
  changed(): void;
  /** Told whether the read store answers, each time this is known again. */
  store(error?: unknown): void;
}

/** Where a decoded batch ends, and the fact that could not be decoded, if there is one. */
interface Decoded {
  facts: Recorded[];
  upTo: number;
  bad?: Halt;
}

/** Decoding runs in slices that block the process no longer than this, in milliseconds. */
const decodeSliceMs = 2;
const pauses = { first: 100, longest: 5_000 };
/** Folds one stream into one build, from where the build is, for ever. */
export class Fold {
  readonly stream: StreamDefinition;
  readonly #options: FoldOptions;
  readonly #cursor: Cursor;
  readonly #batching: Batching;
  readonly #stop = new AbortController();
  #round = new AbortController();
  #running: Promise<void> | undefined;
  #state: 'folding' | 'waiting' | 'halted' = 'waiting';
  #halt: Halt | undefined;
  #sawEnd = false;
  #isReading = false;
  #readAt = 0;
  #failures = 0;
  /** When it last showed a sign of life, and the head of the stream that it has certainly read up to. */
  #alive = clock.now();
  #looked = 0;
  #headAtStart = 0;

  constructor(options: FoldOptions) {
    this.#options = options;
    this.stream = options.stream;
    this.#cursor = new Cursor(options);
    this.#batching = new Batching(options);
  }

  /** Sequence up to which the stream is folded, as far as this process knows. */
  get position(): number {
    return this.#cursor.position;
  }

  /**
   * Whether the store certainly holds everything up to the position: after a lost connection it must be
   * asked.
   */
  get isCertain(): boolean {
    return this.#cursor.isCertain;
  }

  /** `waiting`: the read store or the log does not answer. */
  get state(): 'folding' | 'waiting' | 'halted' {
    return this.#state;
  }

  get halt(): Halt | undefined {
    return this.#halt;
  }

  /** Whether it has ever been within one batch of the stream's end. */
  get sawEnd(): boolean {
    return this.#sawEnd;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Folds what has gathered without waiting for more: somebody waits for it. */
  hurry(): void {
    this.#batching.hurry();
  }

  /** Finishes the batch in hand and ends. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /**
   * Reads the stream again when its head has moved and the position has not, for `stallMs` milliseconds: a
   * reader can be lost silently.
   */
  watch(head: number, stallMs: number): void {
    const isBehind = this.#isReading && head > Math.max(this.position, this.#looked);
    if (!isBehind) this.#alive = clock.now();
    else if (clock.now() - this.#alive > stallMs) {
      this.#alive = clock.now();
      this.#options.logger.warn({ ...this.#about(), head }, 'read model does not move, reading again');
      this.#round.abort();
    }
  }

  /** The store was seen at the position or after it, at this count of losses. */
  confirm(losses: number): void {
    this.#cursor.confirm(losses);
  }

  /** Begins again from the store's position: the store has less than this fold believes. */
  goBack(): void {
    if (!this.#isReading || this.#round.signal.aborted) return;
    this.#options.logger.info(this.#about(), 'read store has gone back, folding again from there');
    this.#round.abort();
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

  /** Loads the position from the store, and passes over facts that the stream no longer has. */
  async #resume(): Promise<Halt | undefined> {
    const { log } = this.#options;
    const halt = await this.#cursor.load();
    if (halt) return halt;
    const info = await log.ask(() => log.manager.streams.info(this.stream.name));
    const { first_seq, last_seq } = info.state;
    const { position } = this.#cursor;
    if (last_seq < position) {
      const message = `The stream ends at ${last_seq}, the read model has folded up to ${position}: it is not the same log. If this log is the right one, rebuild the read model.`;
      return { seq: position, message };
    }
    await this.#cursor.passOver(first_seq - 1);
    this.#headAtStart = last_seq;
    this.#batching.isFarBehind = last_seq - this.position > this.#options.batch;
    return undefined;
  }

  /**
   * Folds the facts that are there and those that come. Ends when it has to resume, or at a fact that cannot
   * be folded.
   */
  async #read(): Promise<Halt | undefined> {
    const { log, batch } = this.#options;
    this.#round = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, this.#round.signal]);
    let halt: Halt | undefined;
    let failure: { error: unknown } | undefined;
    // the next batch is decoded and begun while the store still writes the one before
    let writing = Promise.resolve();
    const write = async ({ facts, upTo, bad }: Decoded, prepared: Prepared | undefined, pending: number) => {
      try {
        halt = (await this.#cursor.apply(facts, upTo, prepared)) ?? bad;
        this.#alive = clock.now();
        if (!halt && pending < batch) this.#sawEnd = true;
        this.#options.store();
        this.#failures = 0;
      } catch (error) {
        failure = { error };
      }
      if (halt || failure) this.#round.abort();
      this.#options.changed();
    };
    const capacity = () => this.#batching.capacity;
    this.#isReading = true;
    for await (const entries of this.#batching.batches(
      log.follow(this.stream, { after: this.position, batch, capacity, signal }),
    )) {
      const began = clock.elapsed();
      const decoded = await this.#decode(entries);
      const prepared = this.#cursor.prepare(decoded.facts);
      await writing;
      if (halt || failure) break;
      this.#setState('folding');
      if (entries.length === 0) this.#looked = Math.max(this.position, this.#headAtStart);
      const pending = entries.at(-1)?.pending ?? 0;
      writing = write(decoded, prepared, pending);
      if (this.#batching.givesWay) {
        await writing;
        await pause(clock.elapsed() - began, signal);
      } else if (entries.length > 0 && pending < batch) {
        const perMs = entries.length / (began - this.#readAt);
        await this.#batching.gather(perMs, signal);
      }
      if (entries.length > 0) this.#readAt = began;
    }
    await writing;
    this.#isReading = false;
    if (failure) throw failure.error;
    return halt;
  }

  async #decode(entries: Entry[]): Promise<Decoded> {
    const facts: Recorded[] = [];
    let upTo = this.position;
    let sliceEnds = clock.elapsed() + decodeSliceMs;
    for (const entry of entries) {
      try {
        facts.push(decodeFact(this.stream, entry.data, entry));
      } catch (error) {
        return { facts, upTo, bad: { seq: entry.seq, message: messageOf(error) } };
      }
      upTo = entry.seq;
      if (clock.elapsed() > sliceEnds) {
        await turn();
        sliceEnds = clock.elapsed() + decodeSliceMs;
      }
    }
    return { facts, upTo };
  }

  /** Waits at a fact until an operator's recorded command skips it, here or in another process. */
  async #waitForSkip(halt: Halt): Promise<void> {
    const { log, skipPollMs, projection, logger } = this.#options;
    const about = { ...this.#about(), seq: halt.seq };
    const subject = projectionSubject(projection.name);
    let next = 1;
    while (!this.#stop.signal.aborted) {
      try {
        for await (const { seq, type, data } of log.subject(operations, subject, next)) {
          next = seq + 1;
          if (type !== 'fact.skipped' || data.version !== projection.version) continue;
          if (data.stream !== this.stream.name || data.seq !== halt.seq) continue;
          await this.#cursor.passOver(halt.seq);
          logger.warn({ ...about, reason: data.reason }, 'read model skips a fact, as an operator decided');
          return;
        }
        if (halt.seq > this.position && (await this.#cursor.hasMoved())) return;
        if (!isSame(halt, this.#halt)) await this.#cursor.recordHalt(halt);
      } catch (error) {
        logger.debug({ ...about, err: error }, 'cannot look for a command to skip the fact');
      }
      if (!isSame(halt, this.#halt)) logger.error({ ...about, reason: halt.message }, 'read model halted');
      this.#halt = halt;
      this.#setState('halted');
      await this.#sleep(skipPollMs);
      if (halt.seq <= this.position) return; // no fact is to blame: the cause may have been fixed
    }
  }

  async #pause(error: unknown): Promise<void> {
    const { logger, store } = this.#options;
    const { code } = error as { code?: unknown };
    if (code === storeWentBack) {
      logger.info(this.#about(), 'read store has gone back, folding again from there');
      return;
    }
    this.#setState('waiting');
    if (code === 'store_unavailable') store(error);
    else if (this.#failures === 0) logger.warn({ ...this.#about(), err: error }, 'read model has to wait');
    this.#failures += 1;
    await this.#sleep(backoff(this.#failures, pauses));
  }

  #about(): { projection: string; stream: string; position: number } {
    return { projection: this.#options.build.schema, stream: this.stream.name, position: this.position };
  }

  #setState(state: 'folding' | 'waiting' | 'halted'): void {
    if (state === this.#state) return;
    if (state === 'folding') this.#halt = undefined;
    this.#state = state;
    this.#options.changed();
  }

  async #sleep(ms: number): Promise<void> {
    await pause(ms, this.#stop.signal);
  }
}

function isSame(a: Halt, b: Halt | undefined): boolean {
  return a.seq === b?.seq && a.message === b.message;
}
