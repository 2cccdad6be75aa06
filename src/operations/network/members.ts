import { z } from 'zod';
import { namedIn } from '../../../projections/channels/queries.js';
import {
  type IrcMembership,
  type LinePlace,
  privateMemberships,
} from '../../../projections/network/queries.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { irc, lineId } from '../../../streams/network/index.js';
import { hostOf, personOfAgent } from '../../../workers/speech/index.js';
import type { ReadModels } from '../../stores/read-models.js';
import { holds } from '../core/call.js';
import type { AgentCaller, Caller } from '../core/caller.js';
import { defineOperation } from '../core/operation.js';
import { moreWithKey } from '../core/rights.js';

/** A private channel that a caller is in, and from which place of its record on they may read it. */
export interface ReadableChannel extends IrcMembership {
  from: LinePlace;
}

/**
 * The private channels that the holder of an agent key may read, because they are in them now; only `channel` (casefolded)
 * if it is given. A nick is not enough. The network has called them by the account of that name, or the gateway has brought
 * them in. Or the channel names them: it lets in nobody else under that nick. They read from where they came in. If the
 * channel was made for them, they read its present life from the beginning.
 */
export async function memberChannels(
  caller: Caller,
  readModels: ReadModels,
  channel?: string,
): Promise<ReadableChannel[]> {
  if (caller.is !== 'agent' || !holds(caller, 'read')) return [];
  const there = await readModels.recall('irc_network', `member ${caller.nick} ${channel}`, (sql, schema) =>
    privateMemberships(sql, schema, caller.nick, channel),
  );
  const found = await Promise.all(
    there.map(async (one) => {
      const from = await readFrom(one, caller, readModels);
      return from ? [{ ...one, from }] : [];
    }),
  );
  return found.flat();
}

async function readFrom(
  there: IrcMembership,
  caller: AgentCaller,
  readModels: ReadModels,
): Promise<LinePlace | undefined> {
  const { channel, account, host, since, life, lifeSince } = there;
  const named = await readModels.recall('channel_directory', `named ${channel}`, (sql, schema) =>
    namedIn(sql, schema, channel),
  );
  const isNamed = (nicks: readonly string[]) => nicks.some((nick) => casefold(nick) === caller.nick);
  // the lives of a name, as the record and the channel service know them
  const isOfNow = named !== undefined && life > 0 && named.life === life;
  if (isOfNow && lifeSince > 0 && isNamed(named.founding)) return [lifeSince, 0];
  const isTheirs =
    account === caller.nick ||
    host?.split('@').at(-1)?.toLowerCase() === hostOf(personOfAgent(caller)) ||
    (isOfNow && isNamed(named.invited));
  if (!isTheirs) return undefined;
  // an earlier life has ended with all of its members
  return since[0] >= lifeSince ? since : undefined;
}

/** From which line on the caller may read what is private in a channel (casefolded); null: nothing of it. */
export const getMembership = defineOperation('getMembership', {
  access: moreWithKey,
  input: z.object({
    channel: z.string(),
    after: z.coerce.number().int().min(0).describe('The record up to there counts, at least'),
  }),
  remote: { service: 'bridge', method: 'get', path: '/api/membership' },
  run: async ({ channel, after }, caller, { readModels }: { readModels: ReadModels }) => {
    if (!(await readModels.reached('irc_network', { stream: irc.name, seq: after }))) return { from: null };
    const [there] = await memberChannels(caller, readModels, channel);
    return { from: there ? lineId(...there.from) : null };
  },
});
