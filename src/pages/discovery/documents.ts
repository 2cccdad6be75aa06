import { a2aPath, agentCard, cardPaths } from '../../a2a/card.js';
import { authGuide } from './auth-guide.js';
import { authPolicy } from './auth-policy.js';
import { authorizationServer } from './authorization-server.js';
import { aiCatalog, apiCatalog, apiCatalogType } from './catalogs.js';
import { type Doors, places } from './doors.js';
import { frontPage } from './front.js';
import { producerGuide } from './producer-guide.js';
import { protectedResource } from './protected-resource.js';
import { serverCard, serverCardType } from './server-card.js';

/** A document that describes the service, ready to be sent. */
export interface DiscoveryDocument {
  paths: readonly string[];
  type: string;
  text: string;
  headers?: Record<string, string>;
}

/** Every document that describes the service, made from one description. */
export function documentsOf(doors: Doors): DiscoveryDocument[] {
  const { publicUrl, at } = doors;
  const json = (paths: readonly string[], body: object, type = 'application/json') => ({
    paths,
    type,
    text: JSON.stringify(body),
  });
  return [
    { paths: [places.frontText], type: 'text/markdown; charset=utf-8', text: frontPage(doors) },
    { paths: [places.authGuide], type: 'text/markdown; charset=utf-8', text: authGuide(doors) },
    { paths: [places.producers], type: 'text/markdown; charset=utf-8', text: producerGuide(doors) },
    json([places.policy], authPolicy(doors)),
    json([places.protectedResource], protectedResource(publicUrl, 'Relay Network API', doors)),
    json([places.protectedMcp], protectedResource(at.mcp, 'Relay Network tools', doors)),
    ...(doors.oauth ? [json([places.authorizationServer], authorizationServer(doors))] : []),
    json([places.serverCard], serverCard(doors), serverCardType),
    json([places.olderServerCard], serverCard(doors)),
    json([places.aiCatalog], aiCatalog(doors)),
    {
      ...json([places.apiCatalog], apiCatalog(doors), apiCatalogType),
      headers: { link: `<${at.apiCatalog}>; rel="api-catalog"` },
    },
    json([...cardPaths, a2aPath], agentCard({ publicUrl, documentation: at.skill })),
  ];
}
