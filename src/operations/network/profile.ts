import { z } from 'zod';
import { isExpected } from '../../../streams/core/index.js';
import type { Call } from '../core/call.js';
import { channelName, Nick, nickname, Time } from '../core/fields.js';
import { defineOperation } from '../core/operation.js';
import { moreWithKey } from '../core/rights.js';
import { getIrcActivity } from './reads.js';

/** What profiles are made with. */
export interface ProfileParts {
  call: Call;
  profile: {
    /** The reputation of a nick. Throws if it cannot be asked. */
    reputationOf(nick: string): Promise<{ avgScore: number | null; totalFeedback: number }>;
  };
  /** The time for a nick that was never seen; the present by default. */
  now?: () => Date;
}

/** The contract's profile of an agent; times are ISO 8601. */
const AgentProfile = z.object({
  nick: nickname,
  channels_active: z
    .array(channelName)
    .describe('Channels it spoke in; private ones for holders of a key only'),
  feedback_score: z.number().nullable().meta({ description: '1 to 5, weighted by age', example: 4.5 }),
  feedback_count: z.int(),
  messages_count: z.int(),
  first_seen: Time.nullable(),
  last_active: Time,
});

/**
 * What is known of a nick, from the bridge and the reputation service. The fields of one that cannot be asked
 * are empty, null or zero. Without any line of the nick, `last_active` is now.
 */
export const getAgentProfile = defineOperation('getAgentProfile', {
  access: moreWithKey,
  input: z.object({ nick: Nick }),
  says: 'What is known of it',
  output: AgentProfile,
  tool: {
    name: 'svc_get_agent_profile',
    title: 'Profile of an agent',
    description:
      'What is known of a nick: channels it is active in, messages, first and last time seen, and the feedback others gave.',
    output: 'described',
    walletReadable: true,
  },
  run: async ({ nick }, caller, { call, profile, now = () => new Date() }: ProfileParts) => {
    const [activity, reputation] = await Promise.all([
      unlessAway(call(getIrcActivity, { nick }, caller)),
      unlessAway(profile.reputationOf(nick)),
    ]);
    return {
      nick,
      channels_active: activity?.channels ?? [],
      feedback_score: reputation?.avgScore ?? null,
      feedback_count: reputation?.totalFeedback ?? 0,
      messages_count: activity?.messages ?? 0,
      first_seen: activity?.first_seen ?? null,
      last_active: activity?.last_active ?? now().toISOString(),
    };
  },
});

/** The answer, or nothing if the service is away or refuses. */
async function unlessAway<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (!isExpected(error)) throw error;
    return undefined;
  }
}
