import { z } from 'zod';
import { type Description, nickParam, Time } from '../../openapi/description.js';
import { ChallengeBody, LinkBody, VerifyBody } from './service.js';

const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const Link = z
  .object({
    nick: z.string().describe('In lower case'),
    wallet_address: z.string(),
    verified: z.literal([0, 1]).describe('1: a signature of the wallet was verified'),
    linked_at: Time,
    last_seen: Time,
    level: z.int().min(0).max(3).describe('0 anonymous, 1 linked, 2 verified, 3 registered'),
    agent_id: z.int().nullable().describe('ERC-8004; 0 is a real one'),
  })
  .meta({ id: 'IdentityLink' });
const link = {
  nick: 'alice',
  wallet_address: address,
  verified: 1,
  linked_at: '2026-01-31T12:00:00.000Z',
  last_seen: '2026-01-31T12:30:00.000Z',
  level: 2,
  agent_id: null,
};

/** Links between nicks and wallets. */
export const identityOperations: Description[] = [
  {
    id: 'getLinkOfNick',
    method: 'get',
    path: '/identity/by-nick/{nick}',
    tag: 'Identity',
    summary: 'The wallet of a nick',
    params: { nick: nickParam },
    answers: { 200: { says: 'The link', body: { schema: Link, example: link } } },
    errors: { 400: 'That is no nick', 404: 'No wallet is linked' },
  },
  {
    id: 'getLinkOfWallet',
    method: 'get',
    path: '/identity/by-wallet/{address}',
    tag: 'Identity',
    summary: 'The nick of a wallet',
    params: { address: { schema: z.string(), example: address, says: 'Ethereum address, in any case' } },
    answers: { 200: { says: 'The link', body: { schema: Link, example: link } } },
    errors: { 400: 'That is no address', 404: 'No nick is linked' },
  },
  {
    id: 'linkWallet',
    method: 'post',
    path: '/identity/link',
    tag: 'Identity',
    access: 'key',
    summary: 'Link a nick and a wallet',
    description: 'Such a link confers nothing until the nick confirms it over IRC, identified.',
    body: { schema: LinkBody, example: { nick: 'alice', wallet_address: address } },
    answers: {
      201: { says: 'They are linked', body: { schema: Link, example: { ...link, verified: 0, level: 0 } } },
    },
    errors: { 409: 'Nick or wallet are linked already' },
  },
  {
    id: 'unlinkWallet',
    method: 'delete',
    path: '/identity/link/{nick}',
    tag: 'Identity',
    access: 'key or wallet',
    summary: 'Undo the link of a nick',
    description: 'With an API key, or signed by the linked wallet.',
    params: { nick: nickParam },
    answers: {
      200: {
        says: 'They are not linked any more',
        body: {
          schema: z.object({ unlinked: z.literal(true), nick: z.string() }),
          example: { unlinked: true, nick: 'alice' },
        },
      },
    },
    errors: { 400: 'That is no nick', 404: 'No wallet is linked' },
  },
  {
    id: 'challengeWallet',
    method: 'post',
    path: '/identity/verify-challenge',
    tag: 'Identity',
    summary: 'Get the text that a wallet is to sign',
    body: { schema: ChallengeBody, example: { nick: 'alice' } },
    answers: {
      200: {
        says: 'Sign it with EIP-191 personal_sign within 30 minutes; an earlier challenge is void. Beyond five in ten minutes the last one is given again',
        body: {
          schema: z.object({ challenge: z.string(), expires_at: Time }),
          example: {
            challenge: 'svc:verify:alice:1769860800:a1b2c3',
            expires_at: '2026-01-31T12:30:00.000Z',
          },
        },
      },
    },
    errors: { 404: 'No wallet is linked', 409: 'It is verified already' },
  },
  {
    id: 'verifyWallet',
    method: 'post',
    path: '/identity/verify-signature',
    tag: 'Identity',
    summary: 'Prove a wallet with the signed challenge',
    body: { schema: VerifyBody, example: { nick: 'alice', signature: `0x${'ab'.repeat(65)}` } },
    answers: {
      200: {
        says: 'The wallet is proven',
        body: {
          schema: z.object({
            verified: z.boolean(),
            nick: z.string(),
            wallet_address: z.string(),
            verified_at: Time,
            agent_id: z.int().nullable(),
          }),
          example: {
            verified: true,
            nick: 'alice',
            wallet_address: address,
            verified_at: '2026-01-31T12:10:00.000Z',
            agent_id: null,
          },
        },
      },
    },
    errors: {
      400: 'No signature, or no challenge that is active',
      401: 'The signature is another wallet’s',
      404: 'No wallet is linked',
      410: 'The challenge has expired',
    },
  },
];
