import { z } from 'zod';
import {
  ircActivity,
  ircChannel,
  ircChannels,
  ircCounts,
  ircMessages,
} from '../../../projections/network/queries.js';
import { Refusal, Unavailable } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { irc } from '../../../streams/network/index.js';
import type { Input, Reply, Route, Service } from '../../remote/service.js';
import type { ReadModels } from '../../stores/read-models.js';
import { parseInput } from '../core/validation.js';
import type { RecorderState } from './irc-state.js';

/** What there is to read about the IRC network. `private=true` is for callers that may see private channels. */
export const ircReadRoutes = {
  stats: { method: 'GET', path: '/api/stats' },
  channels: { method: 'GET', path: '/api/channels' },
  messages: { method: 'GET', path: '/api/messages/:channel' },
  activity: { method: 'GET', path: '/api/activity/:nick' },
} as const satisfies Record<string, Route>;

/** What the reads are made of. */
export interface IrcReadOptions {
  readModels: ReadModels;
  /** State of the recorder's connection, in whichever process it is. */
  recorder: () => Promise<RecorderState | undefined>;
  /** Clients that are attached to the live stream now, over all processes. */
  viewers: () => number;
}

const Visibility = z.object({ private: z.literal('true').optional() });
const MessagesQuery = Visibility.extend({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  /** What the answer has to be made of at least: a sequence of the record. */
  since: z.coerce.number().int().min(0).optional(),
});

/** The key of a channel as it is named in addresses: without its `#`, or with it. */
export function channelKey(name: string): string {
  return casefold(`#${name.replace(/^#/, '')}`);
}

/** The operations of the bridge that only read. */
export function ircReads(options: IrcReadOptions): Service<typeof ircReadRoutes> {
  const { readModels, recorder, viewers } = options;

  async function stats(): Promise<Reply> {
    const [state, { messages, ...recorded }] = await Promise.all([
      recorder().catch(() => undefined),
      readModels.recall('irc_network', 'counts', ircCounts),
    ]);
    const connected = state?.connected ?? false;
    const since = connected ? (state?.since ?? null) : null;
    const uptime = since === null ? 0 : Math.max(0, Math.round((Date.now() - since) / 1_000));
    // where the server does not tell of the whole network, what is recorded of it has to do
    const { users, channels } = connected ? (state?.network ?? recorded) : { users: 0, channels: 0 };
    return { status: 200, body: { connected, users, channels, messages, viewers: viewers(), uptime } };
  }

  async function channels({ query }: Input = {}): Promise<Reply> {
    const { private: withPrivate } = parseInput(Visibility, query ?? {});
    const body = await readModels.recall('irc_network', `channels ${withPrivate}`, (sql, schema) =>
      ircChannels(sql, schema, withPrivate !== undefined),
    );
    return { status: 200, body };
  }

  async function messages({ query, params }: Input = {}): Promise<Reply> {
    const { limit, private: withPrivate, since } = parseInput(MessagesQuery, query ?? {});
    const key = channelKey(params?.channel ?? '');
    if (since !== undefined && !(await readModels.reached('irc_network', { stream: irc.name, seq: since })))
      throw new Unavailable('read_model_behind', 'What was last seen is not to be had yet', 2);
    const question = `messages ${limit} ${withPrivate} ${key}`;
    const body = await readModels.recall('irc_network', question, async (sql, schema) => {
      const channel = await ircChannel(sql, schema, key);
      if (!channel || (channel.isPrivate && !withPrivate)) return undefined;
      return await ircMessages(sql, schema, { key, name: channel.name }, limit);
    });
    if (!body) throw channelNotFound();
    return { status: 200, body };
  }

  async function activity({ query, params }: Input = {}): Promise<Reply> {
    const { private: withPrivate } = parseInput(Visibility, query ?? {});
    const nick = casefold(params?.nick ?? '');
    const body = await readModels.read('irc_network', (sql, schema) =>
      ircActivity(sql, schema, nick, withPrivate !== undefined),
    );
    return { status: 200, body };
  }

  return { stats, channels, messages, activity };
}

/** The answer for channels that do not exist, and for those that the caller may not see. */
export function channelNotFound(): Refusal {
  return new Refusal('not_found', 'Channel not found', {
    hint: 'A private channel is shown to callers with an API key, where the operator has set one',
  });
}
