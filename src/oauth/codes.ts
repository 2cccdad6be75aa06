import { createHash, randomBytes } from 'node:crypto';
import { type Log, Refusal, Unavailable } from '../../streams/core/index.js';
import type { Scope } from '../operations/core/caller.js';
import { ShortLived } from '../stores/short-lived.js';

/** What a person has said yes to, until the program comes for its key. No secret of anybody is in it. */
export interface Grant {
  clientId: string;
  redirectUri: string;
  challenge: string;
  resource: string;
  nick: string;
  wallet: string | null;
  scopes: Scope[];
  /** ISO 8601: when the key ends, at the latest. */
  keyEnds: string;
  /** Who said yes, as facts name it. */
  by: string;
  /** Id of the key that was shown in place of a wallet. */
  parent: string | undefined;
}

/** The key that a code has led to. */
export interface Given {
  nick: string;
  id: string;
}

/** What became of a code that somebody brought. */
export type Found =
  | { is: 'good'; grant: Grant; use(): Promise<boolean> }
  | { is: 'used' }
  | { is: 'unknown' };

/** `again`: somebody brought it once more before the key was made. */
type Kept = { grant: Grant; expires: string } | { gave: Given | null; again?: true };

/** How long a code may be used. */
export const codeSec = 60;
/** That one was used is known for so much longer, so that somebody who brings it again is noticed. */
const keptMs = 15 * 60_000;
const mostCodes = 10_000;

/** Codes that programs turn into keys, known in every process by their hashes. Each is used once. */
export class Codes {
  readonly #kept: ShortLived;
  readonly #now: () => Date;

  /** The log server's clock, unless said otherwise: all processes have the same one. */
  constructor({ log, replicas, now }: { log: Log; replicas: number; now?: () => Date }) {
    this.#now = now ?? (() => log.now());
    const bounds = { maxAgeMs: keptMs, maxEntries: mostCodes, whenFull: 'refuse' } as const;
    this.#kept = new ShortLived(log, {
      name: 'RELAY_OAUTH_CODES',
      description: 'Hashes of codes that programs turn into keys.',
      ...bounds,
      storage: 'memory',
      replicas,
    });
  }

  /** A new code. Throws 429 while too many are kept. */
  async make(grant: Grant): Promise<string> {
    const code = randomBytes(32).toString('base64url');
    const expires = new Date(this.#now().getTime() + codeSec * 1_000).toISOString();
    const put = await this.#put(code, { grant, expires }, 0);
    if (put === 'full')
      throw new Refusal('rate_limited', 'Too many people sign in now', { retryAfter: codeSec });
    return code;
  }

  /** Looks a code up. `use` makes it a used one, and says whether this caller was the first. */
  async find(code: string): Promise<Found> {
    const record = await answered(() => this.#kept.get(keyOf(code)));
    if (!record) return { is: 'unknown' };
    const kept = JSON.parse(record.text) as Kept;
    if (!('grant' in kept)) return { is: 'used' };
    if (Date.parse(kept.expires) <= this.#now().getTime()) return { is: 'unknown' };
    const use = async () => (await this.#put(code, { gave: null }, record.revision)) === 'stored';
    return { is: 'good', grant: kept.grant, use };
  }

  /** Notes which key a used code has led to; `false` if somebody brought the code again meanwhile. */
  async note(code: string, gave: Given): Promise<boolean> {
    for (;;) {
      const used = await this.#used(code);
      if (used?.again) return false;
      if ((await this.#put(code, { gave }, used?.revision)) !== 'conflict') return true;
    }
  }

  /** Notes that a used code was brought again: the key that it has led to. Without one yet, who makes it learns of it. */
  async again(code: string): Promise<Given | undefined> {
    for (;;) {
      const used = await this.#used(code);
      if (!used || used.gave || used.again) return used?.gave ?? undefined;
      if ((await this.#put(code, { gave: null, again: true }, used.revision)) !== 'conflict')
        return undefined;
    }
  }

  async #used(code: string): Promise<{ gave: Given | null; again?: true; revision: number } | undefined> {
    const record = await answered(() => this.#kept.get(keyOf(code)));
    const kept = record && (JSON.parse(record.text) as Kept);
    return kept && 'gave' in kept ? { ...kept, revision: record.revision } : undefined;
  }

  async #put(code: string, kept: Kept, after?: number): Promise<'stored' | 'conflict' | 'full'> {
    return await answered(() => this.#kept.put(keyOf(code), JSON.stringify(kept), after));
  }
}

/** What a code is known by: whoever reads the store has no code. */
const keyOf = (code: string) => createHash('sha256').update(code).digest('hex');

async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch {
    throw new Unavailable('log_unavailable');
  }
}
