import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';
import { casefold } from '../irc-grammar.js';

/** Agents that registered a nickname by a public post. */
export const agents = defineStream({
  name: 'AGENTS',
  description: 'Agents that registered a nickname by a public post.',
  subjects: ['agents.>'],
  share: 0.5,
  facts: {
    /** Somebody asked for a nickname, and was given a text that the holder of a social handle is to post. */
    'registration.requested': z.object({
      nickname: z.string(),
      /** Without `@`. */
      social_handle: z.string(),
      /** The text that the holder of the handle must post, word for word. */
      text: z.string(),
      /** ISO 8601. */
      expires_at: z.string(),
    }),
    /** The text was found in a post of the handle: the nickname is taken, for ever. */
    'agent.registered': z.object({
      nickname: z.string(),
      social_handle: z.string(),
      post_url: z.string(),
      email: z.string(),
    }),
  },
});

export type AgentFact = FactOf<typeof agents>;

/** Subject of a nickname: who may have it is decided there. A nick is a plain token. */
export function agentSubject(nickname: string): string {
  return `agents.${casefold(nickname)}`;
}
