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
import { json, type Tx } from '../core/sql.js';

type Reported = Recorded<Extract<IncidentFact, { type: 'incident.reported' }>>;
type Cast = Recorded<Extract<IncidentFact, { type: 'vote.cast' }>>;

/** What changes about an incident with each vote. */
interface Standing extends Tally {
  id: string;
  severity: Severity;
  status: IncidentStatus;
}

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
     from unnest($1::text[], $2::text[], $3::integer[]) as changed (status, severity, step)
     where c.status = changed.status and c.severity = changed.severity`,
    [
      changed.map(({ status }) => status),
      changed.map(({ severity }) => severity),
      changed.map(({ step }) => step),
    ],
  );
}

const unique = (texts: string[]): string[] => [...new Set(texts)];

function begun({ id, severity }: Reported['data']): Standing {
  return { id, severity, status: 'pending', ...noVotes() };
}

function voted(before: Standing | undefined, { score, status }: Cast['data']): Standing | undefined {
  return before && { ...before, ...withScore(before, score), status };
}

async function storedStandings(tx: Tx, ids: string[], schema: string): Promise<Map<string, Standing>> {
  const rows = await tx.query<Standing>(
    `select i.* from unnest($1::text[]) as wanted (id), lateral (
       select id, severity, status, votes, sum, lowest, highest, rejecting, validating
       from ${schema}.incidents where id = wanted.id limit 1) as i`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

async function storeReports(tx: Tx, facts: Reported[], schema: string): Promise<void> {
  const reports = facts.map(({ data }) => data);
  await tx.query(
    `insert into ${schema}.incidents
     select *, 'pending', 0, 0, 0, 0, 0, 0
     from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
       $9::text[], $10::text[], $11::text[], $12::timestamptz[])`,
    [
      reports.map(({ id }) => id),
      facts.map(({ seq }) => seq),
      reports.map(({ title }) => title),
      reports.map(({ severity }) => severity),
      reports.map(({ category }) => category),
      reports.map(({ affected }) => json(affected)),
      reports.map(({ description }) => description),
      reports.map(({ fixes }) => json(fixes)),
      reports.map(({ sourcePosts }) => json(sourcePosts)),
      reports.map(({ advisoryUrls }) => json(advisoryUrls)),
      reports.map(({ reporter }) => reporter),
      facts.map(({ at }) => at),
    ],
  );
}

async function storeStandings(tx: Tx, rows: Standing[], schema: string): Promise<void> {
  await tx.query(
    `update ${schema}.incidents as i set status = s.status, votes = s.votes, sum = s.sum, lowest = s.lowest,
       highest = s.highest, rejecting = s.rejecting, validating = s.validating
     from unnest($1::text[], $2::text[], $3::integer[], $4::integer[], $5::integer[], $6::integer[],
       $7::integer[], $8::integer[]) as s (id, status, votes, sum, lowest, highest, rejecting, validating)
     where i.id = s.id`,
    [
      rows.map(({ id }) => id),
      rows.map(({ status }) => status),
      rows.map(({ votes }) => votes),
      rows.map(({ sum }) => sum),
      rows.map(({ lowest }) => lowest),
      rows.map(({ highest }) => highest),
      rows.map(({ rejecting }) => rejecting),
      rows.map(({ validating }) => validating),
    ],
  );
}

async function storeVotes(tx: Tx, facts: Cast[], schema: string): Promise<void> {
  const votes = facts.map(({ data }) => data);
  await tx.query(
    `insert into ${schema}.votes
     select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::integer[], $6::text[], $7::text[],
       $8::text[], $9::timestamptz[])`,
    [
      votes.map(({ id }) => id),
      votes.map(({ voter }) => casefold(voter)),
      facts.map(({ seq }) => seq),
      votes.map(({ voter }) => voter),
      votes.map(({ score }) => score),
      votes.map(({ contributionType }) => contributionType),
      votes.map(({ evidenceUrl }) => evidenceUrl),
      votes.map(({ comment }) => comment),
      facts.map(({ at }) => at),
    ],
  );
}

/** Counts the votes of each nick, and those who reported or voted for the first time. */
async function storeParticipants(tx: Tx, facts: Recorded<IncidentFact>[], schema: string): Promise<void> {
  const votes = new Map<string, number>();
  for (const { type, data } of facts) {
    const nick = casefold(type === 'vote.cast' ? data.voter : data.reporter);
    votes.set(nick, (votes.get(nick) ?? 0) + (type === 'vote.cast' ? 1 : 0));
  }
  const known = await tx.query(
    `select p.nick from unnest($1::text[]) as wanted (nick), lateral (
       select nick from ${schema}.participants where nick = wanted.nick limit 1) as p`,
    [[...votes.keys()]],
  );
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
