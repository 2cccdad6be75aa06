import { verificationApi } from '../api/verification.js';
import { upstream } from '../services/service.js';
import { createVerification, verificationRoutes } from '../services/verification.js';
import { oembedReader } from '../social/oembed.js';
import type { Area, AreaParts } from './area.js';

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
