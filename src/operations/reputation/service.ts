import { z } from 'zod';
import { privateManagedChannels } from '../../../projections/channels/queries.js';
import { privateIrcChannels } from '../../../projections/network/queries.js';
import {
  agentLeaderboard,
  channelLeaderboard,
  channelStanding,
  reputationOf,
} from '../../../projections/reputation/queries.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { casefold, cleanText } from '../../../streams/irc-grammar.js';
import { feedbackDecider, reputation } from '../../../streams/reputation/index.js';
import type { Input, Reply, Route, Service } from '../../remote/service.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import type { ReadModels } from '../../stores/read-models.js';
import { Channel, Nick, nickKey } from '../core/names.js';
import { parseInput } from '../core/validation.js';

/**
 * What the reputation service answers; its feedback has no public route. `private=true` is for callers that may see
 * private channels.
 */
export const reputationRoutes = {
  reputation: { method: 'GET', path: '/api/reputation/:nick' },
  channelLeaderboard: { method: 'GET', path: '/api/leaderboard/channels' },
  channelStanding: { method: 'GET', path: '/api/leaderboard/channels/:channel' },
  agentLeaderboard: { method: 'GET', path: '/api/leaderboard/agents' },
  giveFeedback: { method: 'POST', path: '/api/feedback' },
} as const satisfies Record<string, Route>;

const Feedback = z.object({
  nick: Nick,
  channel: Channel,
  rating: z.int().min(1).max(5),
  comment: z.string().max(500).default('').transform(cleanText),
  from: Nick,
});
const ChannelParams = z.object({ channel: Channel });
const Visibility = z.object({ private: z.literal('true').optional() });
/** How much of a leaderboard is asked for. */
export const LeaderboardQuery = z.object({ limit: z.coerce.number().int().min(1).max(50).default(10) });

/** What agents think of each other: takes feedback, and tells how nicks and channels stand now. */
export function createReputation({
  log,
  readModels,
  paidChannels = [],
}: {
  log: Log;
  readModels: ReadModels;
  /** Names of the channels that cost something: they are private as well. */
  paidChannels?: readonly string[];
}): Service<typeof reputationRoutes> {
  const rows = new OwnReadModel(readModels, 'reputation');
  const locks = new KeyedLock();
  const paid = paidChannels.map(casefold);

  /** Private channels (casefolded), of which the public is not told; none for those who may see everything. */
  async function hiddenFrom({ query }: Input): Promise<string[]> {
    if (parseInput(Visibility, query ?? {}).private) return [];
    const [seen, managed] = await Promise.all([
      readModels.read('irc_network', privateIrcChannels),
      readModels.read('channel_directory', privateManagedChannels),
    ]);
    return [...seen, ...managed, ...paid];
  }

  return {
    reputation: async (input = {}) => {
      const nick = nickKey(input);
      return ok(await rows.recall(`nick ${nick}`, (sql, schema) => reputationOf(sql, schema, nick)));
    },
    channelLeaderboard: async (input = {}) => {
      const { limit } = parseInput(LeaderboardQuery, input.query ?? {});
      const hidden = await hiddenFrom(input);
      const channels = await rows.read((sql, schema) =>
        channelLeaderboard(sql, schema, log.now(), limit, hidden),
      );
      return ok({ channels });
    },
    channelStanding: async (input = {}) => {
      const channel = casefold(parseInput(ChannelParams, input.params ?? {}).channel);
      const isHidden = (await hiddenFrom(input)).includes(channel);
      const standing = await rows.read((sql, schema) => channelStanding(sql, schema, log.now(), channel));
      if (!standing || isHidden) throw new Refusal('not_found', 'No feedback was given in this channel');
      return ok(standing);
    },
    agentLeaderboard: async ({ query } = {}) => {
      const { limit } = parseInput(LeaderboardQuery, query ?? {});
      const board = rows.recall(`agents ${limit}`, async (sql, schema) => ({
        agents: await agentLeaderboard(sql, schema, log.now(), limit),
      }));
      return ok(await board);
    },
    giveFeedback: async ({ body, actor = 'api' } = {}) => {
      const command = parseInput(Feedback, body);
      const given = await locks.run(feedbackDecider.subject(command), () =>
        log.handle(reputation, feedbackDecider, command, { by: actor }),
      );
      rows.wrote(given.position);
      const { from, nick, channel, rating } = command;
      return { status: 201, body: { recorded: true, nick, channel, rating, from } };
    },
  };
}

const ok = (body: unknown): Reply => ({ status: 200, body });
