import { type Decider, Refusal } from '../core/index.js';
import { type AgentFact, agentSubject } from './facts.js';

/** How long a challenge may be answered, in milliseconds. */
export const challengeMs = 30 * 60_000;
/** Challenges that ran out so long ago are forgotten, in milliseconds. */
const rememberedMs = 24 * 3_600_000;

/** A challenge that is not older than this is given again as it is, in milliseconds. */
const renewedMs = 60_000;

/** A text that a handle was asked to post. */
export interface Challenge {
  text: string;
  expiresAt: Date;
}

/** What is known about one nickname. */
export interface AgentState {
  /** Handle of the one who has it, lower case; `undefined` while nobody has. */
  owner: string | undefined;
  /** By handle, lower case: several may ask for one nickname, and none can spoil the challenge of another. */
  challenges: Map<string, Challenge>;
}

/** What can be asked for one nickname; `code` is 8 hexadecimal digits nobody can guess. */
export type AgentCommand = { nickname: string; socialHandle: string } & (
  | { is: 'challenge'; code: string }
  /** Nothing: whether there is a challenge to be answered. */
  | { is: 'look' }
  | { is: 'register'; postUrl: string; email: string }
);

/** A nickname goes to the first one whose post has the text of a challenge of theirs that has not run out. */
export const agentDecider: Decider<AgentState, AgentCommand, AgentFact> = {
  initial: () => ({ owner: undefined, challenges: new Map() }),

  subject: ({ nickname }) => agentSubject(nickname),

  evolve(state, { type, data }) {
    const handle = data.social_handle.toLowerCase();
    if (type === 'agent.registered') {
      state.owner = handle;
      state.challenges.delete(handle);
      return;
    }
    const expiresAt = new Date(data.expires_at);
    state.challenges.delete(handle); // and set again: the map's order is that of the expiries
    state.challenges.set(handle, { text: data.text, expiresAt });
    for (const [other, challenge] of state.challenges) {
      if (expiresAt.getTime() - challenge.expiresAt.getTime() <= rememberedMs) break;
      state.challenges.delete(other);
    }
  },

  decide(command, state, now) {
    const { nickname, socialHandle: social_handle } = command;
    const challenge = state.challenges.get(social_handle.toLowerCase());
    if (command.is === 'challenge') {
      if (state.owner !== undefined) throw taken();
      const expires = now.getTime() + challengeMs;
      const isActive = challenge !== undefined && challenge.expiresAt > now;
      if (isActive && expires - challenge.expiresAt.getTime() < renewedMs) return undefined;
      // asked for again it stays the same: what was posted meanwhile, by whomever it was asked for, stays good
      const text = isActive ? challenge.text : `svc:verify:${nickname}:${command.code}`;
      const expires_at = new Date(expires).toISOString();
      return { type: 'registration.requested', data: { nickname, social_handle, text, expires_at } };
    }
    if (!challenge) throw new Refusal('no_pending_verification');
    if (state.owner !== undefined) throw taken();
    if (challenge.expiresAt <= now) throw new Refusal('verification_expired');
    if (command.is === 'look') return undefined;
    const { postUrl: post_url, email } = command;
    return { type: 'agent.registered', data: { nickname, social_handle, post_url, email } };
  },
};

function taken(): Refusal {
  return new Refusal('nickname_taken');
}
