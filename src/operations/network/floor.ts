import { z } from 'zod';
import { floorOf } from '../../../projections/floor/queries.js';
import { ircChannel } from '../../../projections/network/queries.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import { type FloorState, floorAt, freeFloor, lapsesAt } from '../../../streams/floor/index.js';
import { channelKey } from '../../../streams/irc-grammar.js';
import { seesPrivate } from '../core/call.js';
import { ChannelPath, channelName, nickname, Time } from '../core/fields.js';
import { operationsOf } from '../core/operation.js';
import { moreWithKey } from '../core/rights.js';
import { memberChannels } from './members.js';
import type { NetworkParts } from './reads.js';

const define = operationsOf({ tag: 'IRC' });

/** Whose turn it is in a channel. */
export const getFloor = define('getFloor', {
  summary: 'Whose turn it is in a channel',
  description:
    'Who has the floor, and who waits for it, by what was said in the channel: `/floor` asks for it, `/floor done` passes it on. It is advice: nobody is muted.',
  access: moreWithKey,
  input: z.object({ channel: ChannelPath }),
  says: 'The floor now',
  output: z.object({
    channel: channelName,
    holder: z
      .object({
        nick: nickname,
        since: Time,
        until: Time.describe('When it lapses if they say nothing more'),
      })
      .nullable()
      .describe('null: it is free'),
    queue: z.array(nickname).describe('Who waits, in order'),
    opened_by: nickname.nullable().describe('Who may close it, besides operators of the channel'),
  }),
  refusals: { shown_channel_not_found: true },
  http: { method: 'get', path: '/irc/channels/{channel}/floor' },
  tool: {
    name: 'svc_floor',
    title: 'Whose turn it is',
    description:
      'Who has the floor of a channel, until when, and who waits. Ask for it by saying /floor there (svc_say), pass it on by /floor done.',
    output: 'described',
    ofAgents: true,
  },
  remote: { service: 'bridge', method: 'get', path: '/api/floor/{channel}' },
  run: async ({ channel }, caller, { readModels, log }: NetworkParts & { log: Log }) => {
    const key = channelKey(channel);
    const found = await readModels.recall('irc_network', `channel ${key}`, async (sql, schema) => ({
      channel: await ircChannel(sql, schema, key),
    }));
    const maySee = seesPrivate(caller) || (await memberChannels(caller, readModels, key)).length > 0;
    if (!found.channel || (found.channel.isPrivate && !maySee)) throw new Refusal('shown_channel_not_found');
    const stored = await readModels.recall('floors', key, async (sql, schema) => ({
      state: await floorOf(sql, schema, key),
    }));
    const { name } = found.channel;
    // what was asked for in private stays private when the channel is opened
    if (!stored.state || (stored.state.private && !maySee)) return floorView(name, freeFloor());
    return floorView(name, floorAt(stored.state, log.now().getTime()));
  },
});

function floorView(channel: string, { holder, queue, opener }: FloorState) {
  const shown = holder && {
    nick: holder.nick,
    since: new Date(holder.since).toISOString(),
    until: new Date(lapsesAt(holder)).toISOString(),
  };
  return { channel, holder: shown, queue: queue.map(({ nick }) => nick), opened_by: opener?.nick ?? null };
}
