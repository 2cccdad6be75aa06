import { z } from 'zod';
import { identityCounts, linkOfNick, linkOfWallet } from '../../../projections/identity/queries.js';
import { type Position, Refusal } from '../../../streams/core/index.js';
import { isSignature, isWalletAddress, noWalletLinked } from '../../../streams/identity/index.js';
import { casefold, isNick } from '../../../streams/irc-grammar.js';
import type { Registry } from '../../../workers/identity/index.js';
import type { Input, Reply, Route, Service } from '../../remote/service.js';
import type { ReadModels } from '../../stores/read-models.js';
import { parseInput } from '../core/validation.js';
import { type IrcState, ircStateView } from '../network/irc-state.js';

export const identityRoutes = {
  byNick: { method: 'GET', path: '/api/identity/by-nick/:nick' },
  byWallet: { method: 'GET', path: '/api/identity/by-wallet/:address' },
  link: { method: 'POST', path: '/api/identity/link' },
  unlink: { method: 'DELETE', path: '/api/identity/link/:nick' },
  challenge: { method: 'POST', path: '/api/identity/verify-challenge' },
  verify: { method: 'POST', path: '/api/identity/verify-signature' },
  health: { method: 'GET', path: '/health' },
} as const satisfies Record<string, Route>;

/** What the identity service works with. */
export interface IdentityOptions {
  readModels: ReadModels;
  registry: Registry;
  /** State of the identity bot's connection, in whichever process it is. */
  irc: () => Promise<IrcState | undefined>;
  startedAt: Date;
}

const Nick = z
  .string()
  .refine(isNick, 'must be an IRC nick of 1 to 30 characters')
  .transform((nick) => casefold(nick));
const Wallet = z.string().refine(isWalletAddress, 'must be 0x and 40 hexadecimal digits');
const NickParams = z.object({ nick: Nick });
const WalletParams = z.object({ address: Wallet });
/** The contract’s body of a new link. */
export const LinkBody = z.object({ nick: Nick, wallet_address: Wallet });
/** The contract’s body of a request for a challenge. */
export const ChallengeBody = z.object({ nick: Nick });
/** The contract’s body of a signed challenge. */
export const VerifyBody = z.object({
  nick: Nick,
  signature: z.string().refine(isSignature, 'must be 0x and 130 hexadecimal digits'),
});

/** The identity service: links between nicks and wallets, and the proofs that they are theirs. */
export function createIdentity(options: IdentityOptions): Service<typeof identityRoutes> {
  const { readModels, registry } = options;
  const read = <T>(query: Parameters<typeof readModels.read<T>>[1], after?: Position) =>
    readModels.read('identity_links', query, after ?? registry.position);
  const asking = ({ actor = 'api' }: Input) => ({ by: actor, via: 'api' as const });

  return {
    byNick: async ({ params } = {}) => {
      const { nick } = parseInput(NickParams, params);
      const link = await read((sql, schema) => linkOfNick(sql, schema, nick));
      if (!link) throw noWalletLinked();
      return ok(link);
    },
    byWallet: async ({ params } = {}) => {
      const { address } = parseInput(WalletParams, params);
      const link = await read((sql, schema) => linkOfWallet(sql, schema, address));
      if (!link) throw new Refusal('nick_not_linked');
      return ok(link);
    },
    link: async (input = {}) => {
      const { nick, wallet_address } = parseInput(LinkBody, input.body);
      const { position } = await registry.link(nick, wallet_address, false, asking(input));
      const link = await read((sql, schema) => linkOfNick(sql, schema, nick), position);
      // who reads too late to see it, or after the next command, gets what was made
      return { status: 201, body: link ?? newLink(nick, wallet_address, new Date()) };
    },
    unlink: async (input = {}) => {
      const { nick } = parseInput(NickParams, input.params);
      await registry.unlink(nick, asking(input));
      return ok({ unlinked: true, nick });
    },
    challenge: async (input = {}) => {
      const { nick } = parseInput(ChallengeBody, input.body);
      const { challenge, expires_at } = await registry.challenge(nick, asking(input));
      return ok({ challenge, expires_at });
    },
    verify: async (input = {}) => {
      const { nick, signature } = parseInput(VerifyBody, input.body);
      const { walletAddress, agentId, at } = await registry.verify(nick, signature, asking(input));
      return ok({
        ...{ verified: true, nick, wallet_address: walletAddress },
        ...{ verified_at: at.toISOString(), agent_id: agentId },
      });
    },
    health: async () => {
      const irc = await options.irc().catch(() => undefined);
      const stats = await read(identityCounts).catch(() => undefined);
      return ok({
        status: irc?.connected ? 'ok' : 'degraded',
        irc: irc ? ircStateView(irc) : { connected: false, oper: false, nick: null },
        ...(stats ? { stats } : {}),
        uptime: Math.round((Date.now() - options.startedAt.getTime()) / 1000),
      });
    },
  };
}

const ok = (body: unknown): Reply => ({ status: 200, body });

function newLink(nick: string, wallet_address: string, at: Date) {
  const linked_at = at.toISOString();
  return { nick, wallet_address, verified: 0, linked_at, last_seen: linked_at, agent_id: null, level: 0 };
}
