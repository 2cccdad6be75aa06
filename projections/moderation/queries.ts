import { casefold } from '../../streams/irc-grammar.js';
import { type Action, type Level, levels } from '../../streams/moderation/index.js';
import type { RowOf } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import { type incidentRows, isCondemned } from './fold.js';

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

/** What a reader is shown: all where `all` is true, else without what happened in private and in hidden channels. */
const isShown = (all: string, hidden: string) =>
  `(${all}::boolean or not (private or channel_key = any(${hidden}::text[])))`;

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
    `select * from ${schema}.incidents where ${isShown('$2', '$3')} order by id desc limit $1`,
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
 * person did. `undefined` without either. For the public, what happened in private or in one of the given
 * channels does not count. It does not tell which nicks are one person, either.
 */
export async function moderationReputation(
  sql: Tx,
  schema: string,
  nick: string,
  hidden: readonly string[] | undefined,
): Promise<{ reputation: ModerationReputation; recentIncidents: ModerationIncident[] } | undefined> {
  const key = casefold(nick);
  const shown = [hidden === undefined, hidden ?? []];
  const [found] = await sql.query<{ person: string }>(
    `select person from (
       (select 0 as rank, person from ${schema}.incidents
        where person = $1 and ${isShown('$3', '$4')} order by id desc limit 1)
       union all
       (select 1 as rank, person from ${schema}.incidents
        where nick_key = $2 and person is not null and ${isShown('$3', '$4')} order by id desc limit 1)
     ) as found order by rank limit 1`,
    [`account ${key}`, key, ...shown],
  );
  if (!found) return undefined;
  const ofPerson = `from ${schema}.incidents where person = $1 and ${isShown('$2', '$3')}`;
  const counts = 'pardoned_at is null';
  const counted = levels
    .filter((level) => level !== 'LOG')
    .map((level) => `count(*) filter (where ${counts} and level = '${level}') as ${level}_count`);
  const [record] = await sql.query<
    Omit<ModerationReputation, 'last_incident_at'> & { last_incident_at: Date | null }
  >(
    `select (array_agg(nick order by id desc))[1] as nick, count(*) filter (where ${counts}) as incident_count,
       max(created_at) filter (where ${counts}) as last_incident_at, ${counted.join(', ')} ${ofPerson}`,
    [found.person, ...shown],
  );
  const rows = await sql.query<StoredIncident>(
    `select * ${ofPerson} and ${counts} order by id desc limit $4`,
    [found.person, ...shown, recentIncidents],
  );
  const { last_incident_at, ...reputation } = record!;
  return {
    reputation: { ...reputation, last_incident_at: last_incident_at?.toISOString() ?? null },
    recentIncidents: rows.map(incidentView),
  };
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
  const [nick, count, last] = withPrivate
    ? ['nick', 'incident_count', 'last_id']
    : ['public_nick', 'incident_count - private_count', 'public_last_id'];
  const topOffenders = await sql.query<{ nick: string; incidents: number }>(
    `select ${nick} as nick, ${count} as incidents from ${schema}.persons
     where ${count} > 0 order by ${count} desc, ${last} desc limit $1`,
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
     where channel_key = $1 and ${isCondemned} and pardoned_at is null order by id desc limit $2`,
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
