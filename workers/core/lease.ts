import { type KV, type KvEntry, NatsError, StorageType } from 'nats';
import type { Logger } from 'pino';
import { clock } from '../../streams/core/clock.js';
import { type Log, pause } from '../../streams/core/index.js';

/** Something that runs while a lease is held. */
export interface Holding {
  start?(): void;
  stop(): Promise<void>;
}

/** The time in which a lease is held. */
export interface Term {
  /**
   * Whether nobody else can have the lease now. `false` once it was not renewed in time: the holder goes on, because a
   * log that is away gives it to nobody, but it should take nothing from somebody else. `false` too when it is lost.
   */
  isSure(): boolean;
}

/** The lease to hold, its holder, and what to do with it. */
export interface LeaseOptions {
  log: Log;
  /** What only one process should do at a time, e.g. hold a bot's connection. */
  name: string;
  /**
   * Identity of this holder. If it returns with the same identity after a crash, it takes its lease up at
   * once.
   */
  holder: string;
  /** Called with each new term; its result is started, and stopped when the term ends. */
  begin(term: Term): Holding;
  /** What other processes may know of the holder's state, written with each renewal. Plain JSON. */
  state?(): unknown;
  logger: Logger;
  replicas: number;
}

/** What a lease holds. */
export interface LeaseValue {
  holder: string;
  state: unknown;
}

/** Without renewal a lease ends after this time, in milliseconds. */
const termMs = 6_000;
const renewMs = 1_500;
const tryMs = 1_000;
/** After a term that could not begin: long enough for a standby to take the lease. */
const failedMs = 3 * tryMs;
/** What the log says of another holder is reused for this time, in milliseconds: many may ask. */
const tellMs = 200;
const bucketName = 'relay_leases';
/** The log server's code where somebody else has written first. */
const wrongLastSequence = 10071;
const description = 'Which process has each bot and each worker now.';

/** The present holder of a lease, whichever process it is; `undefined` without one. Only reads. */
export async function leaseHolder(log: Log, name: string): Promise<LeaseValue | undefined> {
  const query = { last_by_subj: `$KV.${bucketName}.${name}` };
  try {
    const message = await log.ask(() => log.manager.streams.getMessage(`KV_${bucketName}`, query));
    return message.header.has('KV-Operation') ? undefined : message.json<LeaseValue>();
  } catch (error) {
    if ((error as { code?: unknown }).code === '404') return undefined; // given back, run out, or never taken
    throw error;
  }
}

/** All leases that somebody has now, by name, with their holders. Only reads. */
export async function heldLeases(log: Log): Promise<{ name: string; holder: string }[]> {
  const all = await log
    .ask(() => log.manager.streams.info(`KV_${bucketName}`, { subjects_filter: '>' }))
    .catch((error: unknown) => {
      if ((error as { code?: unknown }).code === '404') return undefined; // none was ever taken
      throw error;
    });
  const names = Object.keys(all?.state.subjects ?? {}).map((subject) =>
    subject.slice(`$KV.${bucketName}.`.length),
  );
  const held = await Promise.all(
    names.map(async (name) => ({ name, holder: (await leaseHolder(log, name))?.holder })),
  );
  return held.flatMap(({ name, holder }) => (holder === undefined ? [] : { name, holder }));
}

