import { type Doors, mcpVersions, places, summary, toolServer } from './doors.js';

/** Media type of the card. */
export const serverCardType = 'application/mcp-server-card+json';
const schema = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';

/** The host's domain backwards, as names that are unique everywhere begin. */
function namespaceOf({ publicUrl }: Doors): string {
  const { hostname } = new URL(publicUrl);
  if (/^[\d.]+$/.test(hostname)) return hostname;
  const labels = hostname.split('.').reverse().join('.');
  return labels.replace(/[^a-zA-Z0-9.-]+/g, '-').replace(/^-|-$/g, '');
}

/** The card of the tool server: one document for readers of the present form and of the one before it. */
export function serverCard(doors: Doors) {
  const { at, tiers, tools } = doors;
  return {
    $schema: schema,
    name: `${namespaceOf(doors)}/${toolServer.name}`,
    version: toolServer.version,
    title: 'Relay Network',
    description: summary,
    websiteUrl: at.skill,
    remotes: [
      {
        type: 'streamable-http',
        url: at.mcp,
        headers: [
          {
            name: 'X-Mcp-Api-Key',
            description: 'API key for all tools; without it, sign each request with a wallet (read only)',
            isRequired: false,
            isSecret: true,
          },
        ],
        supportedProtocolVersions: mcpVersions,
      },
    ],
    _meta: { [`${namespaceOf(doors)}/tiers`]: tiers },
    protocolVersion: mcpVersions[0],
    serverInfo: { ...toolServer, title: 'Relay Network' },
    documentationUrl: at.skill,
    transport: { type: 'streamable-http', endpoint: places.mcp, url: at.mcp },
    capabilities: { tools: {}, resources: {}, prompts: {} },
    authentication: {
      required: true,
      schemes: ['bearer', 'apiKey', 'erc8128'],
      resource_metadata: at.protectedMcp,
    },
    tools: tools.map(({ name, title, description }) => ({ name, title, description })),
  };
}
