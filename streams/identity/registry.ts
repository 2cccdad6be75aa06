import { type Decider, Refusal } from '../core/index.js';
import { type Attempts, attemptAt, untilNextAttempt } from './attempts.js';
import { challengeLimit, challengeMs, challengeText, walletKey } from './challenge.js';
import { type IdentityFact, registrySubject } from './facts.js';

/** A text that a wallet may sign until it expires. Times are in milliseconds since 1970. */
export interface LiveChallenge {
  text: string;
  expiresAt: number;
}

/** The newest one. */
export interface Challenge extends LiveChallenge {
  /** When it and those before it were issued, oldest first; as many as the limit needs. */
  issuedAt: number[];
}

/** What is known of one nick's link. */
export interface Link {
  /** As it was given. */
  walletAddress: string;
  /**
   * Whether the nick itself confirms the link: it was identified with the nick service when it made or
   * confirmed it.
   */
  identified: boolean;
  verified: boolean;
  challenge: Challenge | undefined;
  /** Earlier challenges, oldest first. Anybody may ask for a new one, and that must not void the owner's. */
  earlier: readonly LiveChallenge[];
  agentId: number | null;
  syncVersion: number;
}

/** All links there are. */
export interface RegistryState {
  links: Map<string, Link>;
  /** Nicks by the keys of their wallets: the one that the wallet has signed for, or all that claim it. */
  nicks: Map<string, Set<string>>;
  /** Recent attempts of nicks over IRC. An unlink does not erase them. */
  attempts: Map<string, Attempts>;
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
  | /** Nothing is decided when the answer is the present challenge again. */ {
      is: 'challenge';
      via: 'api' | 'irc';
      /** Six random hexadecimal digits. */
      hex: string;
    }
  | /** Claims of others on the wallet end first, one with each decision: decide again until it is verified. */ {
      is: 'verify';
      via: 'api' | 'irc';
      /**
       * The text of the challenge from which the signer was recovered; absent where there was nothing to
       * sign.
       */
      challenge: string | undefined;
      /** Address of the signer; `undefined` for an invalid signature. */
      signer: string | undefined;
      agent_id: number | null;
    }
  | { is: 'note agent'; wallet_address: string; agent_id: number | null }
);

/** More than can be issued over the API while one is valid. */
const mostLive = challengeLimit.count * Math.ceil(challengeMs / challengeLimit.inMs) + 1;

/**
 * Who is linked to which wallet: one wallet for a nick, and one nick for a wallet that has signed. Until then a
 * link is a claim, and other nicks may claim the wallet too.
 */
