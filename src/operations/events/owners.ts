import { boundedCache, type Log, Refusal } from '../../../streams/core/index.js';
import { eventToken, type MarketEvent, normalisePayload, subjectsOf } from '../../../streams/events/index.js';
import { ownerSubject, producers } from '../../../streams/producers/index.js';

/** Owners that are remembered at most; for the others the log is asked again. */
const mostRemembered = 10_000;

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

  constructor(log: Log, names: ReadonlySet<string>) {
    this.#log = log;
    this.#names = names;
    this.#areSeveral = [...names].some((name) => !testName.test(name));
  }

  /** Whether events of a source are tests. */
  sendsTests(source: string): boolean {
    return this.#names.has(source) && testName.test(source);
  }

  /** The producer of a source; empty for the one whose secret has no name. */
  producerOf(source: string): string {
    return this.#names.has(source) ? source : '';
  }

  /** Makes the producer of an event the owner of its subject. Throws 403 if another producer owns it. */
  async claim({ source, payload }: MarketEvent): Promise<void> {
    if (!this.#mayOwn(source)) return;
    const producer = this.producerOf(source);
    for (const task of subjectsOf(normalisePayload(payload))) {
      const fact = { type: 'task.owned' as const, data: { task, source: producer } };
      const isNew =
        !this.#known.has(task) &&
        (await this.#log.appendOnce(producers, subjectOf(task), fact, { by: source })) !== undefined;
      if (isNew) this.#known.set(task, producer);
      else await this.#require(task, producer);
    }
  }

  /** Throws what `claim` would, without making anybody an owner. */
  async check({ source, payload }: MarketEvent): Promise<void> {
    if (!this.#mayOwn(source)) return;
    for (const task of subjectsOf(normalisePayload(payload)))
      await this.#require(task, this.producerOf(source));
  }

  #mayOwn(source: string): boolean {
    return this.#areSeveral && !this.sendsTests(source);
  }

  async #require(task: string, producer: string): Promise<void> {
    let owner = this.#known.get(task);
    if (owner === undefined) {
      owner = (await this.#log.last(producers, subjectOf(task)))?.data.source;
      if (owner === undefined) return;
      this.#known.set(task, owner);
    }
    if (owner !== producer) throw new Refusal('task_not_yours');
  }
}

const subjectOf = (task: string) => ownerSubject(eventToken(task));
