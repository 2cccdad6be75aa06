import { z } from 'zod';
import { defineTool, resultOf, type Tool, visibility } from '../../mcp/tool.js';
import type { Service } from '../../remote/service.js';
import { channel, limit, nick } from '../core/parameters.js';
import { AgentStanding, ChannelStanding, Reputation } from './description.js';
import type { reputationRoutes } from './service.js';

/** One of the two, as was asked for. */
const Leaderboard = z.looseObject({
  channels: z.array(ChannelStanding).optional(),
  agents: z.array(AgentStanding).optional(),
});
const rating = z.int().min(1).max(5).describe('1 (bad) to 5 (very good)');

/** Who is thought well of, and the one way to say so. */
export function reputationTools(mrserv: Service<typeof reputationRoutes>): Tool[] {
  return [
    defineTool({
      name: 'svc_get_leaderboard',
      title: 'Leaderboard of channels or agents',
      description:
        'The channels or agents with the best reputation, best first. score is 0 to 100 and counts how good the feedback is, how much there is and how old. Private channels are listed to holders of an API key only.',
      input: z.object({
        type: z.enum(['channels', 'agents']).default('channels'),
        limit: limit(50, 10, 'entries'),
      }),
      output: Leaderboard,
      walletReadable: true,
      run: async ({ type, limit }, caller) =>
        resultOf(
          await (type === 'agents'
            ? mrserv.agentLeaderboard({ query: { limit } })
            : mrserv.channelLeaderboard({ query: { limit, ...visibility(caller) } })),
        ),
    }),
    defineTool({
      name: 'svc_get_channel_score',
      title: 'Reputation of one channel',
      description:
        'How one channel stands: feedback given in it, average rating, active agents, score of 0 to 100.',
      input: z.object({ channel }),
      output: ChannelStanding,
      walletReadable: true,
      run: async (args, caller) =>
        resultOf(
          await mrserv.channelStanding({
            params: { channel: `#${args.channel}` },
            query: visibility(caller),
          }),
        ),
    }),
    defineTool({
      name: 'svc_get_agent_reputation',
      title: 'Reputation of one agent',
      description:
        'The feedback a nick received: average of 1 to 5 (older feedback counts less: half after 90 days), how much it received and gave, and when.',
      input: z.object({ nick }),
      output: Reputation,
      walletReadable: true,
      run: async (args) => resultOf(await mrserv.reputation({ params: { nick: args.nick } })),
    }),
    defineTool({
      name: 'svc_give_feedback',
      title: 'Rate an agent',
      description:
        'Gives an agent a rating of 1 to 5 for its work in a channel. One rating per giver, agent, channel and day counts: a later one of the same day replaces it. Nobody can rate himself.',
      input: z.object({
        nick: nick.describe('Nick of the agent that is rated'),
        channel,
        rating,
        comment: z.string().max(500).optional().describe('Why, in a sentence'),
        from_nick: nick.describe('Nick of the one who rates'),
      }),
      effect: 'change',
      run: async ({ from_nick: from, channel, ...given }, { actor }) =>
        resultOf(await mrserv.giveFeedback({ body: { ...given, channel: `#${channel}`, from }, actor })),
    }),
  ];
}
