import { randomBytes } from 'node:crypto';
import { type Log, Refusal, Unavailable } from '../../../streams/core/index.js';
import { ShortLived } from '../../stores/short-lived.js';
import { type SignatureFault, signaturePolicy } from './policy.js';

/** How many nonces may be out at once. */
export const maxOutstanding = 10_000;
const ttlMs = signaturePolicy.nonceTtlSec * 1_000;
/** A nonce is known a little longer than it may be used, so that its holder learns what is wrong with it. */
const knownMs = ttlMs + 60_000;
/** That one was used is known for as long as it could be brought again, with room for clocks. */
const usedMs = 2 * knownMs;
/** Far above what can be used in that time: a store that is full refuses, and forgets nothing. */
const maxUsed = 1_000_000;

/** What nonces are kept with. */
export interface NoncesOptions {
  log: Log;
  replicas: number;
  /** The log server's clock, unless said otherwise: all processes have the same one. */
  now?: () => Date;
}

/**
 * Nonces that this service issues and that can be used once: by whichever process, and also after restarts of
 * everything. Throws 503 `nonce_store_unavailable` while the log server is away.
 */
export class Nonces {
  readonly #issued: ShortLived;
  readonly #used: ShortLived;
  readonly #now: () => Date;

  constructor({ log, replicas, now }: NoncesOptions) {
    const kept = { whenFull: 'refuse', storage: 'disk', replicas } as const;
    this.#issued = new ShortLived(log, {
      ...kept,
      name: 'RELAY_NONCES',
      description: 'Nonces for signed requests that were issued and not used.',
      maxAgeMs: knownMs,
      maxEntries: maxOutstanding,
    });
    this.#used = new ShortLived(log, {
      ...kept,
      name: 'RELAY_NONCES_USED',
      description: 'Nonces of signed requests that were used and must not be used again.',
      maxAgeMs: usedMs,
      maxEntries: maxUsed,
    });
    this.#now = now ?? (() => log.now());
  }

  /** A new nonce of 32 characters. Throws 429 `nonce_capacity` when too many are out. */
  async issue(): Promise<{ nonce: string; expiresAt: Date }> {
    const nonce = randomBytes(24).toString('base64url');
    const expiresAt = new Date(this.#now().getTime() + ttlMs);
    const put = await stored(() => this.#issued.put(nonce, expiresAt.toISOString(), 0));
    if (put === 'full') {
      throw new Refusal('nonce_capacity');
    }
    return { nonce, expiresAt };
  }

  /** Uses a nonce up for the signature of a key. Resolves with what is wrong with it: `undefined` when nothing is. */
  async use(nonce: string, keyid: string): Promise<SignatureFault | undefined> {
    if (!/^[A-Za-z0-9_-]{32}$/.test(nonce)) return 'nonce_unknown';
    return await stored(async () => {
      const issued = await this.#issued.get(nonce);
      if (!issued) return (await this.#used.get(nonce)) ? 'nonce_replayed' : 'nonce_unknown';
      if (this.#now().getTime() > Date.parse(issued.text)) return 'nonce_expired';
      // of all who got this far one is the first to write, and that is the use
      const put = await this.#used.put(nonce, keyid, 0);
      if (put === 'conflict') return 'nonce_replayed';
      if (put === 'full') throw new Error('the store of used nonces is full');
      // makes room for another, which nobody waits for; left alone it only ages, for it is known as used
      void this.#issued.remove(issued.revision).catch(() => {});
      return undefined;
    });
  }
}

async function stored<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch {
    throw new Unavailable('nonce_store_unavailable');
  }
}
