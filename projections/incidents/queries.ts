import {
  type ContributionType,
  type IncidentReport,
  type IncidentStatus,
  incidentStatuses,
  isDecided,
  meanOf,
  minVotes,
  type Severity,
  severities,
  type Tally,
  thresholds,
} from '../../streams/incidents/index.js';
import type { RowOf } from '../core/rows.js';
import type { Param, Tx } from '../core/sql.js';
import type { voteRows } from './fold.js';
import type { incidentRows } from './tables.js';

/** A security incident with what its voters say; times are ISO 8601. */
export interface Incident {
  id: string;
  title: string;
  severity: Severity;
  category: string | null;
  affected: string[];
  description: string | null;
  fixes: string[];
  sourcePosts: string[];
  advisoryUrls: string[];
  status: IncidentStatus;
  reporter: string;
  created_at: string;
  votes: number;
  /** 0 to 100, two decimals; null before the first vote. */
  average_score: number | null;
  threshold_met: boolean;
}

/** What the voters make of an incident. */
export interface Consensus {
  incident_id: string;
  status: IncidentStatus;
  votes: number;
  average_score: number | null;
  threshold: { min_votes: number; validate: number; reject: number };
  threshold_met: boolean;
  /** Votes whose own score rejects, validates, or is between. */
  distribution: { reject: number; between: number; validate: number };
}

/** What one vote brought along. */
export interface Contribution {
  nick: string;
  score: number;
  contributionType: ContributionType;
  evidenceUrl: string | null;
  comment: string | null;
  created_at: string;
}

/** A contribution as one of those of its nick. */
export type ContributionOfNick = Omit<Contribution, 'nick'> & {
  incident: Pick<Incident, 'id' | 'title' | 'severity' | 'status'>;
};

/** How much there is of everything. */
export interface IncidentStatistics {
  incidents: number;
  by_status: Record<IncidentStatus, number>;
  by_severity: Record<Severity, number>;
  votes: number;
  contributions: number;
  /** Distinct nicks that reported or voted. */
  subscribers: number;
}

type StoredIncident = RowOf<typeof incidentRows> & { severity: Severity; status: IncidentStatus };
type StoredVote = RowOf<typeof voteRows> & { contribution_type: ContributionType };

/** The newest incidents, if given of a status and severity, and how many there are of them. */
export async function listIncidents(
  sql: Tx,
  schema: string,
  asked: { status?: IncidentStatus | undefined; severity?: Severity | undefined; limit: number },
): Promise<{ incidents: Incident[]; total: number }> {
  const conditions = [];
  const params: Param[] = [];
  for (const column of ['status', 'severity'] as const) {
    const value = asked[column];
    if (value === undefined) continue;
    params.push(value);
    conditions.push(`${column} = $${params.length}`);
  }
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const rows = await sql.query<StoredIncident>(
    `select * from ${schema}.incidents ${where} order by n desc limit $${params.length + 1}`,
    [...params, asked.limit],
  );
  const [count] = await sql.query<{ total: number }>(
    `select sum(incidents)::bigint as total from ${schema}.counts ${where}`,
    params,
  );
  return { incidents: rows.map(incidentView), total: count!.total };
}

/**
 * One incident, with the consensus of its voters and the newest contributions; `undefined` if it does not
 * exist.
 */
export async function showIncident(
  sql: Tx,
  schema: string,
  id: string,
  limit: number,
): Promise<(Incident & { consensus: Consensus; contributions: Contribution[] }) | undefined> {
  const [row] = await sql.query<StoredIncident>(`select * from ${schema}.incidents where id = $1`, [id]);
  if (!row) return undefined;
  const votes = await sql.query<StoredVote>(
    `select * from ${schema}.votes where incident = $1 order by n desc limit $2`,
    [id, limit],
  );
  const contributions = votes.map((vote) => ({ nick: vote.nick, ...contributionView(vote) }));
  return { ...incidentView(row), consensus: consensusView(id, row.status, row), contributions };
}

/** The consensus on an incident; `undefined` if the incident does not exist. */
export async function consensusOn(sql: Tx, schema: string, id: string): Promise<Consensus | undefined> {
  const [row] = await sql.query<StoredIncident>(`select * from ${schema}.incidents where id = $1`, [id]);
  return row && consensusView(id, row.status, row);
}

