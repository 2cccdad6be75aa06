import type { Area, AreaParts } from '../../app/area.js';
import { upstream } from '../../remote/service.js';
import { verificationApi } from './routes.js';
import { createVerification, verificationRoutes } from './service.js';
import { oembedReader } from './social/oembed.js';

/** Agents that register a nickname by a public post. */
export function verificationArea({ config, log, readModels, startedAt }: AreaParts): Area {
  const readPost = oembedReader(config.SOCIAL_OEMBED_URL);
  const service = createVerification({ log, readModels, readPost, startedAt });
  const verification = upstream('verification', verificationRoutes, {
    url: config.VERIFICATION_URL,
    timeoutMs: config.PROXY_TIMEOUT,
    service,
  });
  return {
    services: [{ name: 'verification', routes: verificationRoutes, operations: service }],
    health: { verification: () => verification.health() },
    api: async (server) => {
      await server.register(verificationApi, { verification });
    },
  };
}
