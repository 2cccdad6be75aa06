import type { Sql } from '../../../projections/core/sql.js';
import type { ReadModels } from '../../../src/stores/read-models.js';
import {
  type ChannelFact,
  type ChannelState,
  channelDecider,
  channels,
} from '../../../streams/channels/index.js';
import { Unavailable } from '../../../streams/core/index.js';
import type { SimulatedLogServer } from '../log/server.js';

interface Row {
  name: string;
  state: ChannelState;
  createdAt: Date;
}

/**
 * The channel directory without a store: it answers what the channel bot asks of it from the log as it is. For
 * scenarios that are not about the store, and would spend most of their time in it.
 */
export class DirectoryOnLog {
  /** Until when nothing can be read, in milliseconds since 1970. */
  awayUntil = 0;
  readonly #server: SimulatedLogServer;
  readonly #rows = new Map<string, Row>();
  #readUpTo = 0;

  constructor(server: SimulatedLogServer) {
    this.#server = server;
  }

  /** The read models as parts of the product are given them. */
  get readModels(): ReadModels {
    const read: ReadModels['read'] = async (name, query) => {
      // nobody is linked here, has a key, or an account of the network
      if (['identity_links', 'agent_keys', 'irc_network'].includes(name))
        return await query({ query: async () => [] } as unknown as Sql, name);
      if (name !== 'channel_directory' || Date.now() < this.awayUntil)
        throw new Unavailable('read_model_building');
      this.#read();
      const sql = { query: async (text: string, params?: unknown[]) => this.#answer(text, params) };
      return await query(sql as unknown as Sql, 'directory');
    };
    const models: Pick<ReadModels, 'read' | 'readAt' | 'reached'> = {
      read,
      readAt: read,
      reached: async () => true,
    };
    return models as ReadModels;
  }

  #answer(text: string, params: unknown[] = []): unknown[] {
    const isThere = ({ state }: Row) => state.status === 'active' || state.status === 'archived';
    const rows = [...this.#rows.values()].filter(isThere);
    if (text.includes('select name, type, modes, topic, invited'))
      return rows
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, state: { type, modes, topic, invited, status }, createdAt }) => ({
          name,
          type,
          modes,
          topic,
          invited: JSON.stringify(invited),
          created_at: createdAt,
          archived_at: status === 'archived' ? createdAt : null,
        }));
    if (text.includes('as asked (name)'))
      return (params[0] as string[])
        .filter((name) => this.#rows.get(name)?.state.status === 'deleted')
        .map((name) => ({ name }));
    if (text.includes('select name, type from'))
      return rows
        .filter(({ state }) => state.status === 'active')
        .map(({ name, state: { type } }) => ({ name, type }));
    // nothing is limited here, and a few minutes make nothing due
    if (/\.days where|select operation, created_at|<= \$1/.test(text)) return [];
    throw new Error(`the directory does not know what is asked: ${text}`);
  }

  #read(): void {
    const stream = this.#server.streams.get(channels.name)?.stream;
    for (; stream && this.#readUpTo < stream.lastSeq; this.#readUpTo++) {
      const message = stream.get(this.#readUpTo + 1);
      if (!message) continue;
      const fact = JSON.parse(new TextDecoder().decode(message.data)) as ChannelFact;
      const { name } = fact.data;
      const row = this.#rows.get(name) ?? { name, state: channelDecider.initial(), createdAt: new Date() };
      if (fact.type === 'channel.created') row.createdAt = new Date(message.at);
      channelDecider.evolve(row.state, fact);
      this.#rows.set(name, row);
    }
  }
}
