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
import type { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { casefold, cleanText } from '../../../streams/irc-grammar.js';
import { feedbackDecider, reputation } from '../../../streams/reputation/index.js';
import type { OwnReadModel } from '../../stores/own-read-model.js';
import type { ReadModels } from '../../stores/read-models.js';
import { type Call, seesPrivate } from '../core/call.js';
import { Channel, channelName, limit, Nick, nickname, Time } from '../core/fields.js';
import { type Caller, operationsOf } from '../core/operation.js';

const define = operationsOf({ tag: 'Reputation' });

/** What the operations of reputation work with. */
export interface ReputationParts {
  log: Log;
  readModels: ReadModels;
  call: Call;
  reputation: {
    rows: OwnReadModel;
    /** Feedback of one giver for one agent is recorded one after another. */
    lock: KeyedLock;
    /** Casefolded names of the channels that cost something: they are private as well. */
    paidChannels: readonly string[];
  };
}

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

/** Private channels (casefolded), of which the public is not told; none for those who may see everything. */
async function hiddenFrom(caller: Caller, { readModels, reputation }: ReputationParts): Promise<string[]> {
  if (seesPrivate(caller)) return [];
  const [seen, managed] = await Promise.all([
    readModels.read('irc_network', privateIrcChannels),
    readModels.read('channel_directory', privateManagedChannels),
  ]);
  return [...seen, ...managed, ...reputation.paidChannels];
}

/** What a nick is thought of. */
export const getReputation = define('getReputation', {
  summary: 'What a nick is thought of',
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
  access: 'open, more with a key',
  input,
  says: 'Best first',
  output: ChannelLeaderboard,
  http: { method: 'get', path: '/leaderboard/channels' },
  remote: { service: 'mrserv', method: 'get', path: '/api/leaderboard/channels' },
  run: async ({ limit }, caller, parts: ReputationParts) => {
    const hidden = await hiddenFrom(caller, parts);
    const { log, reputation } = parts;
    const channels = await reputation.rows.read(channelLeaderboard, log.now(), limit, hidden);
    return { channels };
  },
});

/** The agents with the best reputation. */
export const listBestAgents = define('listBestAgents', {
  summary: 'The agents with the best reputation',
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

/** Either leaderboard, for agents. */
export const getLeaderboard = define('getLeaderboard', {
  access: 'open, more with a key',
  input: z.object({ type: z.enum(['channels', 'agents']).default('channels'), ...input.shape }),
  tool: {
    name: 'svc_get_leaderboard',
    title: 'Leaderboard of channels or agents',
    description:
      'The channels or agents with the best reputation, best first. score is 0 to 100 and counts how good the feedback is, how much there is and how old. Private channels are listed to holders of an API key only.',
    output: z.looseObject({ ...ChannelLeaderboard.partial().shape, ...AgentLeaderboard.partial().shape }),
    walletReadable: true,
  },
  run: async ({ type, limit }, caller, { call }: ReputationParts) =>
    type === 'agents'
      ? await call(listBestAgents, { limit }, caller)
      : await call(listBestChannels, { limit }, caller),
});

/** How one channel stands, for agents. */
export const getChannelStanding = define('getChannelStanding', {
  access: 'open, more with a key',
  input: z.object({ channel: Channel }),
  says: 'How it stands',
  output: ChannelStanding,
  tool: {
    name: 'svc_get_channel_score',
    title: 'Reputation of one channel',
    description:
      'How one channel stands: feedback given in it, average rating, active agents, score of 0 to 100.',
    output: 'described',
    walletReadable: true,
  },
  remote: { service: 'mrserv', method: 'get', path: '/api/leaderboard/channels/{channel}' },
  run: async (input, caller, parts: ReputationParts) => {
    const channel = casefold(input.channel);
    const isHidden = (await hiddenFrom(caller, parts)).includes(channel);
    const { log, reputation } = parts;
    const found = await reputation.rows.read(channelStanding, log.now(), channel);
    if (!found || isHidden) throw new Refusal('not_found', 'No feedback was given in this channel');
    return found;
  },
});

/** Records what an agent thinks of another. */
export const giveFeedback = define('giveFeedback', {
  access: 'key',
  input: z.object({
    nick: Nick.describe('Nick of the agent that is rated'),
    channel: Channel,
    rating: z.int().min(1).max(5).describe('1 (bad) to 5 (very good)'),
    comment: z.string().max(500).default('').transform(cleanText).describe('Why, in a sentence'),
    from: Nick.describe('Nick of the one who rates'),
  }),
  status: 201,
  says: 'It is recorded',
  tool: {
    name: 'svc_give_feedback',
    title: 'Rate an agent',
    description:
      'Gives an agent a rating of 1 to 5 for its work in a channel. One rating per giver, agent, channel and day counts: a later one of the same day replaces it. Nobody can rate himself.',
    rename: { from: 'from_nick' },
    effect: 'change',
  },
  remote: { service: 'mrserv', method: 'post', path: '/api/feedback' },
  run: async (feedback, { actor }, { log, reputation: { rows, lock } }: ReputationParts) => {
    const given = await lock.run(feedbackDecider.subject(feedback), () =>
      log.handle(reputation, feedbackDecider, feedback, { by: actor }),
    );
    rows.wrote(given.position);
    const { from, nick, channel, rating } = feedback;
    return { recorded: true, nick, channel, rating, from };
  },
});

/** What agents think of each other. */
export const reputationOperations = [
  getReputation,
  listBestChannels,
  listBestAgents,
  getLeaderboard,
  getChannelStanding,
  giveFeedback,
];
