import { randomBytes } from 'node:crypto';
import {
  type Challenge,
  challengesOf,
  type Link,
  type LinkChallenges,
  withChallenge,
} from '../../streams/identity/index.js';

/** Short-lived records that all processes share, each under a key of letters, digits, `-` and `_`. */
export interface ChallengeRecords {
  get(key: string): Promise<string | undefined>;
  /** Stores what a change makes of a record, in one step; `undefined` leaves it. */
  change(key: string, change: (text: string | undefined) => string | undefined): Promise<void>;
}

/**
 * Challenges that may still be answered, one record for each nick. They are not facts: nobody has proven them, and
 * anybody may ask for them.
 */
export class Challenges {
  readonly #records: ChallengeRecords;

  constructor(records: ChallengeRecords) {
    this.#records = records;
  }

  /** A challenge for a nick's link. */
  async issue(nick: string, { id: link }: Pick<Link, 'id'>, now: () => Date): Promise<Challenge> {
    const hex = randomBytes(3).toString('hex');
    let issued: Challenge | undefined;
    await this.#records.change(keyOf(nick), (text) => {
      const { record, challenge, isNew } = withChallenge(recordIn(text), { link, nick, hex }, now());
      issued = challenge;
      return isNew ? JSON.stringify(record) : undefined;
    });
    return issued!;
  }

  /** The challenges of a nick's link that are known, newest first. */
  async of(nick: string, { id }: Pick<Link, 'id'>): Promise<Challenge[]> {
    return challengesOf(recordIn(await this.#records.get(keyOf(nick))), id).toReversed();
  }
}

const keyOf = (nick: string): string => Buffer.from(nick).toString('base64url');

const recordIn = (text: string | undefined): LinkChallenges | undefined =>
  text === undefined ? undefined : (JSON.parse(text) as LinkChallenges);
