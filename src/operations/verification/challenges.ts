import { createHash, randomBytes } from 'node:crypto';
import { type Log, Refusal, Unavailable } from '../../../streams/core/index.js';
import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { casefold } from '../../../streams/irc-grammar.js';
import {
  type Challenge,
  challengeMs,
  expiredMs,
  withChallenge,
} from '../../../streams/verification/index.js';
import type { SharedCount } from '../../stores/shared-counts.js';
import { ShortLived } from '../../stores/short-lived.js';

/** How many handles may have challenges at a time; those not requested for longest are forgotten first. */
const mostHandles = 10_000;
/** How often a change of a record is tried while others change it too. */
const tries = 10;

/** How many challenges one address may request in the lifetime of one, from all processes together. */
export const challengesOfAddress = 150;

/** Counts requests of networks: `challengesOfAddress` in the lifetime of a challenge. */
export interface AddressCounter {
  /** The part of an address that identifies its caller. */
  networkOf(address: string): string;
  take(network: string): Promise<SharedCount>;
}

/** Who is to prove a nickname by a post. */
export interface Claimant {
  nickname: string;
  socialHandle: string;
}

/**
 * Challenges that may still be answered. They are not facts: nobody has proven them. They are on the log
 * server for an hour at most, one record for each social handle. All processes see the same ones.
 */
export class Challenges {
  readonly #records: ShortLived;
  readonly #now: () => number;
  readonly #addresses: AddressCounter;
  /** One change of a handle's record at a time in this process, so that only other processes contend. */
  readonly #lock = new KeyedLock();

  constructor({ log, replicas, addresses }: { log: Log; replicas: number; addresses: AddressCounter }) {
    this.#addresses = addresses;
    this.#now = () => log.now().getTime();
    this.#records = new ShortLived(log, {
      name: 'RELAY_REGISTRATIONS',
      maxAgeMs: challengeMs + expiredMs,
      maxEntries: mostHandles,
      whenFull: 'forget',
      storage: 'disk',
      replicas,
    });
  }

  /**
   * A challenge for somebody at an address. Throws 429 `rate_limited` if the address has requested too many.
   */
  async issue({ nickname, socialHandle }: Claimant, address = ''): Promise<Challenge> {
    const network = this.#addresses.networkOf(address);
    const count = await this.#addresses.take(network);
    if (!count.allowed) {
      const message = `Too many challenges for this address: at most ${challengesOfAddress} in ${challengeMs / 60_000} minutes`;
      throw new Refusal('rate_limited', message, { retryAfter: count.resetSec });
    }
    const asked = { nickname, code: randomBytes(4).toString('hex'), from: placeOf(network) };
    return await this.#changed(socialHandle, (known) => {
      const { challenges, challenge, isNew } = withChallenge(known, asked, this.#now());
      return { answer: challenge, ...(isNew ? { challenges } : {}) };
    });
  }

  /** The challenge of somebody. Throws if there is no challenge, or it has expired by then. */
  async pending(who: Claimant, now: Date): Promise<Challenge> {
    const challenge = (await this.#read(who.socialHandle)).challenges.find(isOf(who));
    if (!challenge) throw new Refusal('no_pending_verification');
    return challenge.expiresAt > now.getTime() ? challenge : expired();
  }

  /** Removes a challenge that was answered. */
  async end(who: Claimant): Promise<void> {
    const isTheirs = isOf(who);
    await this.#changed(who.socialHandle, (known) => ({
      answer: undefined,
      challenges: known.filter((one) => !isTheirs(one)),
    }));
  }

  async #read(handle: string): Promise<{ challenges: Challenge[]; revision: number }> {
    const record = await this.#records.get(handle.toLowerCase());
    return {
      challenges: record ? (JSON.parse(record.text) as Challenge[]) : [],
      revision: record?.revision ?? 0,
    };
  }

  /** Changes the challenges of a handle in one step, safe with other processes. */
  async #changed<T>(
    handle: string,
    change: (known: Challenge[]) => { answer: T; challenges?: Challenge[] },
  ): Promise<T> {
    const key = handle.toLowerCase();
    return await this.#lock.run(key, async () => {
      for (let n = 0; n < tries; n++) {
        const known = await this.#read(key);
        const { answer, challenges } = change(known.challenges);
        if (!challenges) return answer;
        const put = await this.#records.put(key, JSON.stringify(challenges), known.revision);
        if (put === 'stored') return answer;
      }
      throw new Unavailable('log_contended');
    });
  }
}

const isOf =
  ({ nickname }: Claimant) =>
  (challenge: Challenge) =>
    challenge.nickname === casefold(nickname);

/** An address is private: only whether two are of one network counts. */
function placeOf(network: string): string {
  return createHash('sha256').update(network).digest('base64url').slice(0, 12);
}

function expired(): never {
  throw new Refusal('verification_expired');
}
