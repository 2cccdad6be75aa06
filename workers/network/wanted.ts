import type { Logger } from 'pino';
import { type ChannelFact, channels } from '../../streams/channels/index.js';
import { decodeFact, type Entry, type Log, type Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';

const batch = 5_000;
/** Up to so many channels are read one by one. With more, reading the whole stream once is quicker. */
const few = 16;

/** A fact of a channel, and the sequence of the fact that created the channel. */
interface Known {
  fact: Recorded<ChannelFact>;
  life: number | undefined;
}

/** The channels to record: given ones, and the managed ones from their creation to their deletion. */
export class WantedChannels {
  readonly #given: ReadonlyMap<string, string>;
  readonly #names: Map<string, string>;
  /** The sequences of the facts that created the managed ones, by their casefolded names. */
  readonly lives = new Map<string, number>();
  /** Channels that were deleted and not handled yet, by their casefolded names, and when. */
  readonly deleted = new Map<string, { name: string; at: number }>();
  /** Subjects whose last fact does not tell enough. */
  readonly #unsure = new Set<string>();

  constructor(given: readonly string[]) {
    this.#given = new Map(given.map((name) => [casefold(name), name]));
    this.#names = new Map(this.#given);
  }

  /** Their names as they are spelled, by the casefolded names. */
  get names(): ReadonlyMap<string, string> {
    return this.#names;
  }

  /**
   * Follows the managed channels until the signal, from the last fact of each on. `changed` is called when
   * all that is known is read.
   */
  async follow(log: Log, logger: Logger, signal: AbortSignal, changed: () => void): Promise<void> {
    let seen = 0;
    for await (const entries of log.follow(channels, { after: 0, latest: true, batch, signal })) {
      for (const entry of entries) {
        seen = entry.seq;
        try {
          const known = knownBy(entry);
          if (this.#isEnough(known)) this.#take(known);
          else this.#unsure.add(entry.subject);
        } catch (error) {
          logger.error({ seq: entry.seq, err: error }, 'channel fact cannot be read: passed over');
          this.#unsure.add(entry.subject);
        }
      }
      if (entries.length > 0) continue;
      await this.#look(log, seen, signal);
      if (!signal.aborted) changed();
    }
  }

  #isEnough({ fact, life }: Known): boolean {
    const key = casefold(fact.data.name);
    return life !== undefined || this.lives.has(key) || this.#ends(fact, key);
  }

  #ends({ type }: Recorded<ChannelFact>, key: string): boolean {
    return type === 'channel.deleted' && !this.#given.has(key);
  }

  /** Reads all facts of the channels whose last one did not tell enough, up to a sequence. */
  async #look(log: Log, upTo: number, signal: AbortSignal): Promise<void> {
    if (this.#unsure.size === 0) return;
    const subjects = new Set(this.#unsure);
    this.#unsure.clear();
    const filters = subjects.size > few ? [[]] : [...subjects].map((subject) => [subject]);
    for (const filter of filters) {
      const known = await knownUpTo(log, upTo, filter, signal);
      for (const [subject, one] of known) if (subjects.has(subject)) this.#take(one);
    }
  }

  #take({ fact, life }: Known): void {
    const { name } = fact.data;
    const key = casefold(name);
    if (this.#ends(fact, key)) {
      this.#names.delete(key);
      this.lives.delete(key);
      this.deleted.set(key, { name, at: fact.at.getTime() });
      return;
    }
    this.#names.set(key, name);
    if (life !== undefined) this.lives.set(key, life);
    this.deleted.delete(key);
  }
}

function knownBy(entry: Entry): Known {
  const fact = decodeFact(channels, entry.data, entry);
  return { fact, life: fact.type === 'channel.created' ? fact.seq : fact.data.life };
}

/**
 * What the facts of each subject say together, up to a sequence. Older facts do not say to which life they
 * belong.
 */
async function knownUpTo(
  log: Log,
  upTo: number,
  filter: string[],
  signal: AbortSignal,
): Promise<Map<string, Known>> {
  const known = new Map<string, Known>();
  for await (const entries of log.follow(channels, { after: 0, filter, batch, signal })) {
    for (const entry of entries) {
      if (entry.seq > upTo) return known;
      try {
        const { fact, life = known.get(entry.subject)?.life } = knownBy(entry);
        known.set(entry.subject, { fact, life });
      } catch {
        // passed over
      }
    }
    if (entries.length === 0) break;
  }
  return known;
}
