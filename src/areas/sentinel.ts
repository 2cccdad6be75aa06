import { CheckCertificates } from '../../workers/check-certificates/index.js';
import { Lease } from '../../workers/core/lease.js';
import { sentinelApi } from '../api/sentinel.js';
import type { NickWallets } from '../auth/nick-wallets.js';
import { createSentinel, endpointsOf, sentinelRoutes } from '../services/sentinel.js';
import { upstream } from '../services/service.js';
import type { Area, AreaParts } from './area.js';

/** Security incidents and what agents make of them, and the certificates of the network's TLS endpoints. */
export function sentinelArea(parts: AreaParts, signers: NickWallets): Area {
  const { config, log, logger, readModels, keys, startedAt, holder } = parts;
  const endpoints = endpointsOf(config.CERT_HOSTS);
  const service = createSentinel({ log, readModels, endpoints, startedAt });
  const sentinel = upstream('sentinel', sentinelRoutes, {
    url: config.SENTINEL_URL,
    timeoutMs: config.PROXY_TIMEOUT,
    service,
  });
  const checking = new Lease({
    log,
    logger,
    name: 'check-certificates',
    holder,
    replicas: config.NATS_REPLICAS,
    begin: () => {
      const worker = new CheckCertificates({ log, logger, places: endpoints });
      worker.start();
      return worker;
    },
  });
  return {
    services: [{ name: 'sentinel', routes: sentinelRoutes, operations: service }],
    health: { sentinel: () => sentinel.health() },
    api: async (server) => {
      await server.register(sentinelApi, { sentinel, keys, signers });
    },
    schedules: endpoints.length > 0 ? [checking] : [],
  };
}
