import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { StoredKey } from '../../projections/keys.js';
import { boundedCache, isExpected, Refusal } from '../../streams/core/index.js';
import { walletKey } from '../../streams/identity/index.js';
import { type AgentCaller, scopes } from '../operations/core/caller.js';
import { type AddressCount, AddressLimit } from './address-limit.js';
import { provenLevel } from './nick-wallets.js';

const idLetters = 'abcdefghijkmnpqrstuvwxyz23456789';
const actorGrammar = /^agent:[^:]+:([a-z2-9]{12})$/;
const keyGrammar = /^rak_([a-z2-9]{12})_[A-Za-z0-9_-]{43}$/;
/** How long a link that was looked up is cached, in milliseconds, and for how many nicks. */
const linkMs = 1_000;
const mostLinks = 5_000;

/** Whether a credential is the key of an agent, or would be one. */
export const isAgentKey = (text: string): boolean => text.startsWith('rak_');

/** A new key of an agent: an id, then 256 random bits. */
export function newAgentKey(): { id: string; key: string; hash: string } {
  const id = [...randomBytes(12)].map((byte) => idLetters[byte % idLetters.length]).join('');
  const key = `rak_${id}_${randomBytes(32).toString('base64url')}`;
  return { id, key, hash: hashOf(key) };
}

/** The id of the agent key with this name in facts (`actor` of callers); `undefined` for any other actor. */
export function agentKeyOf(actor: string): string | undefined {
  return actorGrammar.exec(actor)?.[1];
}

/** The wallet of a nick, and how far both are proven. */
export interface NickLink {
  wallet_address: string;
  level: number;
}

/** What keys of agents are checked with. */
export interface AgentKeysOptions {
  /** The key with an id, as it is now; `undefined` if it does not exist or was removed. */
  find(id: string): Promise<StoredKey | undefined>;
  /** Throws 404 without any. */
  linkOf(nick: string): Promise<NickLink>;
  now(): Date;
  /**
   * Requests a minute of one key, and of one nick with all its keys; 0 lifts either limit. Counted in this
   * process.
   */
  perMinute: { key: number; nick: number };
}

/** Tells whose agent key a request carries, and counts its requests. */
export class AgentKeys {
  readonly #options: AgentKeysOptions;
  readonly #links = boundedCache<string, Promise<NickLink | undefined>>(mostLinks, { ttl: linkMs });
  readonly #ofKey: AddressLimit | undefined;
  readonly #ofNick: AddressLimit | undefined;

  constructor(options: AgentKeysOptions) {
    this.#options = options;
    const { key, nick } = options.perMinute;
    this.#ofKey = key > 0 ? new AddressLimit(key) : undefined;
    this.#ofNick = nick > 0 ? new AddressLimit(nick) : undefined;
  }

  /** The holder of a key. Throws a 401 that says what is wrong with it. */
  async identify(text: string): Promise<AgentCaller> {
    const id = keyGrammar.exec(text)?.[1];
    const found = id === undefined ? undefined : await this.#options.find(id);
    if (!found || !isHash(found.hash, hashOf(text))) throw new Refusal('api_key_invalid');
    if (Date.parse(found.expires_at) <= this.#options.now().getTime()) throw new Refusal('api_key_expired');
    const { nick, wallet } = found;
    const link = await this.#linkOf(nick);
    const proven = link && link.level >= provenLevel ? walletKey(link.wallet_address) : null;
    // the owner who proves a nick later may be another one than at the issue of the key
    if (proven !== wallet) throw new Refusal('api_key_void');
    return {
      is: 'agent',
      actor: `agent:${nick}:${found.id}`,
      key: found.id,
      nick,
      wallet,
      scopes: scopes.filter((scope) => found.scopes.includes(scope)),
    };
  }

  /** Counts requests of a caller. Answers the headers with its limits; throws a 429 beyond them. */
  count({ key, nick }: AgentCaller, requests = 1): { headers: Record<string, string>; refused?: Refusal } {
    let narrowest: (AddressCount & { most: number }) | undefined;
    for (const [limit, name] of [
      [this.#ofKey, key],
      [this.#ofNick, nick],
    ] as const) {
      for (let n = 0; limit && n < requests; n++) {
        const count = { ...limit.count(name), most: limit.most };
        if (!narrowest || count.remaining < narrowest.remaining || !count.allowed) narrowest = count;
      }
    }
    if (!narrowest) return { headers: {} };
    const { most, allowed, remaining, resetSec } = narrowest;
    const headers = {
      'x-ratelimit-limit': String(most),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-reset': String(resetSec),
    };
    if (allowed) return { headers };
    const text = `Too many requests with this key or for this nick: at most ${most} a minute`;
    return { headers, refused: new Refusal('rate_limited', text, { retryAfter: resetSec }) };
  }

  async #linkOf(nick: string): Promise<NickLink | undefined> {
    const known = this.#links.get(nick);
    if (known) return await known;
    const asked = this.#options.linkOf(nick).catch((error: unknown) => {
      if (isExpected(error) && error.status === 404) return undefined;
      this.#links.delete(nick);
      throw error;
    });
    this.#links.set(nick, asked);
    return await asked;
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

const isHash = (known: string, given: string): boolean =>
  known.length === given.length && timingSafeEqual(Buffer.from(known), Buffer.from(given));
