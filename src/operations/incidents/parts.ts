import { type Log, Refusal } from '../../../streams/core/index.js';
import type { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { isIncidentId } from '../../../streams/incidents/index.js';
import type { Thresholds } from '../../../streams/moderation/index.js';
import type { Endpoint } from '../../../workers/certificates/index.js';
import type { OwnReadModel } from '../../stores/own-read-model.js';
import { text } from '../core/fields.js';
import type { HourlyCounts } from '../core/person-limit.js';

/** What the operations of security incidents work with. */
export interface IncidentsParts {
  log: Log;
  startedAt: Date;
  incidents: {
    rows: OwnReadModel;
    /** Commands about one incident are carried out one after another, so that only other processes can be in their way. */
    lock: KeyedLock;
    /** TLS endpoints whose certificates are watched. */
    endpoints: readonly Endpoint[];
    /** When the link of a nick was made. Throws 404 without any. */
    linkedAt(nick: string): Promise<Date>;
    /** Whether an operator or a paid task vouches for a nick. */
    standsFor(nick: string): Promise<boolean>;
    /** How old a link has to be to vote, in hours: with an agent key, and by the wallet's signature. */
    linkAgeHours: { agent: number; wallet: number };
    /** Counts the reports of an hour, by person. */
    reports: HourlyCounts;
    /** The points from which free text is withheld. */
    thresholds: Thresholds;
  };
}

/** The id of an incident as callers give it. */
export const incidentId = text('inc-k3mf7q2x').describe('Id of the security incident');

/** What was found under the id of an incident; a 404 for nothing, and for what is no id. */
export async function foundIncident<T>(id: string, find: () => Promise<T | undefined>): Promise<T> {
  const found = isIncidentId(id) ? await find() : undefined;
  if (!found) throw new Refusal('incident_not_found');
  return found;
}
