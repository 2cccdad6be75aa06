import { z } from 'zod';
import { ircChannel, lineOfChannel } from '../../../projections/network/queries.js';
import { channelKey } from '../../../streams/irc-grammar.js';
import { lineId, parseLineId } from '../../../streams/network/index.js';
import { seesPrivate } from '../core/call.js';
import { defineOperation } from '../core/operation.js';
import { moreWithKey } from '../core/rights.js';
import { memberChannels } from './members.js';
import type { NetworkParts } from './reads.js';

/** A recorded line of a channel by its id or its msgid, if the caller may read it: both, or null. */
export const findLine = defineOperation('findLine', {
  access: moreWithKey,
  input: z.object({ channel: z.string(), line: z.string() }),
  remote: { service: 'bridge', method: 'get', path: '/api/line/{channel}' },
  run: async ({ channel, line }, caller, { readModels }: NetworkParts) => {
    const key = channelKey(channel);
    const at = parseLineId(line);
    const wanted = at ? { place: [at.seq, at.index] as const } : { msgid: line };
    const withPrivate = seesPrivate(caller);
    const [own] = withPrivate ? [] : await memberChannels(caller, readModels, key);
    const found = await readModels.read('irc_network', async (sql, schema) => {
      const there = await lineOfChannel(sql, schema, key, wanted);
      const isClosed = (await ircChannel(sql, schema, key))?.isPrivate ?? true;
      const isOpen = withPrivate || (!there?.isPrivate && (!isClosed || own !== undefined));
      if (!there || isOpen) return there;
      const [seq, index] = there.place;
      const isOwn = own && (seq > own.from[0] || (seq === own.from[0] && index >= own.from[1]));
      return isOwn ? there : undefined;
    });
    return { line: found ? { id: lineId(...found.place), msgid: found.msgid } : null };
  },
});
