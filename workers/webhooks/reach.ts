import { isIP } from 'node:net';
import { AddressRefused, isPublicAddress, type PublicFetch, publicFetch } from '../core/public-fetch.js';

/** Where webhooks of agents may lead. */
export interface Reach {
  /** Whether an address may be registered, as far as can be told before its name is looked up. */
  allows(url: string): boolean;
  /** Looks at each connection, also where a name leads. */
  fetch: PublicFetch;
}

/** Hosts of the public internet, by https. */
export const publicReach: Reach = { allows: isPublic, fetch: publicFetch() };

/**
 * The same, and programs on this machine, also by http: for development. Names of others never lead here. A program at one
 * of the closed ports takes what comes from this machine for the word of its operator, so nothing is posted to it.
 */
export function reachWithLoopback(closed: ReadonlySet<number>): Reach {
  const hither = publicFetch(isLoopback);
  const isOpen = (url: string) => !closed.has(portOf(url));
  return {
    allows: (url) => (isHere(url) ? isOpen(url) : isPublic(url)),
    fetch: async (url, ...request) => {
      if (!isHere(url)) return await publicReach.fetch(url, ...request);
      if (!isOpen(url)) throw new AddressRefused('the port belongs to this service');
      return await hither(url, ...request);
    },
  };
}

function isPublic(url: string): boolean {
  const host = hostOf(url);
  const isLocal =
    isIP(host) !== 0
      ? !isPublicAddress(host)
      : !host.includes('.') || /\.(localhost|local|internal)$/.test(host);
  return new URL(url).protocol === 'https:' && !isLocal;
}

const isHere = (url: string): boolean => hostOf(url) === 'localhost' || isLoopback(hostOf(url));

const isLoopback = (address: string): boolean => address === '::1' || /^127\.[\d.]+$/.test(address);

const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

/** The port of an address, also where it is left out. */
export function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
