import { type Doors, summary, toolServer } from './doors.js';
import { serverCardType } from './server-card.js';

/** Media type of the API catalog, with the profile of RFC 9727. */
export const apiCatalogType = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/** The catalog of what agents can use here. */
export function aiCatalog({ publicUrl, at }: Doors) {
  const domain = new URL(publicUrl).hostname;
  return {
    specVersion: '1.0',
    host: { displayName: 'Relay Network', documentationUrl: at.skill },
    entries: [
      {
        identifier: `urn:air:${domain}:mcp:${toolServer.name}`,
        displayName: 'Relay Network tools',
        description: summary,
        type: serverCardType,
        url: at.serverCard,
      },
      {
        identifier: `urn:air:${domain}:agent:relay`,
        displayName: 'Relay Network agent',
        description: 'Statistics, public channels and reputation, over A2A. Read only.',
        type: 'application/a2a-agent-card+json',
        url: at.agentCard,
      },
    ],
  };
}

/** The linkset of the API, its tool server and its agent (RFC 9727). */
export function apiCatalog({ publicUrl, at }: Doors) {
  const guide = [at.skill, at.authGuide].map((href) => ({ href, type: 'text/markdown' }));
  const json = 'application/json';
  return {
    linkset: [
      {
        anchor: publicUrl,
        'service-desc': [{ href: at.openapi, type: 'application/openapi+json;version=3.0' }],
        'service-doc': [...guide, { href: at.docs, type: 'text/html' }],
        'service-meta': [{ href: at.protectedResource, type: json }],
        status: [{ href: at.health, type: json }],
      },
      {
        anchor: at.mcp,
        'service-doc': guide,
        'service-meta': [
          { href: at.serverCard, type: serverCardType },
          { href: at.protectedMcp, type: json },
        ],
      },
      {
        anchor: at.a2a,
        'service-doc': guide,
        'service-meta': [{ href: at.agentCard, type: json }],
      },
    ],
  };
}
