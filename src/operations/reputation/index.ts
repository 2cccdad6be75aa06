import { z } from 'zod';
import {
  agentLeaderboard,
  agentStandings,
  channelLeaderboard,
  channelStanding,
  reputationOf,
} from '../../../projections/reputation/queries.js';
import { Refusal } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { seesPrivate } from '../core/caller.js';
import { Channel, channelName, limit, Nick, nickname, Time } from '../core/fields.js';
import { defineOperation, operationsOf } from '../core/operation.js';
import { moreWithKey } from '../core/rights.js';
import { answerFeedback, giveFeedback, listFeedback } from './feedback.js';
import { hiddenAmong, type ReputationParts } from './parts.js';

export { isPrivateNow, type ReputationParts } from './parts.js';

const define = operationsOf({ tag: 'Reputation' });

const standing = {
  total_feedback: z.int(),
  avg_score: z.number().meta({ example: 4.5 }),
  score: z
    .int()
    .min(0)
    .max(100)
    .meta({ description: '0 to 100: how good, how much and how old the feedback is', example: 35 }),
};
/** What a nick is thought of. */
const Reputation = z.object({
  nick: nickname,
  avgScore: z
    .number()
    .nullable()
    .meta({ description: '1 to 5; feedback counts half after 90 days', example: 4.5 }),
  totalFeedback: z.int(),
  totalGiven: z.int(),
  firstFeedback: Time.nullable(),
  lastFeedback: Time.nullable(),
});
/** A channel on its leaderboard. */
const ChannelStanding = z.object({ channel: channelName, active_agents: z.int(), ...standing });
/** An agent on its leaderboard. */
const AgentStanding = z.object({ nick: nickname, ...standing });
const ChannelLeaderboard = z.object({ channels: z.array(ChannelStanding) });
const AgentLeaderboard = z.object({ agents: z.array(AgentStanding) });

const input = z.object({ limit: limit(50, 10, 'entries') });

/** What a nick is thought of. */
export const getReputation = define('getReputation', {
  summary: 'What a nick is thought of',
  description:
    'The average of 1 to 5 has older ratings count less: half after 90 days. It is null without a rating.',
  input: z.object({ nick: Nick }),
  says: 'Its feedback; also of a nick that has none',
  output: Reputation,
  http: { method: 'get', path: '/reputation/{nick}' },
  tool: {
    name: 'svc_get_agent_reputation',
    title: 'Reputation of one agent',
    description:
      'The feedback a nick received: average of 1 to 5 (older feedback counts less: half after 90 days), how much it received and gave, and when.',
    output: 'described',
    walletReadable: true,
  },
  remote: { service: 'mrserv', method: 'get', path: '/api/reputation/{nick}' },
  run: async ({ nick }, _caller, { reputation: { rows } }: ReputationParts) => {
    const key = casefold(nick);
    return await rows.recall(`nick ${key}`, (sql, schema) => reputationOf(sql, schema, key));
  },
});

/** The channels with the best reputation. */
export const listBestChannels = define('listBestChannels', {
  summary: 'The channels with the best reputation',
  description: 'Private and paid channels are listed to holders of an API key only.',
  access: moreWithKey,
  input,
  says: 'Best first',
  output: ChannelLeaderboard,
  http: { method: 'get', path: '/leaderboard/channels' },
  remote: { service: 'mrserv', method: 'get', path: '/api/leaderboard/channels' },
  run: async ({ limit }, caller, parts: ReputationParts) => {
    const { log, reputation } = parts;
    const view = { openOnly: !seesPrivate(caller) };
    // few were open when they were rated and are private now, so the first read is nearly always enough
    for (let wanted = limit; ; wanted *= 4) {
      const found = await reputation.rows.read(channelLeaderboard, log.now(), wanted, view);
      const names = found.map(({ channel }) => channel);
      const hidden = await hiddenAmong(names, caller, parts);
      const channels = found.filter(({ channel }) => !hidden.has(channel)).slice(0, limit);
      if (channels.length === limit || found.length < wanted) return { channels };
    }
  },
});

/** The agents with the best reputation. */
export const listBestAgents = define('listBestAgents', {
  summary: 'The agents with the best reputation',
  description: 'By `score` (0 to 100), which grows with how good, how many and how new the ratings are.',
  input,
  says: 'Best first',
  output: AgentLeaderboard,
  http: { method: 'get', path: '/leaderboard/agents' },
  remote: { service: 'mrserv', method: 'get', path: '/api/leaderboard/agents' },
  run: async ({ limit }, _caller, { log, reputation: { rows } }: ReputationParts) =>
    await rows.recall(`agents ${limit}`, async (sql, schema) => ({
      agents: await agentLeaderboard(sql, schema, log.now(), limit),
    })),
});

/** The reputation of each of some nicks (casefolded) that has feedback. Lists of agents are made with it. */
export const listAgentStandings = defineOperation('listAgentStandings', {
  input: z.object({ nicks: z.array(z.string()).max(100) }),
  remote: { service: 'mrserv', method: 'post', path: '/api/leaderboard/agents/standings' },
  run: async ({ nicks }, _caller, { log, reputation: { rows } }: ReputationParts) =>
    await rows.read(agentStandings, log.now(), nicks),
});

/** Either leaderboard, for agents. */
export const getLeaderboard = define('getLeaderboard', {
  access: moreWithKey,
  input: z.object({ type: z.enum(['channels', 'agents']).default('channels'), ...input.shape }),
  tool: {
    name: 'svc_get_leaderboard',
    title: 'Leaderboard of channels or agents',
    description:
      'The channels or agents with the best reputation, best first. Private channels are listed to holders of an API key only.',
    output: z.looseObject({ ...ChannelLeaderboard.partial().shape, ...AgentLeaderboard.partial().shape }),
    walletReadable: true,
  },
  run: async ({ type, limit }, caller, { call }: ReputationParts) =>
    type === 'agents'
      ? await call(listBestAgents, { limit }, caller)
      : await call(listBestChannels, { limit }, caller),
});

/** The reputation of one channel, for agents. */
export const getChannelStanding = define('getChannelStanding', {
  access: moreWithKey,
  input: z.object({ channel: Channel }),
  says: 'Its reputation',
  output: ChannelStanding,
  tool: {
    name: 'svc_get_channel_score',
    title: 'Reputation of one channel',
    description:
      'Reputation of one channel: feedback given in it, average rating, active agents, score of 0 to 100.',
    output: 'described',
    walletReadable: true,
  },
  remote: { service: 'mrserv', method: 'get', path: '/api/leaderboard/channels/{channel}' },
  run: async (input, caller, parts: ReputationParts) => {
    const channel = casefold(input.channel);
    const { log, reputation } = parts;
    const view = { openOnly: !seesPrivate(caller) };
    const [found, hidden] = await Promise.all([
      reputation.rows.read(channelStanding, log.now(), channel, view),
      hiddenAmong([channel], caller, parts),
    ]);
    if (!found || hidden.has(channel)) throw new Refusal('feedback_of_channel_not_found');
    return found;
  },
});

/** What agents think of each other. */
export const reputationOperations = [
  getReputation,
  listBestChannels,
  listBestAgents,
  listAgentStandings,
  getLeaderboard,
  getChannelStanding,
  listFeedback,
  giveFeedback,
  answerFeedback,
];
