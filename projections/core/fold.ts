import { clock, pause } from '../../streams/core/clock.js';
import { backoff, type StreamDefinition } from '../../streams/core/index.js';
import { operations, projectionSubject } from '../../streams/operations/facts.js';
import type { Halt } from './builds.js';
import type { CaughtUp, Elsewhere } from './catch-up.js';
import { Cursor, storeWentBack } from './cursor.js';
import { Reading, type ReadingOptions } from './reading.js';

/** What a fold works with. */
export interface FoldOptions extends ReadingOptions {
  /** Folds what lags far, outside of this thread; without it all is folded here. */
  elsewhere?: Elsewhere | undefined;
  /** Milliseconds between two looks for a command to skip the fact that halted it. */
  skipPollMs: number;
  /** Called when the position moved, the end was seen or the state changed. */
  changed(): void;
  /** Told whether the read store answers, each time this is known again. */
  store(error?: unknown): void;
}

const pauses = { first: 100, longest: 5_000 };

/** Folds one stream into one build, from where the build is, for ever. */
export class Fold {
  readonly stream: StreamDefinition;
  readonly #options: FoldOptions;
  readonly #cursor: Cursor;
  readonly #reading: Reading;
  readonly #stop = new AbortController();
  #round = new AbortController();
  #running: Promise<void> | undefined;
  #state: 'folding' | 'waiting' | 'halted' = 'waiting';
  #halt: Halt | undefined;
  #sawEnd = false;
  /** Where it is read now, if it is. */
  #reader: 'here' | 'elsewhere' | undefined;
  #failures = 0;
  /** When it last showed a sign of life, and the head of the stream that it has certainly read up to. */
  #alive = clock.elapsed();
  #looked = 0;

  constructor(options: FoldOptions) {
    this.#options = options;
    this.stream = options.stream;
    this.#cursor = new Cursor(options);
    this.#reading = new Reading(options, this.#cursor, {
      came: (facts) => {
        this.#setState('folding');
        if (facts === 0) this.#looked = Math.max(this.position, this.#reading.headAtStart);
      },
      written: (pending) => {
        this.#alive = clock.elapsed();
        if (pending !== undefined && pending < options.batch) this.#sawEnd = true;
        options.store();
        this.#failures = 0;
      },
      tried: () => options.changed(),
    });
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
    return this.#reader !== 'elsewhere' && this.#cursor.isCertain;
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
    this.#reading.hurry();
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
    const isBehind = this.#reader && head > Math.max(this.position, this.#looked);
    if (!isBehind) this.#alive = clock.elapsed();
    else if (clock.elapsed() - this.#alive > stallMs) {
      this.#alive = clock.elapsed();
      this.#options.logger.warn({ ...this.#about(), head }, 'read model does not move, reading again');
      this.#round.abort();
    }
  }

  /** The store was seen at the position or after it, at this count of losses. */
  confirm(losses: number): void {
    if (this.#reader !== 'elsewhere') this.#cursor.confirm(losses);
  }

  /**
   * Begins again from the store's position: the store has less than this fold believes. Another process that folds finds
   * that out with the next batch.
   */
  goBack(): void {
    if (this.#reader !== 'here' || this.#round.signal.aborted) return;
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

  /** Loads the position from the store, and has folded elsewhere what lags far. */
  async #resume(): Promise<Halt | undefined> {
    const { elsewhere } = this.#options;
    for (let isFoldedHere = !elsewhere; ; ) {
      const halt = await this.#reading.resume();
      const lag = this.#reading.headAtStart - this.position;
      if (halt || isFoldedHere || lag < this.#far(elsewhere!) || this.#stop.signal.aborted) return halt;
      isFoldedHere = (await this.#readElsewhere(elsewhere!)) !== 'near';
    }
  }

  #far({ far }: Elsewhere): number {
    return this.#sawEnd || this.#options.build.caughtUpAt ? far.read : far.building;
  }

  async #readElsewhere(elsewhere: Elsewhere): Promise<CaughtUp> {
    const { projection, build } = this.#options;
    const what = { projection: projection.name, generation: build.generation, stream: this.stream.name };
    this.#alive = clock.elapsed();
    const facts = this.#reading.headAtStart - this.position;
    this.#options.logger.info({ ...this.#about(), facts }, 'read model lags far, another thread folds it');
    return await this.#readIn('elsewhere', (signal) =>
      elsewhere.catchUp(what, {
        signal,
        moved: (position) => {
          this.#alive = clock.elapsed();
          this.#cursor.moved(position);
          this.#failures = 0;
          this.#setState('folding');
          this.#options.changed();
        },
      }),
    );
  }

  /**
   * Folds the facts that are there and those that come. Ends when it has to resume, or at a fact that cannot
   * be folded.
   */
  async #read(): Promise<Halt | undefined> {
    return await this.#readIn('here', (signal) => this.#reading.read(signal));
  }

  async #readIn<T>(place: 'here' | 'elsewhere', read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#round = new AbortController();
    this.#reader = place;
    try {
      return await read(AbortSignal.any([this.#stop.signal, this.#round.signal]));
    } finally {
      this.#reader = undefined;
    }
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
