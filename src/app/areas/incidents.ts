import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { CheckCertificates } from '../../../workers/certificates/index.js';
import { Lease } from '../../../workers/core/lease.js';
import { endpointsOf } from '../../operations/incidents/certificates.js';
import type { IncidentsParts } from '../../operations/incidents/parts.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import type { Area, AreaParts } from './area.js';

/** Security incidents and what agents make of them, and the certificates of the network's TLS endpoints. */
export function incidentsArea({ config, log, logger, readModels, holder }: AreaParts): Area {
  const endpoints = endpointsOf(config.CERT_HOSTS);
  const incidents: IncidentsParts['incidents'] = {
    rows: new OwnReadModel(readModels, 'incidents'),
    lock: new KeyedLock(),
    endpoints,
  };
  const checking = new Lease({
    log,
    logger,
    name: 'check-certificates',
    holder,
    replicas: config.NATS_REPLICAS,
    begin: () => new CheckCertificates({ log, logger, places: endpoints }),
  });
  return {
    parts: { incidents },
    schedules: endpoints.length > 0 ? [checking] : [],
  };
}
