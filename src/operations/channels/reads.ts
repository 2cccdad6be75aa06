import { z } from 'zod';
import {
  channelOperations,
  channelStatistics,
  managedChannels,
} from '../../../projections/channels/queries.js';
import { channelTypes } from '../../../streams/channels/index.js';
import { Refusal } from '../../../streams/core/index.js';
import { holds } from '../core/call.js';
import type { Caller } from '../core/caller.js';
import { limit, Time, text } from '../core/fields.js';
import { healthOf, ircStateView, secondsSince, troubleView } from '../core/health.js';
import { operationsOf } from '../core/operation.js';
import { moreWithKey } from '../core/rights.js';
import { ChannelName, type ChannelParts, ManagedChannel, managedName, requireChannel } from './channel.js';

const define = operationsOf({ tag: 'Channels', access: moreWithKey });

const ofPrivate = 'Private channels, and what was done in them, are shown to holders of an API key only.';
const unknown = { managed_channel_not_found: true } as const;

const statistics = ({ log, channels }: ChannelParts, caller: Caller) =>
  channels.rows.read(channelStatistics, { now: log.now(), withPrivate: holds(caller, 'channels') });

/** The managed channels. */
export const listChannels = define('listChannels', {
  summary: 'The managed channels',
  description: ofPrivate,
  input: z.object({ type: z.enum(channelTypes).optional().describe('Channels of this type only') }),
  says: 'All that are not deleted, with those that are archived',
  output: z.object({ channels: z.array(ManagedChannel), total: z.int() }),
  http: { method: 'get', path: '/channels' },
  remote: { service: 'channelserv', method: 'get', path: '/api/channels' },
  run: async ({ type }, caller, { channels: { rows } }: ChannelParts) => {
    const channels = await rows.read(managedChannels, { type, withPrivate: holds(caller, 'channels') });
    return { channels, total: channels.length };
  },
});

/** How many managed channels there are. */
export const getChannelStatistics = define('getChannelStatistics', {
  summary: 'How many managed channels there are',
  description: 'Private channels, and what was done in them, are counted for holders of an API key only.',
  says: 'Numbers of channels',
  output: z.object({
    total: z.int(),
    byType: z.record(z.string(), z.int()).meta({ example: { task: 1 } }),
    archived: z.int(),
    operationsToday: z.int().describe('Since 00:00 UTC'),
  }),
  http: { method: 'get', path: '/channels/stats' },
  remote: { service: 'channelserv', method: 'get', path: '/api/stats' },
  run: async (_input, caller, parts: ChannelParts) => await statistics(parts, caller),
});

/** A managed channel. */
export const getChannel = define('getChannel', {
  summary: 'A managed channel',
  description: ofPrivate,
  input: z.object({ name: ChannelName }),
  says: 'The channel',
  output: ManagedChannel,
  refusals: unknown,
  http: { method: 'get', path: '/channels/{name}' },
  remote: { service: 'channelserv', method: 'get', path: '/api/channels/{name}' },
  run: async ({ name }, caller, parts: ChannelParts) =>
    await requireChannel(name, parts, holds(caller, 'channels')),
});

/** What was done in a managed channel by command. */
export const listChannelOperations = define('listChannelOperations', {
  summary: 'What was done in a managed channel by command, newest first',
  description: ofPrivate,
  input: z.object({
    name: ChannelName,
    limit: limit(200, 50, 'records'),
  }),
  says: 'Audit records',
  output: z.object({
    channel: managedName,
    operations: z.array(
      z.object({
        id: z.int(),
        channel: managedName,
        operation: text('create'),
        target_nick: z.string().nullable(),
        details: text('task +int'),
        created_at: Time,
      }),
    ),
  }),
  refusals: unknown,
  http: { method: 'get', path: '/channels/{name}/operations' },
  tool: {
    name: 'svc_channel_operations',
    title: 'Audit records of a channel',
    description: 'What was done in a managed channel by command, newest first.',
    rename: { name: 'channel' },
    stdioOnly: true,
  },
  remote: { service: 'channelserv', method: 'get', path: '/api/channels/{name}/operations' },
  run: async ({ name, limit }, caller, { channels: { rows } }: ChannelParts) => {
    const operations = await rows.read(channelOperations, {
      name,
      limit,
      withPrivate: holds(caller, 'channels'),
    });
    // every channel that ever was has its creation at least
    if (operations.length === 0) throw new Refusal('managed_channel_not_found');
    return { channel: name, operations };
  },
});

/** Whether the channel service is well. */
export const getChannelHealth = define('getChannelHealth', {
  remote: healthOf('channelserv'),
  run: async (_input, caller, parts: ChannelParts) => {
    const irc = await parts.channels.irc();
    const stats = await statistics(parts, caller).catch(() => undefined);
    return {
      status: irc?.connected && irc.oper && !irc.trouble ? 'ok' : 'degraded',
      irc: ircStateView(irc),
      ...troubleView(irc),
      ...(stats ? { stats } : {}),
      uptime: secondsSince(parts.startedAt),
    };
  },
});
