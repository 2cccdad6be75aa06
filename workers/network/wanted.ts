import type { Logger } from 'pino';
import { channels } from '../../streams/channels/index.js';
import { decodeFact, type Log } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';

const batch = 5_000;

/** The channels that are to be recorded: given ones, and the managed ones from their creation to their deletion. */
export class WantedChannels {
  readonly #given: ReadonlyMap<string, string>;
  readonly #names: Map<string, string>;
  /** The sequences of the facts that created the managed ones, by their casefolded names. */
  readonly lives = new Map<string, number>();
  /** Those that were deleted and that nobody has dealt with yet, by their casefolded names, and when. */
  readonly deleted = new Map<string, { name: string; at: number }>();

  constructor(given: readonly string[]) {
    this.#given = new Map(given.map((name) => [casefold(name), name]));
    this.#names = new Map(this.#given);
  }

  /** By their casefolded names, as they are spelled. */
  get names(): ReadonlyMap<string, string> {
    return this.#names;
  }

  /** Follows the managed channels until the signal; `changed` is called when all that is known is taken in. */
  async follow(log: Log, logger: Logger, signal: AbortSignal, changed: () => void): Promise<void> {
    for await (const entries of log.follow(channels, { after: 0, batch, signal })) {
      for (const entry of entries) {
        try {
          const { type, data } = decodeFact(channels, entry.data, entry);
          const { name } = data;
          const key = casefold(name);
          if (type === 'channel.created') {
            this.#names.set(key, name);
            this.lives.set(key, entry.seq);
            this.deleted.delete(key);
          } else if (type === 'channel.deleted' && !this.#given.has(key)) {
            this.#names.delete(key);
            this.lives.delete(key);
            this.deleted.set(key, { name, at: entry.at.getTime() });
          }
        } catch (error) {
          logger.error({ seq: entry.seq, err: error }, 'channel fact cannot be read: passed over');
        }
      }
      if (entries.length === 0) changed();
    }
  }
}
