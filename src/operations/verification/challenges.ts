import { createHash, randomBytes } from 'node:crypto';
import { type Log, Refusal } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import {
  type Challenge,
  challengeMs,
  expiredMs,
  withChallenge,
} from '../../../streams/verification/index.js';
import { SharedRecords } from '../../stores/shared-records.js';
import { type AddressCounter, countChallenge } from '../core/challenge-limit.js';

/** How many handles may have challenges at a time; those not requested for longest are forgotten first. */
const mostHandles = 10_000;

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
  readonly #records: SharedRecords;
  readonly #now: () => number;
  readonly #addresses: AddressCounter;

  constructor({ log, replicas, addresses }: { log: Log; replicas: number; addresses: AddressCounter }) {
    this.#addresses = addresses;
    this.#now = () => log.now().getTime();
    this.#records = new SharedRecords(log, {
      name: 'RELAY_REGISTRATIONS',
      description: 'Challenges of registrations that wait for their post.',
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
  async issue({ nickname, socialHandle }: Claimant, address?: string): Promise<Challenge> {
    const network = await countChallenge(this.#addresses, address);
    const asked = { nickname, code: randomBytes(4).toString('hex'), from: placeOf(network) };
    let issued: Challenge | undefined;
    await this.#change(socialHandle, (known) => {
      const { challenges, challenge, isNew } = withChallenge(known, asked, this.#now());
      issued = challenge;
      return isNew ? challenges : undefined;
    });
    return issued!;
  }

  /** The challenge of somebody. Throws if there is no challenge, or it has expired by then. */
  async pending(who: Claimant, now: Date): Promise<Challenge> {
    const challenge = challengesIn(await this.#records.get(keyOf(who.socialHandle))).find(isOf(who));
    if (!challenge) throw new Refusal('no_pending_verification');
    return challenge.expiresAt > now.getTime() ? challenge : expired();
  }

  /** Removes a challenge that was answered. */
  async end(who: Claimant): Promise<void> {
    const isTheirs = isOf(who);
    await this.#change(who.socialHandle, (known) => known.filter((one) => !isTheirs(one)));
  }

  /** Changes the challenges of a handle in one step, safe with other processes; `undefined` leaves them. */
  async #change(handle: string, change: (known: Challenge[]) => Challenge[] | undefined): Promise<void> {
    await this.#records.change(keyOf(handle), (text) => {
      const challenges = change(challengesIn(text));
      return challenges && JSON.stringify(challenges);
    });
  }
}

const keyOf = (handle: string): string => handle.toLowerCase();

const challengesIn = (text: string | undefined): Challenge[] =>
  text === undefined ? [] : (JSON.parse(text) as Challenge[]);

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
