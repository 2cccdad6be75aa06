import type { FastifyRequest } from 'fastify';
import { networkOf } from '../operations/core/network-of.js';

/** What tells who makes a request. */
export type Asker = Pick<FastifyRequest, 'ip' | 'headers'> & {
  raw: { socket: { remoteAddress?: string | undefined } };
};

/** Whether an address is this machine's own. */
export function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}

/** Headers in which proxies and content networks name the client, or themselves; `x-forwarded-…` besides. */
const proxyHeaders = [
  ...['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'x-original-host'],
  ...['cf-connecting-ip', 'cf-ray', 'true-client-ip', 'fastly-client-ip', 'fly-client-ip', 'cdn-loop'],
];

/** Whether a proxy speaks for somebody: it names the client, or says how it was reached. */
export function isSpokenFor({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  for (const name in headers) if (name.startsWith('x-forwarded-') || proxyHeaders.includes(name)) return true;
  return false;
}

/**
 * Whether somebody at this machine makes a request directly. A proxy at this machine speaks for the whole
 * world. One that says nothing of its clients is told by the host that they asked for.
 */
export function isOnThisMachine(request: Asker): boolean {
  return (
    isLoopback(request.ip) &&
    isLoopback(request.raw.socket.remoteAddress ?? '') &&
    !isSpokenFor(request) &&
    !isNameOnTheInternet(request.headers.host ?? '')
  );
}

/** A name without a dot is one of this machine or its network, and so is no name at all. */
const isNameOnTheInternet = (host: string): boolean => host.includes('.') && !isLocalHost(host);

/** Whether a host, with a port or without, is a name of this machine for itself. */
export function isLocalHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
}

/**
 * The address that a caller is counted under. An IPv6 network of 64 bits, which one caller has alone, is one
 * caller.
 */
export function callerAddress({ ip }: Pick<FastifyRequest, 'ip'>): string {
  // a connection that was reset has no address any more
  return networkOf(ip ?? '');
}
