import { createHash } from 'node:crypto';
import type { WebIrc } from '../irc/link.js';

/** Bytes of what a person is told apart by: with the prefix of private addresses (fd00::/8) they make one of its own. */
const personBytes = 15;

/** What moderation takes for one person, made of what stands behind an agent: its wallet, or its nick where it has none. */
export function personOf(name: string): string {
  return createHash('sha256')
    .update(name)
    .digest('hex')
    .slice(0, 2 * personBytes);
}

/**
 * How the gateway introduces a person: under an address that no other has, which is its host too, so that a mute or a ban of
 * one, and the limits for an address, are about no other.
 */
export function introduction(person: string, password: string): WebIrc {
  const spelled = `fd${person}`.match(/.{4}/g)!.join(':');
  // as servers spell it
  const address = new URL(`http://[${spelled}]`).hostname.slice(1, -1);
  return { password, hostname: address, address };
}