/** How many contributions a nick (casefolded) has made, and the newest of them. */
export async function contributionsOf(
  sql: Tx,
  schema: string,
  nick: string,
  limit: number,
): Promise<{ total: number; contributions: ContributionOfNick[] }> {
  const [participant] = await sql.query<{ votes: number }>(
    `select votes from ${schema}.participants where nick = $1`,
    [nick],
  );
  const rows = await sql.query<
    StoredVote & { id: string; title: string; severity: Severity; status: IncidentStatus }
  >(
    `select v.score, v.contribution_type, v.evidence_url, v.comment, v.created_at, i.id, i.title, i.severity, i.status
     from (select * from ${schema}.votes where voter = $1 order by n desc limit $2) as v, lateral (
       select id, title, severity, status from ${schema}.incidents where id = v.incident limit 1) as i
     order by v.n desc`,
    [nick, limit],
  );
  const contributions = rows.map(({ id, title, severity, status, ...vote }) => ({
    incident: { id, title, severity, status },
    ...contributionView(vote),
  }));
  return { total: participant?.votes ?? 0, contributions };
}

/** How much there is of everything. */
export async function incidentStatistics(sql: Tx, schema: string): Promise<IncidentStatistics> {
  const counts = await sql.query<{ status: IncidentStatus; severity: Severity; incidents: number }>(
    `select status, severity, incidents from ${schema}.counts`,
  );
  const [totals] = await sql.query<{ votes: number; participants: number }>(
    `select votes, participants from ${schema}.totals`,
  );
  const by = <Key extends string>(keys: readonly Key[], column: 'status' | 'severity') =>
    Object.fromEntries(
      keys.map((key) => [
        key,
        counts.reduce((sum, row) => sum + (row[column] === key ? row.incidents : 0), 0),
      ]),
    ) as Record<Key, number>;
  const { votes, participants } = totals!;
  return {
    incidents: counts.reduce((sum, { incidents }) => sum + incidents, 0),
    by_status: by(incidentStatuses, 'status'),
    by_severity: by(severities, 'severity'),
    votes,
    contributions: votes,
    subscribers: participants,
  };
}

/** A newly reported incident, as callers see it. */
export function newIncident(report: IncidentReport, at: Date): Incident {
  const { id, title, severity, category, affected, description, fixes, sourcePosts, advisoryUrls, reporter } =
    report;
  return {
    id,
    title,
    severity,
    category,
    affected,
    description,
    fixes,
    sourcePosts,
    advisoryUrls,
    status: 'pending',
    reporter,
    created_at: at.toISOString(),
    votes: 0,
    average_score: null,
    threshold_met: false,
  };
}

/** The consensus as it is answered. */
export function consensusView(id: string, status: IncidentStatus, tally: Readonly<Tally>): Consensus {
  const { votes, rejecting, validating } = tally;
  return {
    incident_id: id,
    status,
    votes,
    average_score: average(tally),
    threshold: { min_votes: minVotes, ...thresholds },
    threshold_met: isDecided(tally),
    distribution: { reject: rejecting, between: votes - rejecting - validating, validate: validating },
  };
}

function incidentView(row: StoredIncident): Incident {
  const list = (text: string) => JSON.parse(text) as string[];
  const { id, title, severity, category, description, status, reporter, votes } = row;
  return {
    id,
    title,
    severity,
    category,
    affected: list(row.affected),
    description,
    fixes: list(row.fixes),
    sourcePosts: list(row.source_posts),
    advisoryUrls: list(row.advisory_urls),
    status,
    reporter,
    created_at: row.created_at.toISOString(),
    votes,
    average_score: average(row),
    threshold_met: isDecided(row),
  };
}

function contributionView(row: Omit<StoredVote, 'nick'>): Omit<Contribution, 'nick'> {
  return {
    score: row.score,
    contributionType: row.contribution_type,
    evidenceUrl: row.evidence_url,
    comment: row.comment,
    created_at: row.created_at.toISOString(),
  };
}

function average(tally: Readonly<Tally>): number | null {
  const mean = meanOf(tally);
  return mean === null ? null : Math.round(mean * 100) / 100;
}
