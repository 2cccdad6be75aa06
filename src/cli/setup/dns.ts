import { defineCommand, text, wholeNumber } from '../core/command.js';
import { Failed, UsageError } from '../core/failure.js';
import { print } from '../core/terminal.js';

/** What agents look for in the domain name system, and where it leads. */
interface AgentRecord {
  name: string;
  target: string;
  port: number;
  /** Protocols that the target speaks. */
  alpn: string[];
}

/** The longest time to live of a DNS record, in seconds (RFC 2181). */
const longestTtl = 2_147_483_647;

/** `relay dns` */
export const dnsCommand = defineCommand({
  name: 'dns',
  summary: 'Print the DNS records under which agents find the service',
  options: {
    domain: text('DOMAIN', 'the domain they are in (default: the one of PUBLIC_URL without its first label)'),
    ttl: wholeNumber('SECONDS', 'how long others may keep them (default: 3600)', 0),
  },
  details:
    'Lines for a zone file, made from PUBLIC_URL. Put them into the zone of the domain; nothing is sent anywhere.',
  async run(invocation) {
    const { options, terminal } = invocation;
    const { domain, records } = recordsOf(invocation.config().PUBLIC_URL, options.domain);
    const { ttl = 3_600 } = options;
    if (ttl > longestTtl) throw new UsageError(`--ttl must be at most ${longestTtl}`);
    print(invocation, { domain, ttl, records }, () => {
      for (const record of records) terminal.out(zoneLine(record, ttl));
    });
  },
});

function recordsOf(
  publicUrl: string,
  wanted: string | undefined,
): { domain: string; records: AgentRecord[] } {
  const { hostname, port, protocol } = new URL(publicUrl);
  if (!isDomain(hostname)) {
    throw new Failed(
      `PUBLIC_URL has no host name that others could find (${hostname})`,
      'no_domain',
      'Set PUBLIC_URL to the address under which others reach the API.',
    );
  }
  const given = wanted?.replace(/\.$/, '').toLowerCase();
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

function isDomain(text: string): boolean {
  return /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}
