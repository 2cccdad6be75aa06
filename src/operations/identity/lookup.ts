import { z } from 'zod';
import { isExpected, Refusal, Unavailable } from '../../../streams/core/index.js';
import { nobody, parseInput } from '../core/call.js';
import { AnyNick } from '../core/fields.js';
import { defineOperation } from '../core/operation.js';
import { getLinkOfNick, getLinkOfWallet } from './links.js';
import type { IdentityParts } from './parts.js';

/**
 * The wallet of a nick or the nick of a wallet, for agents. A missing link or an unknown nick is an answer
 * too.
 */
export const lookUpIdentity = defineOperation('lookUpIdentity', {
  input: z.object({
    nick: AnyNick.optional(),
    wallet: z.string().optional().describe('Ethereum address, 0x and 40 hexadecimal digits'),
  }),
  tool: {
    name: 'svc_identity_lookup',
    title: 'Look up who a nick or a wallet is',
    description:
      'The Ethereum wallet that a nick is linked to, or the nick of a wallet. Give one of nick and wallet. A link alone proves nothing: GET /identity/by-nick has its level.',
    output: z.looseObject({
      nick: z.string().optional(),
      wallet: z.string().optional(),
      linked_at: z.string().optional().describe('ISO 8601'),
      error: z.string().optional(),
      status: z.int().optional(),
    }),
    walletReadable: true,
  },
  run: async ({ nick, wallet }, _caller, { call }: Pick<IdentityParts, 'call'>) => {
    if (nick === undefined && wallet === undefined)
      throw new Refusal('validation_failed', 'Give nick or wallet');
    try {
      const link =
        nick === undefined
          ? await call(getLinkOfWallet, parseInput(getLinkOfWallet.input, { address: wallet }), nobody)
          : await call(getLinkOfNick, parseInput(getLinkOfNick.input, { nick }), nobody);
      const { linked_at } = link;
      return nick === undefined
        ? { wallet: link.wallet_address, nick: link.nick, linked_at }
        : { nick: link.nick, wallet: link.wallet_address, linked_at };
    } catch (error) {
      if (!isExpected(error)) throw error;
      if (error.kind === 'unavailable')
        throw new Unavailable('upstream_unreachable', 'identity service unreachable');
      return { error: `HTTP ${error.status}`, status: error.status };
    }
  },
});