export const registryDecider: Decider<RegistryState, RegistryCommand, IdentityFact> = {
  initial: () => ({ links: new Map(), nicks: new Map(), attempts: new Map() }),

  subject: () => registrySubject,

  evolve(state, { type, data }) {
    const link = state.links.get(data.nick);
    switch (type) {
      case 'identity.linked': {
        const { nick, wallet_address: walletAddress, identified } = data;
        const nothingYet = {
          verified: false,
          challenge: undefined,
          earlier: [],
          agentId: null,
          syncVersion: 0,
        };
        state.links.set(nick, { walletAddress, identified, ...nothingYet });
        const key = walletKey(walletAddress);
        state.nicks.set(key, (state.nicks.get(key) ?? new Set()).add(nick));
        break;
      }
      case 'identity.confirmed':
        if (link) link.identified = true;
        break;
      case 'challenge.issued': {
        const expiresAt = Date.parse(data.expires_at);
        const at = expiresAt - challengeMs;
        if (link) {
          const issuedAt = [...(link.challenge?.issuedAt ?? []), at].slice(-challengeLimit.count);
          if (link.challenge) {
            const { text, expiresAt } = link.challenge;
            link.earlier = [...link.earlier, { text, expiresAt }];
          }
          link.earlier = link.earlier.filter((one) => one.expiresAt > at).slice(-mostLive);
          link.challenge = { text: data.challenge, expiresAt, issuedAt };
        }
        if (data.via === 'irc') attemptAt(state.attempts, data.nick, 'challenge', at);
        break;
      }
      case 'verification.failed':
        attemptAt(state.attempts, data.nick, 'signature', Date.parse(data.attempted_at));
        break;
      case 'identity.verified':
        if (link) Object.assign(link, { verified: true, challenge: undefined, earlier: [] });
        if (link) Object.assign(link, { agentId: data.agent_id, syncVersion: data.sync_version });
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
      case 'challenge': {
        if (link.verified) throw new Refusal('already_verified');
        const { via, hex } = command;
        if (via === 'irc') refuseTooMany(state, nick, 'challenge', now);
        // anybody may ask the API, and that must not fill the log
        if (link.challenge && standsStill(link.challenge, now)) return undefined;
        const expires_at = new Date(now.getTime() + challengeMs).toISOString();
        const challenge = challengeText(nick, now, hex);
        return { type: 'challenge.issued', data: { nick, challenge, expires_at, via } };
      }
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

/** Challenges of a link that may still be answered, as far as is known, newest first. */
export function liveChallenges({ challenge, earlier }: Pick<Link, 'challenge' | 'earlier'>): LiveChallenge[] {
  return challenge ? [challenge, ...earlier.toReversed()] : [];
}

/** The error of everything that needs a link of a nick. */
export function noWalletLinked(): Refusal {
  return new Refusal('wallet_not_linked');
}

/** The error that a recorded failure of a verification is answered with. */
export function verificationRefusal(reason: 'signature_invalid' | 'wallet_mismatch'): Refusal {
  return reason === 'signature_invalid'
    ? new Refusal('challenge_signature_invalid')
    : new Refusal('challenge_wallet_mismatch');
}

/** Whether a challenge was replaced so often lately that it is given again, and is still valid. */
function standsStill({ expiresAt, issuedAt }: Readonly<Challenge>, now: Date): boolean {
  const [oldest = 0] = issuedAt;
  const isFull = issuedAt.length === challengeLimit.count;
  return isFull && oldest + challengeLimit.inMs > now.getTime() && expiresAt > now.getTime();
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
  { nick, via, challenge, signer, agent_id }: RegistryCommand & { is: 'verify' },
  link: Readonly<Link>,
  state: Readonly<RegistryState>,
  now: Date,
): IdentityFact {
  if (via === 'irc') refuseTooMany(state, nick, 'signature', now);
  const active = liveChallenges(link).find(({ text }) => text === challenge);
  // a challenge that was answered during the check of the signature is not active either
  if (!active) throw new Refusal('challenge_missing');
  if (active.expiresAt <= now.getTime()) throw new Refusal('challenge_expired');
  const { walletAddress: wallet_address } = link;
  if (signer === undefined || walletKey(signer) !== walletKey(wallet_address)) {
    const reason = signer === undefined ? 'signature_invalid' : 'wallet_mismatch';
    // anybody may ask the API, and that must not fill the log
    if (via === 'api') throw verificationRefusal(reason);
    return { type: 'verification.failed', data: { nick, reason, attempted_at: now.toISOString() } };
  }
  const other = claimsOn(wallet_address, state).find((claim) => claim.nick !== nick);
  if (other) return unlinked(other.nick, other.link);
  const sync_version = link.syncVersion + 1;
  return { type: 'identity.verified', data: { nick, wallet_address, agent_id, sync_version } };
}

function refuseTooMany(state: Readonly<RegistryState>, nick: string, what: keyof Attempts, now: Date): void {
  const waitMs = untilNextAttempt(state.attempts, nick, what, now.getTime());
  if (waitMs === 0) return;
  const retryAfter = Math.ceil(waitMs / 1000);
  throw new Refusal('rate_limited', 'Too many attempts to verify', { retryAfter });
}
