import { createHash, randomBytes } from 'node:crypto';
import { type Log, Refusal, Unavailable } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
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

/** A code that may still be used, known by its hash. */
interface Open {
  hash: string;
  grant: Grant;
  /** ISO 8601. */
  expires: string;
}

/** A code that was used. `again`: somebody brought it once more before the key was made. */
interface Used {
  gave: Given | null;
  again?: true;
}

/** How long a code may be used. */
export const codeSec = 60;
/** So many codes of one nick may be used at a time. */
export const openCodes = 5;
/** That one was used is known for so long, so that somebody who brings it again is noticed. */
const keptMs = 15 * 60_000;
const mostCodes = 10_000;

/** What a code looks like: the place that it is kept in, and a secret. */
const codeGrammar = /^([\w-]{22}-\d)\.[\w-]{43}$/;

/**
 * Codes that programs turn into keys, known in every process by their hashes. Each is used once. Each nick has a few places
 * for them, so that nobody fills the store: where all are taken, a new code takes the place of the oldest.
 */
export class Codes {
  readonly #open: ShortLived;
  readonly #used: ShortLived;
  readonly #now: () => Date;

  /** The log server's clock, unless said otherwise: all processes have the same one. */
  constructor({ log, replicas, now }: { log: Log; replicas: number; now?: () => Date }) {
    this.#now = now ?? (() => log.now());
    const bounds = { maxEntries: mostCodes, storage: 'memory', replicas } as const;
    this.#open = new ShortLived(log, {
      name: 'RELAY_OAUTH_CODES',
      description: 'Hashes of codes that programs turn into keys.',
      ...bounds,
      maxAgeMs: codeSec * 1_000,
      whenFull: 'refuse',
    });
    this.#used = new ShortLived(log, {
      name: 'RELAY_OAUTH_USED',
      description: 'Hashes of codes that programs have turned into keys.',
      ...bounds,
      maxAgeMs: keptMs,
      // a used code is good for nothing, also where nobody knows that it was used
      whenFull: 'forget',
    });
  }

  /** A new code. Throws 429 while too many are kept. */
  async make(grant: Grant): Promise<string> {
    for (;;) {
      const { key, revision } = await this.#placeOf(grant.nick);
      const code = `${key}.${randomBytes(32).toString('base64url')}`;
      const expires = new Date(this.#now().getTime() + codeSec * 1_000).toISOString();
      const open: Open = { hash: hashOf(code), grant, expires };
      const put = await answered(() => this.#open.put(key, JSON.stringify(open), revision));
      if (put === 'stored') return code;
      if (put === 'full')
        throw new Refusal('rate_limited', 'Too many people sign in now', { retryAfter: codeSec });
    }
  }

  /** Looks a code up. `use` makes it a used one, and says whether this caller was the first. */
  async find(code: string): Promise<Found> {
    const key = codeGrammar.exec(code)?.[1];
    if (key === undefined) return { is: 'unknown' };
    const record = await answered(() => this.#open.get(key));
    // in this order: a code is noted as used before it leaves its place
    if (await this.#useOf(code)) return { is: 'used' };
    if (!record) return { is: 'unknown' };
    const { hash, grant, expires } = JSON.parse(record.text) as Open;
    if (hash !== hashOf(code) || Date.parse(expires) <= this.#now().getTime()) return { is: 'unknown' };
    const use = async () => {
      const isFirst = (await this.#note(code, { gave: null }, 0)) !== 'conflict';
      // where it cannot leave its place now, it is still known as used
      if (isFirst) await this.#open.remove(record.revision).catch(() => {});
      return isFirst;
    };
    return { is: 'good', grant, use };
  }

  /** Notes which key a used code has led to; `false` if somebody brought the code again meanwhile. */
  async note(code: string, gave: Given): Promise<boolean> {
    for (;;) {
      const used = await this.#useOf(code);
      if (used?.again) return false;
      if ((await this.#note(code, { gave }, used?.revision)) !== 'conflict') return true;
    }
  }

  /** Notes that a used code was brought again: the key that it has led to. Without one yet, who makes it learns of it. */
  async again(code: string): Promise<Given | undefined> {
    for (;;) {
      const used = await this.#useOf(code);
      if (!used || used.gave || used.again) return used?.gave ?? undefined;
      if ((await this.#note(code, { gave: null, again: true }, used.revision)) !== 'conflict')
        return undefined;
    }
  }

  /** Where a new code of a nick is kept: in a free place, else in that of the oldest one. */
  async #placeOf(nick: string): Promise<{ key: string; revision: number }> {
    // this hides no nick: whoever gets a code learns it with the key
    const owner = createHash('sha256').update(casefold(nick)).digest('base64url').slice(0, 22);
    const places = Array.from({ length: openCodes }, async (_, n) => {
      const key = `${owner}-${n}`;
      return { key, revision: (await answered(() => this.#open.get(key)))?.revision ?? 0 };
    });
    return (await Promise.all(places)).reduce((a, b) => (b.revision < a.revision ? b : a));
  }

  async #useOf(code: string): Promise<(Used & { revision: number }) | undefined> {
    const record = await answered(() => this.#used.get(hashOf(code)));
    return record && { ...(JSON.parse(record.text) as Used), revision: record.revision };
  }

  async #note(code: string, used: Used, after?: number): Promise<'stored' | 'conflict' | 'full'> {
    return await answered(() => this.#used.put(hashOf(code), JSON.stringify(used), after));
  }
}

/** What a code is known by: whoever reads the store has no code. */
const hashOf = (code: string) => createHash('sha256').update(code).digest('hex');

async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch {
    throw new Unavailable('log_unavailable');
  }
}
