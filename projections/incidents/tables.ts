import { type CertificateFact, certificates } from '../../streams/certificates/index.js';
import type { Recorded } from '../../streams/core/index.js';
import { type IncidentFact, incidentStatuses, incidents, severities } from '../../streams/incidents/index.js';
import { defineProjection } from '../core/projection.js';
import { Rows } from '../core/rows.js';
import { aboutIncidents } from './about.js';
import { certificateRows, foldCertificates } from './certificates.js';
import { foldIncidents, voteRows } from './fold.js';

/** A security incident as it is stored. */
export const incidentRows = new Rows({
  id: 'text collate "C" primary key',
  n: 'bigint not null',
  title: 'text not null',
  severity: 'text not null',
  category: 'text',
  affected: 'text not null',
  description: 'text',
  fixes: 'text not null',
  source_posts: 'text not null',
  advisory_urls: 'text not null',
  reporter: 'text not null',
  created_at: 'timestamptz not null',
  status: 'text not null',
  votes: 'integer not null',
  sum: 'integer not null',
  lowest: 'integer not null',
  highest: 'integer not null',
  plain: 'integer not null',
  hearsay: 'integer not null',
  rejecting: 'integer not null',
  validating: 'integer not null',
});

const combinations = incidentStatuses.flatMap((status) =>
  severities.map((severity) => `('${status}', '${severity}', 0)`),
);

/**
 * Security incidents with the votes on them, and the certificates of TLS endpoints. `n` is the sequence of the fact
 * that a row began with. `counts` and `totals` are kept with the rows, so that nothing is counted when it is asked
 * for; `participants` are those who reported or voted, by casefolded name.
 */
export const incidentRecords = defineProjection({
  name: 'incidents',
  version: 2,
  readsFrom: 2,
  streams: [incidents, certificates],
  about: aboutIncidents,
  ddl: (schema) => `
    ${incidentRows.create(`${schema}.incidents`)}
    create index on ${schema}.incidents (n);
    create index on ${schema}.incidents (status, n);
    create index on ${schema}.incidents (severity, n);
    create index on ${schema}.incidents (status, severity, n);
    ${voteRows.create(`${schema}.votes`, { constraints: ['primary key (incident, voter)'] })}
    create index on ${schema}.votes (incident, n);
    create index on ${schema}.votes (voter, n);
    create table ${schema}.participants (nick text collate "C" primary key, votes integer not null);
    create table ${schema}.counts (
      status text,
      severity text,
      incidents integer not null,
      primary key (status, severity)
    );
    insert into ${schema}.counts values ${combinations.join(', ')};
    create table ${schema}.totals (votes integer not null, participants integer not null);
    insert into ${schema}.totals values (0, 0);
    ${certificateRows.create(`${schema}.certificates`, { constraints: ['primary key (host, port)'] })}`,
  apply: async (tx, facts, schema) => {
    const told = facts.filter((fact) => fact.stream === incidents.name) as Recorded<IncidentFact>[];
    const seen = facts.filter((fact) => fact.stream === certificates.name) as Recorded<CertificateFact>[];
    if (told.length > 0) await foldIncidents(tx, told, schema);
    if (seen.length > 0) await foldCertificates(tx, seen, schema);
  },
});
