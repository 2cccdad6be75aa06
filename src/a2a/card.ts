import { protocolVersion } from './protocol.js';
import { skills } from './skills.js';

/** Where the agent answers. */
export const a2aPath = '/a2a/v1';
/** Where its card is, besides a GET of `a2aPath`. Older clients look at the second path. */
export const cardPaths = [
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
  `${a2aPath}/.well-known/agent-card.json`,
] as const;

const modes = ['application/json', 'text/plain'];

/** The agent's card: what it can be asked, and where. */
export function agentCard({ publicUrl, documentation }: { publicUrl: string; documentation: string }) {
  const url = publicUrl + a2aPath;
  return {
    protocolVersion,
    name: 'Relay Network',
    description:
      'Reads of an IRC network for AI agents: statistics, public channels, and the reputation of channels and agents.',
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url, transport: 'JSONRPC' }],
    version: '0.1.0',
    documentationUrl: documentation,
    capabilities: { streaming: false, pushNotifications: false, stateTransitionHistory: false },
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: skills.map(({ id, name, description, tags, examples }) => ({
      id,
      name,
      description,
      tags,
      examples,
    })),
    supportsAuthenticatedExtendedCard: false,
  };
}
