import { boundedCache } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { Speaker } from './requests.js';

/** Nicks whose owners are known. */
const mostOwners = 10_000;

/** Who last asked for something under each nick. Whoever proves a nick has it, and the person before has it no more. */
export class Owners {
  readonly #owners = boundedCache<string, { person: string; asked: Date }>(mostOwners);

  /** Takes note of a request. Answers false if somebody else has asked under the nick since; operators ask for anybody. */
  claim({ nick, person }: Pick<Speaker, 'nick' | 'person'>, asked: Date): boolean {
    if (person === undefined) return true;
    const key = casefold(nick);
    const last = this.#owners.get(key);
    const isOld = last !== undefined && last.asked > asked;
    if (!isOld) this.#owners.set(key, { person, asked });
    return !isOld || last.person === person;
  }

  /** The person who has a nick, as far as it is known. */
  of(nick: string): string | undefined {
    return this.#owners.get(casefold(nick))?.person;
  }
}
