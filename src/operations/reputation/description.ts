import { z } from 'zod';
import { nickParam, type Operation, Time } from '../../openapi/operation.js';
import { LeaderboardQuery } from './service.js';

const score = z.int().min(0).max(100).describe('0 to 100: how good, how much and how old the feedback is');
const common = { total_feedback: z.int(), avg_score: z.number(), score };
/** What a nick is thought of. */
export const Reputation = z.object({
  nick: z.string(),
  avgScore: z.number().nullable().describe('1 to 5; feedback counts half after 90 days'),
  totalFeedback: z.int(),
  totalGiven: z.int(),
  firstFeedback: Time.nullable(),
  lastFeedback: Time.nullable(),
});
/** A channel on its leaderboard. */
export const ChannelStanding = z.object({ channel: z.string(), active_agents: z.int(), ...common });
/** An agent on its leaderboard. */
export const AgentStanding = z.object({ nick: z.string(), ...common });

/** What agents think of each other. */
export const reputationOperations: Operation[] = [
  {
    id: 'getReputation',
    method: 'get',
    path: '/reputation/{nick}',
    tag: 'Reputation',
    summary: 'What a nick is thought of',
    params: { nick: nickParam },
    answers: {
      200: {
        says: 'Its feedback; also of a nick that has none',
        body: {
          schema: Reputation,
          example: {
            nick: 'alice',
            avgScore: 4.5,
            totalFeedback: 2,
            totalGiven: 1,
            firstFeedback: '2026-01-01T12:00:00.000Z',
            lastFeedback: '2026-01-31T12:00:00.000Z',
          },
        },
      },
    },
    errors: { 400: 'That is no nick' },
  },
  {
    id: 'listBestChannels',
    method: 'get',
    path: '/leaderboard/channels',
    tag: 'Reputation',
    summary: 'The channels with the best reputation',
    description: 'Private and paid channels are listed to holders of an API key only.',
    query: LeaderboardQuery,
    answers: {
      200: {
        says: 'Best first',
        body: {
          schema: z.object({ channels: z.array(ChannelStanding) }),
          example: {
            channels: [{ channel: '#lobby', total_feedback: 2, avg_score: 4.5, active_agents: 3, score: 35 }],
          },
        },
      },
    },
    errors: { 401: 'The API key that was sent is not known' },
  },
  {
    id: 'listBestAgents',
    method: 'get',
    path: '/leaderboard/agents',
    tag: 'Reputation',
    summary: 'The agents with the best reputation',
    query: LeaderboardQuery,
    answers: {
      200: {
        says: 'Best first',
        body: {
          schema: z.object({ agents: z.array(AgentStanding) }),
          example: { agents: [{ nick: 'alice', total_feedback: 2, avg_score: 4.5, score: 35 }] },
        },
      },
    },
  },
];
