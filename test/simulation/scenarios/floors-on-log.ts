import type { Param, Sql, Tx } from '../../../projections/core/sql.js';
import { floorModel } from '../../../projections/floor/fold.js';
import type { ReadModels } from '../../../src/stores/read-models.js';
import { pause, type Recorded, Unavailable } from '../../../streams/core/index.js';
import { type IrcFact, irc } from '../../../streams/network/index.js';
import type { SimulatedLogServer } from '../log/server.js';
import { StoredFacts } from '../log/stored-facts.js';
import type { Random } from '../random.js';

/** How long a reader may wait for what it has to know, while more is recorded. */
const mostMs = 1_500;

interface Row {
  channel: string;
  seq: number;
  state: string;
  day: string;
}

/** The read model of floors without a store: the product's fold, whose rows are in a map. For scenarios that are not about the store. */
export class FloorsOnLog {
  /** Until when nothing can be read, in milliseconds since 1970. */
  awayUntil = 0;
  readonly #random: Random;
  readonly #facts: StoredFacts<typeof irc>;
  readonly #waiting: Recorded<IrcFact>[] = [];
  readonly #rows = new Map<string, Row>();
  #foldedUpTo = 0;
  #folding: Promise<unknown> = Promise.resolve();

  constructor(server: SimulatedLogServer, random: Random) {
    this.#facts = new StoredFacts(server, irc);
    this.#random = random;
  }

  /** The read models as the bot that records is given them. */
  get readModels(): ReadModels {
    const readAt: ReadModels['readAt'] = async (name, query, after) => {
      if (name !== floorModel.name) throw new Error(`nobody asks for ${name} here`);
      if (Date.now() < this.awayUntil) throw new Unavailable('read_model_behind');
      await pause(this.#random.int(0, mostMs));
      const answer = this.#folding.then(async () => {
        await this.#foldUpTo(after?.seq ?? 0);
        return await query(this.#tx as Sql, name);
      });
      this.#folding = answer.catch(() => undefined);
      return await answer;
    };
    const models: Pick<ReadModels, 'readAt'> = { readAt };
    return models as ReadModels;
  }

  /** A read model may be ahead of what it is asked for. */
  async #foldUpTo(seq: number): Promise<void> {
    this.#waiting.push(...this.#facts.read());
    const owed = this.#waiting.filter((fact) => fact.seq <= seq).length;
    const facts = this.#waiting.splice(0, this.#random.int(owed, this.#waiting.length));
    this.#foldedUpTo = facts.at(-1)?.seq ?? this.#foldedUpTo;
    if (this.#foldedUpTo < seq) throw new Unavailable('read_model_behind');
    for (let batch = facts.splice(0, 7); batch.length > 0; batch = facts.splice(0, 7))
      await floorModel.apply(this.#tx, batch, floorModel.name);
  }

  readonly #tx = { query: async (text: string, params: Param[] = []) => this.#answer(text, params) } as Tx;

  #answer(text: string, params: Param[]): unknown[] {
    // no scenario takes days
    if (text.includes('last_day')) return [];
    if (text.trim().startsWith('insert')) {
      const [channels, seqs, states, days] = params as [string[], number[], string[], string[]];
      for (const [place, channel] of channels.entries())
        this.#rows.set(channel, { channel, seq: seqs[place]!, state: states[place]!, day: days[place]! });
      return [];
    }
    const [asked] = params as [string[]?];
    return [...this.#rows.values()].filter(({ channel }) => asked?.includes(channel) ?? true);
  }
}
