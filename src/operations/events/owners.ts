import type { Logger } from 'pino';
import { atMost } from '../../../streams/core/clock.js';
import { boundedCache, type Log, Refusal, Unavailable } from '../../../streams/core/index.js';
import { eventToken, type MarketEvent } from '../../../streams/events/index.js';
import { ownerSubject, producers } from '../../../streams/producers/index.js';
import { lookBack, tasksOf } from './earlier-owners.js';

/** Owners that are remembered at most; for the others the log is asked again. */
const mostRemembered = 10_000;
/** How long an event waits for the owners of the tasks so far, in milliseconds. */
const patienceMs = 5_000;

/** Producers with such a name send tests. */
const testName = /^test(?:-|$)/;

/**
 * Which producer owns which task, if producers have names: the first one that mentioned a task owns it. Tests own
 * nothing.
 */
export class Owners {
  readonly #log: Log;
  readonly #names: ReadonlySet<string>;
  /** Whether there is more than one producer whose events are no tests. */
  readonly #areSeveral: boolean;
  readonly #known = boundedCache<string, string>(mostRemembered);
  readonly #stop = new AbortController();
  readonly #logger: Logger;
  /** Resolves with whether the owners of the tasks so far are known. */
  #lookedBack: Promise<boolean> | undefined;
  #hasLookedBack = false;

  constructor({ log, logger, names }: { log: Log; logger: Logger; names: ReadonlySet<string> }) {
    this.#log = log;
    this.#logger = logger;
    this.#names = names;
    this.#areSeveral = [...names].some((name) => !testName.test(name));
  }

  /** Looks for the owners of the tasks of before there were names. Events wait for that. */
  start(): void {
    if (this.#areSeveral) void this.#lookBack();
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('Stopping'));
    await this.#lookedBack;
  }

  /** Whether events of a source are tests. */
  sendsTests(source: string): boolean {
    return this.#names.has(source) && testName.test(source);
  }

  /** The producer of a source; empty for the one whose secret has no name. */
  producerOf(source: string): string {
    return this.#names.has(source) ? source : '';
  }

  /**
   * Makes the producer of an event the owner of its subject, unless the event `isStored` already. Throws 403 if another
   * producer owns it.
   */
  async claim(event: MarketEvent, isStored: () => Promise<boolean>): Promise<void> {
    if (!this.#mayOwn(event.source)) return;
    await this.#requireLookedBack();
    const producer = this.producerOf(event.source);
    const free: string[] = [];
    for (const task of tasksOf(event)) if (!(await this.#isOwnedBy(task, producer))) free.push(task);
    // an event that is refused as known makes nobody an owner
    if (free.length === 0 || (await isStored())) return;
    for (const task of free)
      if (!(await this.#own(task, event.source))) await this.#isOwnedBy(task, producer);
  }

  /** Throws what `claim` would, without making anybody an owner. */
  async check(event: MarketEvent): Promise<void> {
    if (!this.#mayOwn(event.source)) return;
    await this.#requireLookedBack();
    for (const task of tasksOf(event)) await this.#isOwnedBy(task, this.producerOf(event.source));
  }

  #mayOwn(source: string): boolean {
    return this.#areSeveral && !this.sendsTests(source);
  }

  /** Whether this producer owns a task; false if nobody does. Throws 403 if another one does. */
  async #isOwnedBy(task: string, producer: string): Promise<boolean> {
    const owner = this.#known.get(task) ?? (await this.#ownerOf(task));
    if (owner === undefined) return false;
    this.#known.set(task, owner);
    if (owner !== producer) throw new Refusal('task_not_yours');
    return true;
  }

  async #ownerOf(task: string): Promise<string | undefined> {
    const fact = await this.#log.last(producers, subjectOf(task));
    return fact?.type === 'task.owned' ? fact.data.source : undefined;
  }

  /** Makes the producer of a source the owner of a task. False if somebody owns it. */
  async #own(task: string, source: string): Promise<boolean> {
    const producer = this.producerOf(source);
    const fact = { type: 'task.owned' as const, data: { task, source: producer } };
    const owned = await this.#log.appendOnce(producers, subjectOf(task), fact, { by: source });
    if (owned) this.#known.set(task, producer);
    return owned !== undefined;
  }

  async #requireLookedBack(): Promise<void> {
    if (this.#hasLookedBack) return;
    if (await atMost(this.#lookBack(), patienceMs)) return;
    throw new Unavailable('log_unavailable', 'The owners of the tasks so far are being looked for', 5);
  }

  #lookBack(): Promise<boolean> {
    this.#lookedBack ??= lookBack({
      log: this.#log,
      logger: this.#logger,
      signal: this.#stop.signal,
      own: (task, source) => this.#own(task, source),
      sendsTests: (source) => this.sendsTests(source),
    }).then(
      () => {
        this.#hasLookedBack = true;
        return true;
      },
      (error: unknown) => {
        // the next event tries again
        this.#lookedBack = undefined;
        if (!this.#stop.signal.aborted)
          this.#logger.warn({ err: error }, 'owners of the tasks so far are not known yet');
        return false;
      },
    );
    return this.#lookedBack;
  }
}

const subjectOf = (task: string) => ownerSubject(eventToken(task));
