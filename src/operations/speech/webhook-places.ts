import { Mutex } from 'async-mutex';
import { decodeFact, type Log, Refusal } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { webhookSubject, webhooks } from '../../../streams/webhooks/index.js';

/** Nicks that have a webhook, at most. */
const usualMost = 5_000;
const batch = 500;

/** How many webhooks there may be. One that was removed takes no place. */
export class WebhookPlaces {
  readonly #log: Log;
  readonly #most: number;
  /** Nicks (casefolded) with a webhook, as far as the stream was read. */
  readonly #taken = new Set<string>();
  #readUpTo = 0;
  readonly #reading = new Mutex();

  constructor(log: Log, most = usualMost) {
    this.#log = log;
    this.#most = most;
  }

  /** Throws `too_many_webhooks` where a nick (casefolded) that has no webhook would be one too many. */
  async requireRoom(nick: string): Promise<void> {
    const last = await this.#log.last(webhooks, webhookSubject(nick));
    if (last && last.data.is !== 'removed') return;
    const { state } = await this.#log.ask(() => this.#log.manager.streams.info(webhooks.name));
    // nicks of all times, also of removed ones: they are told apart only where it matters
    if ((state.num_subjects ?? 0) < this.#most) return;
    await this.#reading.runExclusive(() => this.#read());
    if (this.#taken.size >= this.#most) throw new Refusal('too_many_webhooks');
  }

  /** Reads what was recorded since the last time. */
  async #read(): Promise<void> {
    const { signal } = new AbortController();
    const options = { after: this.#readUpTo, latest: true, batch, signal };
    for await (const entries of this.#log.follow(webhooks, options)) {
      if (entries.length === 0) return;
      for (const entry of entries) {
        const { data } = decodeFact(webhooks, entry.data, entry);
        if (data.is === 'removed') this.#taken.delete(casefold(data.nick));
        else this.#taken.add(casefold(data.nick));
        this.#readUpTo = entry.seq;
      }
    }
  }
}
