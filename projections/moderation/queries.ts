import { casefold } from '../../streams/irc-grammar.js';
import { type Action, type Level, levels } from '../../streams/moderation/index.js';
import type { RowOf } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import type { incidentRows } from './fold.js';

/** The contract's moderation incident; `created_at` is ISO 8601. */
export interface ModerationIncident {
  id: number;
  nick: string;
  channel: string;
  score: number;
  level: Level;
  patterns: string;
  created_at: string;
}

/** An incident with all that became of it, for operators; times are ISO 8601. */
export interface IncidentRecord extends ModerationIncident {
  text: string | null;
  action: Action;
  /** What became of the action; `null` while that is unknown, and if there was nothing to do. */
  outcome: string | null;
  /** Why it failed, or why nothing was done. */
  error: string | null;
  until: string | null;
  lifted_at: string | null;
  pardoned_at: string | null;
  pardoned_by: string | null;
  /** Absent if nobody has appealed, like the fields that follow. */
  appealed_at?: string;
  /** What the person concerned gave as a reason. */
  appeal?: string | null;
  /** When an operator declined that. */
  upheld_at?: string | null;
}

/** The contract's moderation reputation of a nick; pardoned incidents do not count. */
export interface ModerationReputation {
  nick: string;
  incident_count: number;
  warn_count: number;
  mute_count: number;
  kick_count: number;
  ban_count: number;
  /** ISO 8601. */
  last_incident_at: string | null;
}

/** Counts of incidents. */
export interface ModerationCounts {
  total: number;
  today: number;
  byLevel: Record<Level, number>;
  topOffenders: { nick: string; incidents: number }[];
}

type StoredIncident = RowOf<typeof incidentRows> & { level: Level; action: Action };

const mostOffenders = 10;
const recentIncidents = 10;

/**
 * The newest incidents, newest first. For the public: without those of private rooms, and without those of
 * the given channels.
 */
export async function moderationIncidents(
  sql: Tx,
  schema: string,
  limit: number,
  hidden: readonly string[] | undefined,
): Promise<ModerationIncident[]> {
  const rows = await sql.query<StoredIncident>(
    `select * from ${schema}.incidents
     where $2::boolean or not (private or channel_key = any($3::text[])) order by id desc limit $1`,
    [limit, hidden === undefined, hidden ?? []],
  );
  return rows.map(incidentView);
}

/** The newest incidents with all that became of them, newest first, from before an id. */
export async function incidentRecords(
  sql: Tx,
  schema: string,
  limit: number,
  before = Number.MAX_SAFE_INTEGER,
): Promise<IncidentRecord[]> {
  const rows = await sql.query<StoredIncident>(
    `select * from ${schema}.incidents where id < $2 order by id desc limit $1`,
    [limit, before],
  );
  return rows.map(recordView);
}

/**
 * The reputation of somebody, and their newest incidents, newest first. It is for the account of that name,
 * if there is one. Otherwise it is for the person who had the nick at its newest incident, with all that this
 * person did. `undefined` without either. For the public, what happened in private does not count.
 */
export async function moderationReputation(
  sql: Tx,
  schema: string,
  nick: string,
  hidden: readonly string[] | undefined,
): Promise<{ reputation: ModerationReputation; recentIncidents: ModerationIncident[] } | undefined> {
  const key = casefold(nick);
  const [person] = await sql.query<
    Omit<ModerationReputation, 'last_incident_at'> & { person: string; last_incident_at: Date | null }
  >(
    `select * from (
       (select 0 as rank, * from ${schema}.persons where person = $1)
       union all
       (select 1 as rank, p.* from ${schema}.persons as p where person = (
         select person from ${schema}.incidents where nick_key = $2 and person is not null order by id desc limit 1))
     ) as found order by rank limit 1`,
    [`account ${key}`, key],
  );
  if (!person) return undefined;
  const rows = await sql.query<StoredIncident>(
    `select * from ${schema}.incidents
     where person = $1 and pardoned_at is null
       and ($3::boolean or not (private or channel_key = any($4::text[])))
     order by id desc limit $2`,
    [person.person, recentIncidents, hidden === undefined, hidden ?? []],
  );
  const shown = hidden === undefined ? person : await publicCounts(sql, schema, person.person);
  // all that there was happened in private
  if (shown.incident_count === 0 && person.incident_count > 0) return undefined;
  const { incident_count, warn_count, mute_count, kick_count, ban_count, last_incident_at } = shown;
  const counts = { incident_count, warn_count, mute_count, kick_count, ban_count };
  return {
    reputation: {
      nick: person.nick,
      ...counts,
      last_incident_at: last_incident_at?.toISOString() ?? null,
    },
    recentIncidents: rows.map(incidentView),
  };
}

