import type { Recorded } from '../../streams/core/index.js';
import {
  type IncidentFact,
  type IncidentStatus,
  noVotes,
  type Severity,
  type Tally,
  withScore,
} from '../../streams/incidents/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { Rows, rowsOf } from '../core/rows.js';
import { json, type Tx } from '../core/sql.js';

type Reported = Recorded<Extract<IncidentFact, { type: 'incident.reported' }>>;
type Cast = Recorded<Extract<IncidentFact, { type: 'vote.cast' }>>;

/** What changes about an incident with each vote. */
interface Standing extends Tally {
  id: string;
  severity: Severity;
  status: IncidentStatus;
}

const stepRows = new Rows({ status: 'text', severity: 'text', step: 'integer' });
const standingRows = new Rows({
  id: 'text',
  status: 'text',
  votes: 'integer',
  sum: 'integer',
  lowest: 'integer',
  highest: 'integer',
  plain: 'integer',
  hearsay: 'integer',
  rejecting: 'integer',
  validating: 'integer',
});
const reportRows = new Rows({
  id: 'text',
  n: 'bigint',
  title: 'text',
  severity: 'text',
  category: 'text',
  affected: 'text',
  description: 'text',
  fixes: 'text',
  source_posts: 'text',
  advisory_urls: 'text',
  reporter: 'text',
  created_at: 'timestamptz',
});

/** A vote on an incident as it is stored. */
export const voteRows = new Rows({
  incident: 'text collate "C"',
  voter: 'text collate "C"',
  n: 'bigint not null',
  nick: 'text not null',
  score: 'integer not null',
  contribution_type: 'text not null',
  evidence_url: 'text',
  comment: 'text',
  created_at: 'timestamptz not null',
});

/** Folds facts of the INCIDENTS stream into the tables of `incidents`. */
export async function foldIncidents(tx: Tx, facts: Recorded<IncidentFact>[], schema: string): Promise<void> {
  const reported = facts.filter((fact): fact is Reported => fact.type === 'incident.reported');
  const cast = facts.filter((fact): fact is Cast => fact.type === 'vote.cast');
  const standings = await storedStandings(tx, unique(cast.map(({ data }) => data.id)), schema);
  const steps = new Map<string, { status: IncidentStatus; severity: Severity; step: number }>();
  const step = ({ status, severity }: Standing, by: 1 | -1) => {
    const key = `${status} ${severity}`;
    const entry = steps.get(key) ?? { status, severity, step: 0 };
    entry.step += by;
    steps.set(key, entry);
  };
  for (const { type, data } of facts) {
    const before = standings.get(data.id);
    if (before) step(before, -1);
    const after = type === 'incident.reported' ? begun(data) : voted(before, data);
    if (!after) continue; // its report is not in the stream any more
    standings.set(data.id, after);
    step(after, 1);
  }
  if (reported.length > 0) await storeReports(tx, reported, schema);
  await storeStandings(tx, [...standings.values()], schema);
  if (cast.length > 0) await storeVotes(tx, cast, schema);
  await storeParticipants(tx, facts, schema);
  const changed = [...steps.values()].filter(({ step }) => step !== 0);
  await tx.query(
    `update ${schema}.counts as c set incidents = c.incidents + changed.step
     from ${stepRows.from('changed')} where c.status = changed.status and c.severity = changed.severity`,
    stepRows.params(changed),
  );
}

const unique = (texts: string[]): string[] => [...new Set(texts)];

function begun({ id, severity }: Reported['data']): Standing {
  return { id, severity, status: 'pending', ...noVotes() };
}

function voted(before: Standing | undefined, { score, stands, status }: Cast['data']): Standing | undefined {
  return before && { ...before, ...withScore(before, score, stands), status };
}

async function storedStandings(tx: Tx, ids: string[], schema: string): Promise<Map<string, Standing>> {
  const columns = `severity, ${standingRows.names}`;
  const rows = await rowsOf<Standing>(tx, `${schema}.incidents`, { id: ids }, columns);
  return new Map(rows.map((row) => [row.id, row]));
}

async function storeReports(tx: Tx, facts: Reported[], schema: string): Promise<void> {
  const rows = facts.map(({ seq, at, data: { affected, fixes, sourcePosts, advisoryUrls, ...report } }) => ({
    ...report,
    n: seq,
    created_at: at,
    affected: json(affected),
    fixes: json(fixes),
    source_posts: json(sourcePosts),
    advisory_urls: json(advisoryUrls),
  }));
  await tx.query(
    `insert into ${schema}.incidents select *, 'pending', 0, 0, 0, 0, 0, 0, 0, 0 from ${reportRows.from('reported')}`,
    reportRows.params(rows),
  );
}

async function storeStandings(tx: Tx, rows: Standing[], schema: string): Promise<void> {
  await tx.query(
    `update ${schema}.incidents as i set status = s.status, votes = s.votes, sum = s.sum, lowest = s.lowest,
       highest = s.highest, plain = s.plain, hearsay = s.hearsay, rejecting = s.rejecting, validating = s.validating
     from ${standingRows.from('s')} where i.id = s.id`,
    standingRows.params(rows),
  );
}

async function storeVotes(tx: Tx, facts: Cast[], schema: string): Promise<void> {
  const rows = facts.map(
    ({ seq, at, data: { id, voter, score, contributionType, evidenceUrl, comment } }) => ({
      incident: id,
      voter: casefold(voter),
      n: seq,
      nick: voter,
      score,
      comment,
      created_at: at,
      contribution_type: contributionType,
      evidence_url: evidenceUrl,
    }),
  );
  await tx.query(
    `insert into ${schema}.votes select * from ${voteRows.from('cast_votes')}`,
    voteRows.params(rows),
  );
}

/** Counts the votes of each nick, and those who reported or voted for the first time. */
async function storeParticipants(tx: Tx, facts: Recorded<IncidentFact>[], schema: string): Promise<void> {
  const votes = new Map<string, number>();
  for (const { type, data } of facts) {
    const nick = casefold(type === 'vote.cast' ? data.voter : data.reporter);
    votes.set(nick, (votes.get(nick) ?? 0) + (type === 'vote.cast' ? 1 : 0));
  }
  const known = await rowsOf(tx, `${schema}.participants`, { nick: [...votes.keys()] });
  await tx.query(
    `insert into ${schema}.participants as p select * from unnest($1::text[], $2::integer[])
     on conflict (nick) do update set votes = p.votes + excluded.votes`,
    [[...votes.keys()], [...votes.values()]],
  );
  const cast = [...votes.values()].reduce((sum, count) => sum + count, 0);
  await tx.query(`update ${schema}.totals set votes = votes + $1, participants = participants + $2`, [
    cast,
    votes.size - known.length,
  ]);
}
