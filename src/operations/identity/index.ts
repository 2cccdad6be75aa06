import { identityCounts } from '../../../projections/identity/queries.js';
import { healthOf, ircStateView, secondsSince } from '../core/health.js';
import { defineOperation } from '../core/operation.js';
import { getLinkOfNick, getLinkOfWallet, linkWallet, listStandings, unlinkWallet } from './links.js';
import { lookUpIdentity } from './lookup.js';
import { type IdentityParts, readLinks } from './parts.js';
import { challengeWallet, verifyWallet } from './proofs.js';

/** How the identity service is. */
export const getIdentityHealth = defineOperation('getIdentityHealth', {
  remote: healthOf('mrserv'),
  run: async (_input, _caller, parts: IdentityParts) => {
    const irc = await parts.identity.irc().catch(() => undefined);
    const stats = await readLinks(parts, identityCounts).catch(() => undefined);
    return {
      status: irc?.connected ? 'ok' : 'degraded',
      irc: ircStateView(irc),
      ...(stats ? { stats } : {}),
      uptime: secondsSince(parts.startedAt),
    };
  },
});

/** Nicks, their wallets, and the proofs that they are theirs. */
export const identityOperations = [
  getLinkOfNick,
  getLinkOfWallet,
  listStandings,
  linkWallet,
  unlinkWallet,
  challengeWallet,
  verifyWallet,
  lookUpIdentity,
  getIdentityHealth,
];
