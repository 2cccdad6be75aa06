import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, type buildConnector } from 'undici';
import { boundedFetch, type Send } from './fetch.js';

/** IPv4 networks that are no part of the public internet (IANA special-purpose registry). */
const specialIpv4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
];
/** The same within `2000::/3`, which alone is public: tunnels and documentation. */
const specialIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const special = listOf(specialIpv4, 'ipv4');
const publicIpv6 = listOf(['2000::/3'], 'ipv6');
const specialWithinIpv6 = listOf(specialIpv6, 'ipv6');

/** Whether an IP address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4');
  if (isIP(address) !== 6) return false;
  return publicIpv6.check(address, 'ipv6') && !specialWithinIpv6.check(address, 'ipv6');
}

/** The address that somebody gave leads to a place where requests of this service have no business. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
}

/** Fetches from an address that a stranger gave: see `publicFetch`. */
export type PublicFetch = (
  address: string,
  /** As `Bounds` has them. */
  bounds: { timeoutMs: number; maxBytes: number },
  /** The request to make; a `GET` for JSON by default. */
  request?: Pick<RequestInit, 'method' | 'headers' | 'body'>,
) => Promise<Response>;

/**
 * Makes requests, usually a `GET`, for addresses that strangers give. It connects only to hosts whose every IP address `mayReach`
 * accepts, by default those of the public internet. The addresses are checked at the moment of the connection, so a
 * name cannot change its address in between. Redirects are not followed, and no credential is sent. It throws like
 * `boundedFetch`, and `AddressRefused` (as the cause of a `TypeError` where a name leads there).
 */
export function publicFetch(mayReach: (address: string) => boolean = isPublicAddress): PublicFetch {
  const checked: LookupFunction = (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      const addresses = found as LookupAddress[] | undefined;
      const refused = addresses?.find(({ address }) => !mayReach(address));
      const [first] = addresses ?? [];
      if (error) done(error, '');
      else if (refused || !first) done(new AddressRefused(`${host} is no public host`), '');
      else if (options.all) done(null, addresses!);
      else done(null, first.address, first.family);
    });
  };
  return async (address, bounds, given = { headers: { accept: 'application/json' } }) => {
    const { hostname } = new URL(address);
    // an address in place of a name is not looked up
    const literal = hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(literal) !== 0 && !mayReach(literal)) throw new AddressRefused(`${literal} is not public`);
    const request = { ...given, redirect: 'manual' } as const;
    const send: Send = async (request) => {
      // each request has its own connection: what was checked for one is not used for another
      const connect = { lookup: checked, timeout: bounds.timeoutMs } as buildConnector.BuildOptions;
      const dispatcher = new Agent({ connect, pipelining: 0 });
      try {
        // its types are those of another version than the runtime's
        return await fetch(request, { dispatcher: dispatcher as never });
      } finally {
        // ends with the answer
        dispatcher.close().catch(() => undefined);
      }
    };
    return await boundedFetch(address, request, { ...bounds, send });
  };
}

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, prefix] = network.split('/');
    list.addSubnet(address!, Number(prefix), family);
  }
  return list;
}
