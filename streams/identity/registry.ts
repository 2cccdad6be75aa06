import { type Decider, Refusal } from '../core/index.js';
import { type Challenge, walletKey } from './challenge.js';
import { type IdentityFact, registrySubject } from './facts.js';

/** What is known of one nick's link. */
export interface Link {
  /** Another one for each link of a nick: the sequence of its fact. */
  id: number;
  /** As it was given. */
  walletAddress: string;
  /**
   * Whether the nick itself confirms the link: it was identified with the nick service when it made or
   * confirmed it.
   */
  identified: boolean;
  verified: boolean;
  agentId: number | null;
  syncVersion: number;
}

/** All links there are. */
export interface RegistryState {
  links: Map<string, Link>;
  /** Nicks by the keys of their wallets: the one that the wallet has signed for, or all that claim it. */
  nicks: Map<string, Set<string>>;
}

/** What can be asked of the registry; `nick` is casefolded. */
export type RegistryCommand = { nick: string } & (
  | /** Nothing: to see what there is. */ { is: 'look' }
  | {
      is: 'link';
      wallet_address: string /** The nick asks, identified with the nick service. */;
      identified: boolean;
    }
  | { is: 'unlink' }
  | /** Nothing is decided: whether the link may have a challenge, which is no fact. */ { is: 'challenge' }
  | /** Claims of others on the wallet end first, one with each decision: decide again until it is verified. */ {
      is: 'verify';
      /** Id of the link that the challenge was issued for. */
      link: number;
      /** The challenge from which the signer was recovered; absent where there was nothing to sign. */
      challenge: Challenge | undefined;
      /** Address of the signer; `undefined` for an invalid signature. */
      signer: string | undefined;
      agent_id: number | null;
    }
  | { is: 'note agent'; wallet_address: string; agent_id: number | null }
);

/**
 * Who is linked to which wallet: one wallet for a nick, and one nick for a wallet that has signed. Until then a
 * link is a claim, and other nicks may claim the wallet too.
 */
export const registryDecider: Decider<RegistryState, RegistryCommand, IdentityFact> = {
  initial: () => ({ links: new Map(), nicks: new Map() }),

  subject: () => registrySubject,

  evolve(state, { type, data }, seq = 0) {
    const link = state.links.get(data.nick);
    switch (type) {
      case 'identity.linked': {
        const { nick, wallet_address: walletAddress, identified } = data;
        const nothingYet = { verified: false, agentId: null, syncVersion: 0 };
        state.links.set(nick, { id: seq, walletAddress, identified, ...nothingYet });
        const key = walletKey(walletAddress);
        state.nicks.set(key, (state.nicks.get(key) ?? new Set()).add(nick));
        break;
      }
      case 'identity.confirmed':
        if (link) link.identified = true;
        break;
      case 'identity.verified':
        if (link)
          Object.assign(link, { verified: true, agentId: data.agent_id, syncVersion: data.sync_version });
        break;
      case 'identity.agent_changed':
        if (link) Object.assign(link, { agentId: data.agent_id, syncVersion: data.sync_version });
        break;
      case 'identity.unlinked': {
        state.links.delete(data.nick);
        const key = walletKey(data.wallet_address);
        const nicks = state.nicks.get(key);
        nicks?.delete(data.nick);
        if (nicks?.size === 0) state.nicks.delete(key);
        break;
      }
      case 'challenge.issued':
      case 'verification.failed':
        break; // of earlier versions: what nobody has proven is no fact any more
      case 'push.delivered':
      case 'push.given_up':
        break; // of another subject
    }
  },

  decide(command, state, now) {
    const { nick } = command;
    const link = state.links.get(nick);
    if (command.is === 'look') return undefined;
    if (command.is === 'link') return decideLink(command, link, state);
    if (command.is === 'note agent') {
      const { wallet_address, agent_id } = command;
      // the caller may have looked at a link that is gone by now
      if (!link?.verified || walletKey(link.walletAddress) !== walletKey(wallet_address)) return undefined;
      if (link.agentId === agent_id) return undefined;
      const sync_version = link.syncVersion + 1;
      const data = { nick, wallet_address: link.walletAddress, agent_id, sync_version };
      return { type: 'identity.agent_changed', data };
    }
    if (!link) throw noWalletLinked();
    switch (command.is) {
      case 'unlink':
        return unlinked(nick, link);
      case 'challenge':
        if (link.verified) throw new Refusal('already_verified');
        return undefined;
      case 'verify':
        return decideVerification(command, link, state, now);
    }
  },
};

/**
 * How far a link can be trusted: 0 nothing, 1 linked, 2 verified, 3 registered. It is 0 unless the nick
 * itself confirms it.
 */
export function levelOf(link: Pick<Link, 'identified' | 'verified' | 'agentId'>): 0 | 1 | 2 | 3 {
  if (!link.identified) return 0;
  if (!link.verified) return 1;
  return link.agentId === null ? 2 : 3;
}

/** The error of everything that needs a link of a nick. */
export function noWalletLinked(): Refusal {
  return new Refusal('wallet_not_linked');
}

/** A nick, and its link with a wallet. */
interface Claim {
  nick: string;
  link: Readonly<Link>;
}

/** All links with a wallet: that of the nick that it has signed for, or those that claim it. */
function claimsOn(wallet: string, { nicks, links }: Readonly<RegistryState>): Claim[] {
  return [...(nicks.get(walletKey(wallet)) ?? [])].map((nick) => ({ nick, link: links.get(nick)! }));
}

function unlinked(nick: string, { walletAddress, syncVersion }: Readonly<Link>): IdentityFact {
  const data = { nick, wallet_address: walletAddress, sync_version: syncVersion };
  return { type: 'identity.unlinked', data };
}

/**
 * A claim keeps no nick from a wallet that has not signed. Only the API refuses a second link with one, while
 * neither nick has said anything itself.
 */
function decideLink(
  { nick, wallet_address, identified }: RegistryCommand & { is: 'link' },
  link: Readonly<Link> | undefined,
  state: Readonly<RegistryState>,
): IdentityFact | undefined {
  const isSame = link !== undefined && walletKey(link.walletAddress) === walletKey(wallet_address);
  if (isSame && identified) {
    const data = { nick, wallet_address: link.walletAddress };
    return link.identified ? undefined : { type: 'identity.confirmed', data };
  }
  if (link) throw new Refusal('nick_linked');
  const excludes = ({ link }: Claim) => link.verified || !(identified || link.identified);
  if (claimsOn(wallet_address, state).some(excludes)) throw new Refusal('wallet_linked');
  return { type: 'identity.linked', data: { nick, wallet_address, identified } };
}

function decideVerification(
  { nick, link: id, challenge, signer, agent_id }: RegistryCommand & { is: 'verify' },
  link: Readonly<Link>,
  state: Readonly<RegistryState>,
  now: Date,
): IdentityFact {
  // a challenge is used once, and dies with its link
  if (!challenge || link.verified || link.id !== id) throw new Refusal('challenge_missing');
  if (challenge.expiresAt <= now.getTime()) throw new Refusal('challenge_expired');
  if (signer === undefined) throw new Refusal('challenge_signature_invalid');
  const { walletAddress: wallet_address } = link;
  if (walletKey(signer) !== walletKey(wallet_address)) throw new Refusal('challenge_wallet_mismatch');
  const other = claimsOn(wallet_address, state).find((claim) => claim.nick !== nick);
  if (other) return unlinked(other.nick, other.link);
  const sync_version = link.syncVersion + 1;
  return { type: 'identity.verified', data: { nick, wallet_address, agent_id, sync_version } };
}
