import { CheckCertificates } from '../../../workers/certificates/index.js';
import { Lease } from '../../../workers/core/lease.js';
import type { Area, AreaParts } from '../../app/area.js';
import type { NickWallets } from '../../auth/nick-wallets.js';
import { upstream } from '../../remote/service.js';
import { sentinelApi } from './routes.js';
import { createSentinel, endpointsOf, sentinelRoutes } from './service.js';

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
