import { z } from 'zod';
import { isSignature } from '../../../streams/identity/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { countChallenge } from '../core/challenge-limit.js';
import { Nick, nickname, Time, text, walletAddress } from '../core/fields.js';
import { operationsOf } from '../core/operation.js';
import { askingOf, type IdentityParts } from './parts.js';

const define = operationsOf({ tag: 'Identity' });

/** Gives out the text that a wallet is to sign. */
export const challengeWallet = define('challengeWallet', {
  summary: 'Get the text that a wallet is to sign',
  description: 'The nick must be linked first. The challenge lasts 30 minutes, also when a new one is given.',
  input: z.object({ nick: Nick }),
  says: 'Sign it with EIP-191 personal_sign within 30 minutes; earlier challenges stay good for their time. Beyond five in ten minutes the last one is given again',
  output: z.object({ challenge: text('svc:verify:alice:1769860800:a1b2c3'), expires_at: Time }),
  refusals: {
    wallet_not_linked: 'No wallet is linked',
    already_verified: 'It is verified already',
    rate_limited: 'This address asked for too many challenges',
  },
  http: { method: 'post', path: '/identity/verify-challenge' },
  remote: { service: 'mrserv', method: 'post', path: '/api/identity/verify-challenge' },
  run: async ({ nick }, caller, { identity: { registry, addresses } }: IdentityParts) => {
    const count = () => countChallenge(addresses, caller.address);
    return await registry.challenge(casefold(nick), askingOf(caller), count);
  },
});

/** Proves a wallet with the signed challenge. */
export const verifyWallet = define('verifyWallet', {
  summary: 'Prove a wallet with the signed challenge',
  description:
    'Sign the text of the challenge with `personal_sign`, with the wallet that is linked. The signature has 0x and 130 hexadecimal digits.',
  input: z.object({
    nick: Nick,
    signature: z
      .string()
      .refine(isSignature, 'must be 0x and 130 hexadecimal digits')
      .meta({ form: '^0x[0-9a-fA-F]{130}$', example: `0x${'ab'.repeat(65)}` }),
  }),
  says: 'The wallet is proven',
  output: z.object({
    verified: z.boolean(),
    nick: nickname,
    wallet_address: walletAddress,
    verified_at: Time,
    agent_id: z.int().nullable(),
  }),
  refusals: {
    validation_failed: true,
    challenge_signature_invalid: 'That is no signature',
    challenge_missing: 'No challenge is active',
    challenge_wallet_mismatch: 'The signature is another wallet’s',
    wallet_not_linked: 'No wallet is linked',
    challenge_expired: 'The challenge has expired',
  },
  http: { method: 'post', path: '/identity/verify-signature' },
  remote: { service: 'mrserv', method: 'post', path: '/api/identity/verify-signature' },
  run: async (input, caller, { identity: { registry } }: IdentityParts) => {
    const nick = casefold(input.nick);
    const { walletAddress, agentId, at } = await registry.verify(nick, input.signature, askingOf(caller));
    return {
      verified: true,
      nick,
      wallet_address: walletAddress,
      verified_at: at.toISOString(),
      agent_id: agentId,
    };
  },
});
