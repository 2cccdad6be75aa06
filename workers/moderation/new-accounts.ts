import { boundedCache } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { newAccountMs, newAccountsOf, personOf } from '../../streams/moderation/index.js';
import type { LineSighting } from '../../streams/network/index.js';
import type { GuardOptions } from './options.js';

const most = 10_000;
/** An account can be dropped, and its name registered again. */
const knownMs = 10 * 60_000;
/** Where the nick service does not say it is not asked at each line. */
const unknownMs = 10_000;

/** Which accounts are new, as the nick service says. Those that it says nothing about are not. */
export class NewAccounts {
  readonly #options: Pick<GuardOptions, 'registeredAt' | 'logger'>;
  readonly #known = boundedCache<string, { at: number | null }>(most);

  constructor(options: Pick<GuardOptions, 'registeredAt' | 'logger'>) {
    this.#options = options;
  }

  /** When an account was registered, in milliseconds; null if the nick service does not say. Throws while it cannot be asked. */
  async registeredAt(account: string): Promise<number | null> {
    const key = casefold(account);
    const known = this.#known.get(key);
    if (known) return known.at;
    const at = await this.#options.registeredAt(account);
    this.#known.set(key, { at }, { ttl: at === null ? unknownMs : knownMs });
    return at;
  }

  /** Who is held responsible for a line: for one of a new account, its host. */
  async personOf({ nick, host, account, at }: LineSighting): Promise<string> {
    if (account === undefined || host === undefined) return personOf({ nick, host, account });
    // a line does not wait for that
    const registered = await this.registeredAt(account).catch((err: unknown) => {
      this.#options.logger.debug({ account, err }, 'nobody says since when the account is registered');
      return null;
    });
    if (registered === null || at - registered >= newAccountMs) return personOf({ nick, account });
    return newAccountsOf(host);
  }
}
