import type { Logger } from 'pino';
import { clock } from '../../streams/core/clock.js';
import type { Log } from '../../streams/core/index.js';
import { webhookSubject, webhooks } from '../../streams/webhooks/index.js';
import type { Agent } from './agent.js';

/** Which agents have a webhook that is on. Where that cannot be told they count as having one: a later look tells. */
export class OwnWebhooks {
  readonly #log: Log;
  readonly #logger: Logger;
  readonly #trueForMs: number;
  readonly #found = new WeakMap<Agent, { has: boolean; at: number }>();

  /** What was found of an agent counts for so many milliseconds. */
  constructor(log: Log, logger: Logger, trueForMs: number) {
    this.#log = log;
    this.#logger = logger;
    this.#trueForMs = trueForMs;
  }

  async has(agent: Agent): Promise<boolean> {
    const known = this.#found.get(agent);
    if (known && clock.elapsed() - known.at < this.#trueForMs) return known.has;
    const has = await this.#look(agent);
    this.#found.set(agent, { has, at: clock.elapsed() });
    return has;
  }

  async #look({ nick, person }: Agent): Promise<boolean> {
    try {
      const { data } = (await this.#log.last(webhooks, webhookSubject(nick))) ?? {};
      return data?.is === 'on' && (data.person === null || data.person === person);
    } catch (err) {
      this.#logger.warn({ nick, err }, 'whether an agent has a webhook is looked up later');
      return true;
    }
  }
}
