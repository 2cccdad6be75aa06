import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { decodeFact, type Log, type PulledMessage } from '../../../streams/core/index.js';
import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import {
  type IdentityFact,
  identity,
  pushSubject,
  registrySubject,
} from '../../../streams/identity/index.js';
import { InOrderConsumer, type Takeover } from '../../core/in-order.js';
import { type Change, changeOf } from './change.js';
import { type Posted, post, type Receiver } from './post.js';

/** What the worker works with; times in milliseconds. */
export interface PushIdentityOptions {
  log: Log;
  receiver: Receiver;
  /** This service's own name as a source of events. */
  source: string;
  /** How long a change is tried, by its age; a day by default. */
  giveUpMs?: number;
  /** Pauses between tries, doubled from the first to the longest; one second and ten minutes by default. */
  pausesMs?: { first: number; longest: number };
  logger: Logger;
}

const dayMs = 24 * 3_600_000;
const usualPauses = { first: 1_000, longest: 600_000 };
const maxInHand = 2_000;
/** Requests under way at most. */
const maxRequests = 8;
const stopBoundMs = 3_000;
const actor = 'push-identity';

/**
 * Tells one receiver of changes of links. Changes of one nick are told in their order, each one until it is taken,
 * refused for good, or a day old; what came of it is recorded. A change may be told twice, after a crash between the two:
 * its `event_id` stays the same.
 */
export class PushIdentity {
  readonly #options: PushIdentityOptions;
  readonly #stop = new AbortController();
  readonly #changes: InOrderConsumer;
  readonly #locks = new KeyedLock();
  readonly #inHand = new Map<number, Promise<void>>();
  /** Recorded as done, and perhaps handed out again. */
  #settled = new Set<number>();
  readonly #turns: (() => void)[] = [];
  #requests = 0;

  constructor(options: PushIdentityOptions) {
    const { log, logger } = options;
    this.#options = options;
    setMaxListeners(0, this.#stop.signal);
    this.#changes = new InOrderConsumer({
      log,
      logger,
      stream: identity,
      durable: actor,
      filter: registrySubject,
      capacity: () => maxInHand - this.#inHand.size,
      takeOver: (place) => this.#recall(place),
      message: (message) => this.#receive(message),
    });
  }

  start(): void {
    this.#changes.start();
  }

  /** Takes no more changes and lets requests under way come to their end. Bounded. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const idle = Promise.all([this.#changes.stop(), ...this.#inHand.values()]);
    await Promise.race([idle, sleep(stopBoundMs, undefined, { ref: false })]);
  }

  /** Learns what was told already of what will be handed out again. */
  async #recall({ from, signal }: Takeover): Promise<void> {
    this.#settled = new Set();
    const options = { after: from - 1, filter: [pushSubject], batch: 1_000, signal };
    for await (const entries of this.#options.log.follow(identity, options)) {
      if (entries.length === 0) return;
      for (const entry of entries) {
        const { type, data } = decodeFact(identity, entry.data, entry);
        if (type === 'push.delivered' || type === 'push.given_up') this.#settled.add(data.seq);
      }
    }
  }

  #receive(message: PulledMessage): void {
    const { seq } = message;
    if (this.#inHand.has(seq)) return;
    const change = this.#settled.delete(seq) ? undefined : this.#read(message);
    if (!change) {
      this.#changes.done(seq);
      return;
    }
    const work = this.#locks.run(change.nick, () => this.#tell(change));
    this.#inHand.set(seq, work);
  }

  /** What is to be told of a fact; of one that cannot be read nothing is, and whoever folds it says so. */
  #read(message: PulledMessage): Change | undefined {
    try {
      return changeOf(decodeFact(identity, message.data, message), this.#options.source);
    } catch {
      return undefined;
    }
  }

  async #tell(change: Change): Promise<void> {
    const { log, logger, giveUpMs = dayMs, pausesMs = usualPauses } = this.#options;
    const { signal } = this.#stop;
    const { seq, nick, eventType: event_type } = change;
    let outcome: Posted = { is: 'failed', reason: 'too old', afterMs: 0 };
    let attempts = 0;
    for (let pauseMs = pausesMs.first; !signal.aborted; pauseMs = Math.min(pauseMs * 2, pausesMs.longest)) {
      if (log.now().getTime() - change.at.getTime() > giveUpMs) break;
      attempts += 1;
      outcome = await this.#inTurn(() => post(this.#options.receiver, change));
      if (outcome.is !== 'failed') break;
      const waitMs = Math.max(outcome.afterMs, pauseMs * (0.5 + Math.random()));
      logger.info(
        { seq, event_type, attempts, error: outcome.reason, waitMs },
        'identity change is told again',
      );
      await sleep(waitMs, undefined, { signal }).catch(() => {});
    }
    // whoever takes over is handed it again
    if (signal.aborted && outcome.is === 'failed') return;
    const told = { seq, nick, event_type, attempts };
    await this.#record(
      outcome.is === 'taken'
        ? { type: 'push.delivered', data: told }
        : { type: 'push.given_up', data: { ...told, reason: outcome.reason } },
    );
    if (outcome.is !== 'taken') logger.error({ ...told, error: outcome.reason }, 'identity change given up');
    this.#inHand.delete(seq);
    this.#changes.done(seq);
    this.#changes.refill();
  }

  /** Records what came of a change; while the log is away the next change of the nick waits. */
  async #record(fact: IdentityFact): Promise<void> {
    const { log, logger, pausesMs = usualPauses } = this.#options;
    const { signal } = this.#stop;
    for (let pauseMs = pausesMs.first; ; pauseMs = Math.min(pauseMs * 2, pausesMs.longest)) {
      try {
        await log.append(identity, pushSubject, fact, { by: actor });
        return;
      } catch (error) {
        if (signal.aborted) return;
        logger.warn({ err: error }, 'outcome of an identity change not recorded yet');
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    while (this.#requests >= maxRequests) await new Promise<void>((resolve) => this.#turns.push(resolve));
    this.#requests += 1;
    try {
      return await work();
    } finally {
      this.#requests -= 1;
      this.#turns.shift()?.();
    }
  }
}
