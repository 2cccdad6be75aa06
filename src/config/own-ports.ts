import { isLoopback } from '../auth/client-address.js';
import type { Config } from './config.js';

/** Ports of this machine that belong to the service, or to what its settings name. */
export function ownPorts(config: Config): Set<number> {
  const named = Object.values(config).flatMap((value) => (typeof value === 'string' ? portsIn(value) : []));
  return new Set([config.PORT, config.IRC_EMBEDDED_PORT, ...named]);
}

const schemes: Record<string, number> = { 'http:': 80, 'https:': 443, 'nats:': 4222, 'postgres:': 5432 };

/** Ports of addresses on this machine; some settings hold several addresses. */
function portsIn(text: string): number[] {
  return text.split(',').flatMap((address) => {
    if (!/^\w+:\/\//.test(address) || !URL.canParse(address)) return [];
    const { hostname, port, protocol } = new URL(address);
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    if (host !== 'localhost' && !isLoopback(host)) return [];
    return [port === '' ? (schemes[protocol] ?? 0) : Number(port)];
  });
}
