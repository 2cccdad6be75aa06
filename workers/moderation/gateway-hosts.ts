import { boundedCache } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { hostOf, newAccountsOf, personOf } from '../../streams/moderation/index.js';
import type { GuardOptions, Seen } from './options.js';

const most = 10_000;
/** A link can end, and another be made. */
const knownMs = 60_000;

/**
 * Who comes to the network by two ways: as an account of the nick service, and through the gateway, under a host that
 * the gateway made for its owner. Both are one person.
 */
export class GatewayHosts {
  readonly #options: Pick<GuardOptions, 'gatewayHosts' | 'logger'>;
  readonly #known = boundedCache<string, readonly string[]>(most);

  constructor(options: Pick<GuardOptions, 'gatewayHosts' | 'logger'>) {
    this.#options = options;
  }

  /** The hosts of the owner of an account, as moderation compares them. Throws while that cannot be looked up. */
  async of(account: string): Promise<readonly string[]> {
    const key = casefold(account);
    const known = this.#known.get(key);
    if (known) return known;
    const hosts = (await this.#options.gatewayHosts(key)).map(hostOf);
    this.#known.set(key, hosts, { ttl: knownMs });
    return hosts;
  }

  /** Whether somebody without an account is at a host that is theirs who own the account of the nick. Throws as above. */
  async isOwner({ nick, host }: Seen): Promise<boolean> {
    return host !== undefined && mayBeGateway(host) && (await this.of(nick)).includes(hostOf(host));
  }

  /** The persons, as moderation names them, that somebody who was seen is by the other way; none while that cannot be looked up. */
  async othersOf(seen: Seen): Promise<string[]> {
    const { nick, host, account } = seen;
    try {
      if (account !== undefined) return (await this.of(account)).map(newAccountsOf);
      return (await this.isOwner(seen)) ? [personOf({ nick, host, account: nick })] : [];
    } catch (err) {
      this.#options.logger.debug({ account, err }, 'nobody says who has the account at the gateway');
      return [];
    }
  }
}

/** Whether a host can be one of the gateway's, which are private IPv6 addresses. */
export const mayBeGateway = (host: string): boolean => /^fd[\da-f]*:/.test(hostOf(host));
