import type { IrcActivity } from '../../../projections/network/queries.js';
import { isExpected } from '../../../streams/core/index.js';
import type { Reply, Service } from '../../remote/service.js';
import { nobody } from '../core/caller.js';
import { NickInput } from '../core/names.js';
import type { Call } from '../core/operation.js';
import { parseInput } from '../core/validation.js';
import { getReputation } from '../reputation/index.js';
import type { ircReadRoutes } from './service.js';

/** The contract's profile of an agent; times are ISO 8601. */
export interface AgentProfile {
  nick: string;
  /** Channels it spoke in, as far as they are recorded; private ones only for those who may see them. */
  channels_active: string[];
  feedback_score: number | null;
  feedback_count: number;
  messages_count: number;
  first_seen: string | null;
  last_active: string;
}

/** Where a profile comes from. */
export interface ProfileSources {
  bridge: Pick<Service<typeof ircReadRoutes>, 'activity'>;
  call: Call;
}

/**
 * What is known of a nick, from the bridge and the reputation service. The fields of one that cannot be asked are
 * empty, null or zero; without any line of the nick, `last_active` is `now`. Throws a 400 for what is no nick.
 */
export async function agentProfile(
  { bridge, call }: ProfileSources,
  asked: { nick: string; withPrivate: boolean; now: Date },
): Promise<AgentProfile> {
  const { nick } = parseInput(NickInput, asked);
  const params = { nick };
  const [activity, reputation] = await Promise.all([
    answered<IrcActivity>(bridge.activity({ params, query: asked.withPrivate ? { private: 'true' } : {} })),
    unlessAway(call(getReputation, { nick }, nobody)),
  ]);
  return {
    nick,
    channels_active: activity?.channels ?? [],
    feedback_score: reputation?.avgScore ?? null,
    feedback_count: reputation?.totalFeedback ?? 0,
    messages_count: activity?.messages ?? 0,
    first_seen: activity?.first_seen ?? null,
    last_active: activity?.last_active ?? asked.now.toISOString(),
  };
}

/** The body of an answer, or nothing when the service is away or refuses. */
async function answered<T>(reply: Promise<Reply>): Promise<T | undefined> {
  try {
    const { status, body } = await reply;
    return status === 200 ? (body as T) : undefined;
  } catch (error) {
    if (!isExpected(error)) throw error;
    return undefined;
  }
}

/** What is known, or nothing when the service is away or refuses. */
async function unlessAway<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (!isExpected(error)) throw error;
    return undefined;
  }
}