type PersonCounts = Omit<ModerationReputation, 'nick' | 'last_incident_at'> & {
  last_incident_at: Date | null;
};

/** What the public is told of a person. */
async function publicCounts(sql: Tx, schema: string, person: string): Promise<PersonCounts> {
  const of = (level: Level) => `count(*) filter (where level = '${level}') as ${level}_count`;
  const [counts] = await sql.query<PersonCounts>(
    `select count(*) as incident_count, ${of('WARN')}, ${of('MUTE')}, ${of('KICK')}, ${of('BAN')},
       max(created_at) as last_incident_at
     from ${schema}.incidents where person = $1 and pardoned_at is null and not private`,
    [person],
  );
  return counts!;
}

/**
 * How many incidents there were in total and on the day of `now` (UTC), and who caused most of them. What
 * happened in private counts only `withPrivate`.
 */
export async function moderationCounts(
  sql: Tx,
  schema: string,
  now: Date,
  withPrivate: boolean,
): Promise<ModerationCounts> {
  const counted = await sql.query<{ level: Level; incidents: number }>(
    `select level, sum(incidents)::bigint as incidents from ${schema}.levels
     where $1::boolean or not private group by level`,
    [withPrivate],
  );
  const [today] = await sql.query<{ incidents: number | null }>(
    `select sum(incidents)::bigint as incidents from ${schema}.days
     where day = $1::date and ($2::boolean or not private)`,
    [now.toISOString().slice(0, 10), withPrivate],
  );
  const count = withPrivate ? 'incident_count' : 'incident_count - private_count';
  const topOffenders = await sql.query<{ nick: string; incidents: number }>(
    `select nick, ${count} as incidents from ${schema}.persons
     where ${count} > 0 order by ${count} desc, last_id desc limit $1`,
    [mostOffenders],
  );
  const byLevel = Object.fromEntries(levels.map((level) => [level, 0])) as Record<Level, number>;
  for (const { level, incidents } of counted) byLevel[level] = incidents;
  const total = counted.reduce((sum, { incidents }) => sum + incidents, 0);
  return { total, today: today?.incidents ?? 0, byLevel, topOffenders };
}

const mostWithheld = 10_000;

/** Ids of the lines of a channel (casefolded) that called for a kick or a ban, newest first. */
export async function condemnedLines(sql: Tx, schema: string, channel: string): Promise<string[]> {
  const rows = await sql.query<{ ref: string }>(
    `select ref from ${schema}.incidents
     where channel_key = $1 and action in ('kick', 'ban') and pardoned_at is null order by id desc limit $2`,
    [channel, mostWithheld],
  );
  return rows.map(({ ref }) => ref.replace(/^line:/, ''));
}

/** Which of some lines are incidents, of any level. */
export async function knownIncidents(sql: Tx, schema: string, lineIds: readonly string[]): Promise<string[]> {
  const refs = lineIds.map((id) => `line:${id}`);
  const rows = await sql.query<{ ref: string }>(
    `select ref from ${schema}.incidents where ref = any($1::text[])`,
    [refs],
  );
  return rows.map(({ ref }) => ref.replace(/^line:/, ''));
}

function incidentView({
  id,
  nick,
  channel,
  score,
  level,
  patterns,
  created_at,
}: StoredIncident): ModerationIncident {
  return { id, nick, channel, score, level, patterns, created_at: created_at.toISOString() };
}

function recordView(row: StoredIncident): IncidentRecord {
  const { text, action, outcome, pardoned_by, appeal, appealed_at, upheld_at } = row;
  return {
    ...incidentView(row),
    text,
    action,
    outcome,
    pardoned_by,
    error: row.error ?? row.spared,
    until: row.until?.toISOString() ?? null,
    lifted_at: row.lifted_at?.toISOString() ?? null,
    pardoned_at: row.pardoned_at?.toISOString() ?? null,
    ...(appealed_at && {
      appealed_at: appealed_at.toISOString(),
      appeal,
      upheld_at: upheld_at?.toISOString() ?? null,
    }),
  };
}
