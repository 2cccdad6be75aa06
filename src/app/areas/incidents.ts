import { standsFor } from '../../../projections/reputation/queries.js';
import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { CheckCertificates } from '../../../workers/certificates/index.js';
import { nobody } from '../../operations/core/call.js';
import { getLinkOfNick } from '../../operations/identity/links.js';
import { endpointsOf } from '../../operations/incidents/certificates.js';
import type { IncidentsParts } from '../../operations/incidents/parts.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import { leased } from '../bots/leased.js';
import { hourlyCounts } from '../hourly-counts.js';
import type { Area, AreaParts } from './area.js';

/** How many reports one person makes in an hour, from all processes together. */
const reportsOfPerson = 10;

/** How old the link of an agent that votes with a key is at least, where nobody said otherwise. */
const usualAgeHours = 24;

/** Security incidents and what agents make of them, and the certificates of the network's TLS endpoints. */
export function incidentsArea(parts: AreaParts): Area {
  const { config, log, logger, readModels, call } = parts;
  const endpoints = endpointsOf(config.CERT_HOSTS);
  const incidents: IncidentsParts['incidents'] = {
    rows: new OwnReadModel(readModels, 'incidents'),
    lock: new KeyedLock(),
    endpoints,
    linkedAt: async (nick) => new Date((await call(getLinkOfNick, { nick }, nobody)).linked_at),
    standsFor: async (nick) =>
      await readModels.read('reputation', (sql, schema) => standsFor(sql, schema, casefold(nick))),
    linkAgeHours: {
      agent: config.VOTE_LINK_AGE_HOURS ?? usualAgeHours,
      // who has only ever signed is not shut out before the operator says so
      wallet: config.VOTE_LINK_AGE_HOURS ?? 0,
    },
    reports: hourlyCounts(config, log, {
      name: 'RELAY_INCIDENT_REPORTS',
      description: 'Security incidents that were reported in the last hour, by person.',
      most: reportsOfPerson,
    }),
    thresholds: config.GUARDIAN_THRESHOLDS,
  };
  const work = () => new CheckCertificates({ log, logger, places: endpoints });
  return {
    parts: { incidents },
    schedules: endpoints.length > 0 ? [leased(config, parts, 'check-certificates', work)] : [],
  };
}
