import { type Command, Failed, type Invocation, optionValue, UsageError } from '../core/command.js';

/** What agents look for in the domain name system, and where it leads. */
interface AgentRecord {
  name: string;
  target: string;
  port: number;
  /** Protocols that the target speaks. */
  alpn: string[];
}

/** `relay dns` */
export const dnsCommand: Command = {
  name: 'dns',
  summary: 'Print the DNS records under which agents find the service',
  options: {
    domain: {
      value: 'DOMAIN',
      says: 'the domain they stand in (default: the one of PUBLIC_URL without its first label)',
    },
    ttl: { value: 'SECONDS', says: 'how long others may keep them (default: 3600)' },
  },
  details:
    'Lines for a zone file, made from PUBLIC_URL. Put them into the zone of the domain; nothing is sent anywhere.',
  async run(invocation) {
    const { json, terminal } = invocation;
    const { domain, records } = recordsOf(invocation);
    const ttl = ttlOf(invocation);
    if (json) terminal.out(JSON.stringify({ domain, ttl, records }));
    else for (const record of records) terminal.out(zoneLine(record, ttl));
  },
};

function recordsOf(invocation: Invocation): { domain: string; records: AgentRecord[] } {
  const { hostname, port, protocol } = new URL(invocation.config().PUBLIC_URL);
  if (!isDomain(hostname)) {
    throw new Failed(
      `PUBLIC_URL has no host name that others could find (${hostname})`,
      'no_domain',
      'Set PUBLIC_URL to the address under which others reach the API.',
    );
  }
  const given = optionValue(invocation, 'domain')?.replace(/\.$/, '').toLowerCase();
  if (given !== undefined && !isDomain(given))
    throw new UsageError('--domain must be a domain like relay.example');
  const labels = hostname.split('.');
  const domain = given ?? (labels.length > 2 ? labels.slice(1).join('.') : hostname);
  const target = {
    target: `${hostname}.`,
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    alpn: protocol === 'https:' ? ['h2', 'http/1.1'] : ['http/1.1'],
  };
  return {
    domain,
    records: ['_index', '_mcp'].map((service) => ({ name: `${service}._agents.${domain}.`, ...target })),
  };
}

/** In service mode: priority 1, with where and how to connect. */
function zoneLine({ name, target, port, alpn }: AgentRecord, ttl: number): string {
  return `${name} ${ttl} IN SVCB 1 ${target} alpn="${alpn.join(',')}" port=${port}`;
}

function ttlOf(invocation: Invocation): number {
  const text = optionValue(invocation, 'ttl') ?? '3600';
  if (!/^\d{1,9}$/.test(text)) throw new UsageError('--ttl must be a whole number of seconds');
  return Number(text);
}

function isDomain(text: string): boolean {
  return /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}