/**
 * Makes sure that usually one process does a thing: the holder of the lease, or a standby when the lease
 * ends. This saves work and avoids fights between two holders on the network. It does not guarantee that
 * nothing is done twice: other parts do that.
 */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #stop = new AbortController();
  #holding: Holding | undefined;
  #running: Promise<void> | undefined;
  #elsewhere: { state: Promise<unknown>; until: number } | undefined;
  /** When the last renewal that was answered was sent, on the clock of `clock.elapsed()`. */
  #renewedAt = 0;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** The state of the present holder, whichever process it is; `undefined` without one. */
  async holderState(): Promise<unknown> {
    if (this.#holding) return this.#options.state?.();
    const now = clock.elapsed();
    if (!this.#elsewhere || this.#elsewhere.until < now) {
      this.#elsewhere = { state: this.#stateElsewhere(), until: now + tellMs };
      this.#elsewhere.state.catch(() => (this.#elsewhere = undefined));
    }
    return await this.#elsewhere.state;
  }

  async #stateElsewhere(): Promise<unknown> {
    const { log, name } = this.#options;
    return log.connected ? (await leaseHolder(log, name))?.state : undefined;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the term and gives the lease back, so that a standby need not wait for it to expire. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { log, name, holder, logger } = this.#options;
    // a standby asks each second: the bucket is reused until it fails
    let known: KV | undefined;
    while (!this.#stop.signal.aborted) {
      let given: { bucket: KV; revision: number } | undefined;
      try {
        known ??= await log.ask(() => this.#bucket());
        const bucket = known;
        const revision = await log.ask(() => this.#dated(() => this.#acquire(bucket)));
        if (revision === undefined) {
          await pause(tryMs, this.#stop.signal);
          continue;
        }
        given = { bucket, revision };
        logger.info({ lease: name, holder }, 'lease taken');
        let isLost = false;
        this.#holding = this.#options.begin({
          isSure: () => !isLost && clock.elapsed() - this.#renewedAt < termMs,
        });
        this.#holding.start?.();
        const last = await this.#renew(bucket, revision);
        isLost = last === undefined;
        given = last === undefined ? undefined : { bucket, revision: last };
        await this.#end();
        await this.#giveBack(given);
      } catch (error) {
        known = undefined;
        logger.warn({ lease: name, err: error }, 'lease cannot be had now');
        await this.#end().catch((cause) =>
          logger.error({ lease: name, err: cause }, 'a term did not end well'),
        );
        // a term that cannot begin here may begin elsewhere
        await this.#giveBack(given);
        await pause(given ? failedMs : tryMs, this.#stop.signal);
      }
    }
  }

  async #giveBack(given: { bucket: KV; revision: number } | undefined): Promise<void> {
    const { log, name } = this.#options;
    if (given && log.connected)
      await given.bucket.delete(name, { previousSeq: given.revision }).catch(() => {});
  }

  async #bucket(): Promise<KV> {
    const { log, replicas } = this.#options;
    return await log.connection
      .jetstream()
      .views.kv(bucketName, { description, ttl: termMs, storage: StorageType.File, history: 1, replicas });
  }

  async #acquire(bucket: KV): Promise<number | undefined> {
    const { name } = this.#options;
    const current = await bucket.get(name);
    if (current?.operation === 'PUT') {
      return this.#isOurs(current) ? await bucket.update(name, this.#value(), current.revision) : undefined;
    }
    try {
      return await bucket.create(name, this.#value());
    } catch (error) {
      // any other error says nothing about who has it
      if (error instanceof NatsError && error.api_error?.err_code === wrongLastSequence) return undefined;
      throw error;
    }
  }

  /** Renews from the last revision, until the stop or until the lease is somebody else's. */
  async #renew(bucket: KV, revision: number): Promise<number | undefined> {
    const { log, name, logger } = this.#options;
    let last = revision;
    while (!this.#stop.signal.aborted) {
      await pause(renewMs, this.#stop.signal);
      if (this.#stop.signal.aborted) break;
      try {
        const renewed = await log.ask(() =>
          this.#dated(() => bucket.update(name, this.#value(), last))
            // renewed without an answer, or expired while the log was away: ours as long as nobody took it
            .catch(() => this.#dated(() => this.#acquire(bucket))),
        );
        if (renewed === undefined) {
          logger.warn({ lease: name }, 'lease lost to another process');
          return undefined;
        }
        last = renewed;
      } catch (error) {
        // while the log cannot be asked nobody else can take it either
        logger.debug({ lease: name, err: error }, 'lease not renewed yet');
      }
    }
    return last;
  }

  /** The term lasts from when the log got the request, which is after it was sent. */
  async #dated(ask: () => Promise<number | undefined>): Promise<number | undefined> {
    const at = clock.elapsed();
    const revision = await ask();
    if (revision !== undefined) this.#renewedAt = at;
    return revision;
  }

  #value(): string {
    const { holder, state } = this.#options;
    return JSON.stringify({ holder, state: state?.() ?? null } satisfies LeaseValue);
  }

  #isOurs(entry: KvEntry): boolean {
    return entry.json<LeaseValue>().holder === this.#options.holder;
  }

  async #end(): Promise<void> {
    const holding = this.#holding;
    this.#holding = undefined;
    await holding?.stop();
  }
}
