import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';

/** A nick under the key by which nicks are compared. */
const nick = z.string();
/** `0x` and 40 hexadecimal digits, as it was given. */
const wallet_address = z.string();
/** ERC-8004 agent id. 0 is a real id; null means no id. */
const agent_id = z.int().nonnegative().nullable();
/**
 * Counts the changes of a link that others must be told: its verification, and each change of its agent id.
 */
const sync_version = z.int().nonnegative();

/** Who is who: nicks of the network and the wallets that belong to them, one to one. */
export const identity = defineStream({
  name: 'IDENTITY',
  description: 'Who is who: nicks of the network and the wallets that belong to them, one to one.',
  subjects: ['identity.>'],
  facts: {
    'identity.linked': z.object({
      nick,
      wallet_address,
      /** Whether the nick itself asked for it while it was identified with the nick service. */
      identified: z.boolean(),
    }),
    /** The identified nick has said the same as somebody else had said of it. */
    'identity.confirmed': z.object({ nick, wallet_address }),
    /** Of earlier versions: challenges are short-lived records now, because nobody has proven them. */
    'challenge.issued': z.object({
      nick,
      challenge: z.string(),
      /** ISO 8601. */
      expires_at: z.string(),
      via: z.enum(['api', 'irc']),
    }),
    /** A signature over the challenge came from the linked wallet. */
    'identity.verified': z.object({ nick, wallet_address, agent_id, sync_version }),
    /** Of earlier versions: a signature over IRC was not from the linked wallet. Such attempts are counted elsewhere now. */
    'verification.failed': z.object({
      nick,
      reason: z.enum(['signature_invalid', 'wallet_mismatch']),
      /** ISO 8601. */
      attempted_at: z.string(),
    }),
    'identity.agent_changed': z.object({ nick, wallet_address, agent_id, sync_version }),
    'identity.unlinked': z.object({ nick, wallet_address, sync_version }),
    /** The receiver of changes has taken one of the facts above. */
    'push.delivered': z.object({
      /** Sequence of the fact. */
      seq: z.int().positive(),
      nick,
      event_type: z.string(),
      attempts: z.int().positive(),
    }),
    'push.given_up': z.object({
      seq: z.int().positive(),
      nick,
      event_type: z.string(),
      attempts: z.int().nonnegative(),
      reason: z.string(),
    }),
  },
});

export type IdentityFact = FactOf<typeof identity>;

/**
 * Subject of all links. A nick has one wallet and a wallet one nick, which concerns all nicks and all
 * wallets. So everything about any of them is decided on one subject.
 */
export const registrySubject = 'identity.registry';

/** Subject of the results of telling others. All that is decided by it is what need not be told again. */
export const pushSubject = 'identity.pushes';
