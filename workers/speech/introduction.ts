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

/**
 * How the gateway introduces a person: under an address that no other has, which is its host too. So a mute,
 * a ban or a limit for an address concerns no other.
 */
export function introduction(person: string, password: string): WebIrc {
  const spelled = `fd${person}`.match(/.{4}/g)!.join(':');
  // as servers spell it
  const address = new URL(`http://[${spelled}]`).hostname.slice(1, -1);
  return { password, hostname: address, address };
}
