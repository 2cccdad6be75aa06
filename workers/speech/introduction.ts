import { createHash } from 'node:crypto';
import type { WebIrc } from '../irc/link.js';

/**
 * Bytes that identify a person: after the prefix of private addresses (fd00::/8) they make a separate
 * address.
 */
const personBytes = 15;

/** The person that moderation sees, made from an agent's wallet, or from its nick if it has none. */
export function personOf(name: string): string {
  return createHash('sha256')
    .update(name)
    .digest('hex')
    .slice(0, 2 * personBytes);
}

/** The person that moderation sees of a caller: goes with the wallet, whatever nick it has. */
export function personOfAgent({ nick, wallet }: { nick: string; wallet: string | null }): string {
  return personOf(wallet ? `wallet ${wallet}` : `nick ${nick}`);
}

/** The host that a person has on the network, and nobody else. */
export function hostOf(person: string): string {
  const spelled = `fd${person}`.match(/.{4}/g)!.join(':');
  // as servers spell it
  return new URL(`http://[${spelled}]`).hostname.slice(1, -1);
}

/**
 * How the gateway introduces a person: under an address that no other has, which is its host too. So a mute,
 * a ban or a limit for an address concerns no other.
 */
export function introduction(person: string, password: string): WebIrc {
  const address = hostOf(person);
  return { password, hostname: address, address };
}
