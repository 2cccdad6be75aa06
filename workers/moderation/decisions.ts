import type { LRUCache } from 'lru-cache';
import { untoldDecisions } from '../../projections/moderation/running.js';
import { boundedCache, isExpected, type Position } from '../../streams/core/index.js';
import { moderation, personDecider, personOf } from '../../streams/moderation/index.js';
import { type GuardOptions, guard, type Seen } from './options.js';
import { decisionFor } from './words.js';

type Untold = Awaited<ReturnType<typeof untoldDecisions>>[number];

const atOnce = 200;
/** People who are seen during one look. */
const mostSeen = 10_000;

/**
 * Tells people what operators have decided about their incidents: at once if they are found, else as soon as
 * they are seen again.
 */
export class Decisions {
  readonly #options: GuardOptions;
  /** People who were not found, and what to tell them, by the id of the incident. */
  #awaited = new Map<string, Map<number, Untold>>();
  readonly #tried = new Set<number>();
  /** People who were seen during a look, as they were seen last. */
  #seenMeanwhile: LRUCache<string, Seen> | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Tells people what was decided since the last time. Those who are not found are awaited. */
  async look(after: Position | undefined): Promise<void> {
    const seenMeanwhile = boundedCache<string, Seen>(mostSeen);
    this.#seenMeanwhile = seenMeanwhile;
    try {
      this.#awaited = await this.#look(after);
    } finally {
      this.#seenMeanwhile = undefined;
    }
    // somebody may have come after it was tried to tell them, and before they were awaited
    for (const seen of seenMeanwhile.values()) await this.appeared(seen);
  }

  async #look(after: Position | undefined): Promise<Map<string, Map<number, Untold>>> {
    const { log, read } = this.#options;
    const untold = await read((sql, schema) => untoldDecisions(sql, schema, log.now(), atOnce), after);
    const awaited = new Map<string, Map<number, Untold>>();
    for (const one of untold) {
      const isNew = !this.#tried.has(one.id);
      const { nick, host, account } = one;
      const seen = { nick, host: host ?? undefined, account: account ?? undefined };
      const telling = isNew ? await this.#tell(one, seen) : 'absent';
      if (telling === 'told') continue;
      if (telling === 'absent') this.#tried.add(one.id);
      // who is identified is found by that, also where others answer for it with them
      const person = account === null ? one.person : personOf({ nick, account });
      const all = awaited.get(person) ?? new Map<number, Untold>();
      awaited.set(person, all.set(one.id, one));
    }
    // what was told is not asked for again, but a new decision is
    const ids = new Set(untold.map(({ id }) => id));
    for (const id of this.#tried) if (!ids.has(id)) this.#tried.delete(id);
    return awaited;
  }

  /** Tells somebody who was seen what they are awaited for. */
  async appeared(seen: Seen): Promise<void> {
    const person = personOf(seen);
    if (this.#seenMeanwhile) {
      this.#seenMeanwhile.set(person, seen);
      return;
    }
    const all = this.#awaited.get(person);
    if (!all) return;
    this.#awaited.delete(person);
    for (const one of all.values())
      if ((await this.#tell(one, seen)) === 'unasked') this.#tried.delete(one.id); // the next look tries again
  }

  /** `unasked`: nobody could tell whether the person is there. */
  async #tell(one: Untold, { nick, host, account }: Seen): Promise<'told' | 'absent' | 'unasked'> {
    const { log, enforce, logger } = this.#options;
    const { id, ref, subject, channel } = one;
    try {
      const text = decisionFor(id, one);
      const came = await enforce({ act: 'notice', channel, nick, host, account, text });
      if (came.is === 'failed') return 'absent';
      await log.handle(moderation, personDecider, { is: 'tell', subject, ref }, { by: guard });
      return 'told';
    } catch (error) {
      const level = isExpected(error) ? 'debug' : 'warn';
      logger[level]({ id, err: error }, 'the person cannot be told of a decision now');
      return 'unasked';
    }
  }
}
