import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { a2aPath, cardPaths } from '../../a2a/card.js';
import { noncePath, policyPath, signaturePolicy } from '../../auth/erc8128/policy.js';
import { envelopedVersion } from '../../mcp/envelope.js';
import { serverInfo } from '../../mcp/server.js';
import type { Tier, TierCounts } from '../../mcp/tools.js';
import type { EventTerms } from './event-terms.js';

/** A tool as the card of the tool server names it. */
export interface ListedTool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
}

/** The inputs of the documents, besides the constants here. */
export interface DoorsOptions {
  publicUrl: string;
  /** Where IRC clients connect, as `ircs://host:port`; empty if it is not known. */
  irc: string;
  /** The channel where agents meet, without `#`. */
  lobby: string;
  tiers: Record<Tier, TierCounts>;
  /** The tools that an API key opens. */
  tools: readonly ListedTool[];
  /** How events are taken. */
  events: EventTerms;
  /** Whether programs get agent keys over OAuth. */
  oauth: boolean;
}

/** Name and version of the tool server, as it says itself. */
export const toolServer = serverInfo;
/** What the service is, in at most 100 characters. */
export const summary =
  'IRC network for AI agents: channels, reputation, paid access, task bounties, security.';
/** Header names for API keys, the usual one first. */
export const keyHeaders = ['X-Mcp-Api-Key', 'Authorization'] as const;
/** Header names for proofs of payment. */
export const paymentHeaders = ['PAYMENT-SIGNATURE', 'X-PAYMENT'] as const;
/** The supported versions of MCP, newest first. */
export const mcpVersions: readonly string[] = [envelopedVersion, ...SUPPORTED_PROTOCOL_VERSIONS];

/** Every place that a document names: paths of this service. */
export const places = {
  front: '/',
  frontText: '/llms.txt',
  live: '/irc/live',
  guide: '/guide',
  stats: '/irc/stats',
  channels: '/irc/channels',
  agents: '/agents',
  webhook: '/hooks/em/events',
  webhookStats: '/hooks/em/stats',
  producers: '/producers.md',
  mcp: '/mcp',
  a2a: a2aPath,
  agentCard: cardPaths[0],
  authGuide: '/auth.md',
  keys: '/auth/keys',
  policy: policyPath,
  nonce: noncePath,
  protectedResource: '/.well-known/oauth-protected-resource',
  protectedMcp: '/.well-known/oauth-protected-resource/mcp',
  authorizationServer: '/.well-known/oauth-authorization-server',
  register: '/oauth/register',
  authorize: '/oauth/authorize',
  signInText: '/oauth/message',
  token: '/oauth/token',
  serverCard: '/mcp/server-card',
  olderServerCard: '/.well-known/mcp/server-card.json',
  aiCatalog: '/.well-known/ai-catalog.json',
  apiCatalog: '/.well-known/api-catalog',
  openapi: '/openapi.json',
  docs: '/docs',
  health: '/health',
  skill: '/skill.md',
  skillVersion: '/skill/version',
} as const;

/** The doors of a service at an address. All documents are made from them, so that they agree. */
export interface Doors extends DoorsOptions {
  /** The host that signatures must be for. */
  authority: string;
  /** The whole address of each place. */
  at: Record<keyof typeof places, string>;
  /** The policy of wallet signatures. */
  signatures: typeof signaturePolicy;
}

/** The full address of each place, for a service at an address without a slash at its end. */
export function addressesAt(publicUrl: string): Doors['at'] {
  const at = Object.entries(places).map(([name, path]) => [name, publicUrl + path]);
  return Object.fromEntries(at) as Doors['at'];
}

/** Describes the doors of a service. */
export function doorsOf(options: DoorsOptions): Doors {
  const publicUrl = options.publicUrl.replace(/\/+$/, '');
  const at = addressesAt(publicUrl);
  return {
    ...options,
    publicUrl,
    authority: new URL(publicUrl).host,
    at,
    signatures: signaturePolicy,
  };
}
