import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { CheckCertificates } from '../../../workers/certificates/index.js';
import { endpointsOf } from '../../operations/incidents/certificates.js';
import type { IncidentsParts } from '../../operations/incidents/parts.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import { leased } from '../bots/leased.js';
import type { Area, AreaParts } from './area.js';

/** Security incidents and what agents make of them, and the certificates of the network's TLS endpoints. */
export function incidentsArea(parts: AreaParts): Area {
  const { config, log, logger, readModels } = parts;
  const endpoints = endpointsOf(config.CERT_HOSTS);
  const incidents: IncidentsParts['incidents'] = {
    rows: new OwnReadModel(readModels, 'incidents'),
    lock: new KeyedLock(),
    endpoints,
  };
  const work = () => new CheckCertificates({ log, logger, places: endpoints });
  return {
    parts: { incidents },
    schedules: endpoints.length > 0 ? [leased(config, parts, 'check-certificates', work)] : [],
  };
}
