import { type Decider, Refusal } from '../core/index.js';
import { type AgentFact, agentSubject } from './facts.js';

/** What is known about one nickname. */
export interface AgentState {
  /** Handle of the one who has it, lower case; `undefined` while nobody has. */
  owner: string | undefined;
}

/** What can be asked for one nickname. */
export type AgentCommand = { nickname: string } & (
  | {
      /** Nothing: whether anybody can still have it. */
      is: 'look';
    }
  | { is: 'register'; socialHandle: string; postUrl: string; email: string }
);

/** A nickname goes to the first one who has posted what they were asked to. */
export const agentDecider: Decider<AgentState, AgentCommand, AgentFact> = {
  initial: () => ({ owner: undefined }),

  subject: ({ nickname }) => agentSubject(nickname),

  evolve(state, { type, data }) {
    // requests are no facts any more: older records hold nothing that is still good
    if (type === 'agent.registered') state.owner = data.social_handle.toLowerCase();
  },

  decide(command, state) {
    if (state.owner !== undefined) throw new Refusal('nickname_taken');
    if (command.is === 'look') return undefined;
    const { nickname, socialHandle: social_handle, postUrl: post_url, email } = command;
    return { type: 'agent.registered', data: { nickname, social_handle, post_url, email } };
  },
};
