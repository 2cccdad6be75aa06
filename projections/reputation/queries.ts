import { decayAt, scoreOf } from '../../streams/reputation/index.js';
import { rowsOf } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import type { Book } from './voices.js';

/** The contract's reputation of a nick; times are ISO 8601. */
export interface Reputation {
  nick: string;
  /** 1 to 5 with decay over time, two decimals; null without feedback. */
  avgScore: number | null;
  totalFeedback: number;
  totalGiven: number;
  firstFeedback: string | null;
  lastFeedback: string | null;
}

/** The contract's entry of the agents' leaderboard; `score` is 0 to 100. */
export interface AgentStanding {
  nick: string;
  total_feedback: number;
  avg_score: number;
  score: number;
}

/** The contract's entry of the channels' leaderboard; `active_agents` gave or received feedback in 90 days. */
export interface ChannelStanding {
  channel: string;
  total_feedback: number;
  avg_score: number;
  active_agents: number;
  score: number;
}

const activeDays = 90;
const dayMs = 24 * 3_600_000;

/** What a nick (casefolded) is thought of. */
export async function reputationOf(sql: Tx, schema: string, nick: string): Promise<Reputation> {
  const [row] = await sql.query<{
    feedback: number;
    given: number;
    mean: number;
    first_at: Date | null;
    last_at: Date | null;
  }>(`select feedback, given, mean, first_at, last_at from ${schema}.agents where nick = $1`, [nick]);
  return {
    nick,
    avgScore: row && row.feedback > 0 ? rounded(row.mean) : null,
    totalFeedback: row?.feedback ?? 0,
    totalGiven: row?.given ?? 0,
    firstFeedback: row?.first_at?.toISOString() ?? null,
    lastFeedback: row?.last_at?.toISOString() ?? null,
  };
}

/** Whether an operator or a paid task vouches for a nick (casefolded). */
export async function standsFor(sql: Tx, schema: string, nick: string): Promise<boolean> {
  const [row] = await sql.query<{ stands: boolean }>(`select stands from ${schema}.agents where nick = $1`, [
    nick,
  ]);
  return row?.stands ?? false;
}

interface Standing {
  name: string;
  feedback: number;
  mean: number;
  /** At the time of the query. */
  weight: number;
}

/**
 * The best of a table at `now`, by score, then feedback, then name. The cost grows with the nicks or channels that
 * have feedback, and not with the feedback they have.
 */
async function best(
  sql: Tx,
  {
    table,
    name,
    now,
    limit,
    only = 'true',
  }: { table: string; name: string; now: Date; limit: number; only?: string },
): Promise<Standing[]> {
  return await sql.query<Standing>(
    `select ${name} as name, feedback, mean, weight * $1::double precision as weight from ${table}
     where feedback > 0 and ${only}
     order by floor(25 * (mean - 1) * (weight * $1 / (weight * $1 + 3)) + 0.5) desc, feedback desc, ${name}
     limit $2`,
    [decayAt(now), limit],
  );
}

/** The nicks of the best reputation at `now`. */
export async function agentLeaderboard(
  sql: Tx,
  schema: string,
  now: Date,
  limit: number,
): Promise<AgentStanding[]> {
  const rows = await best(sql, { table: `${schema}.agents`, name: 'nick', now, limit });
  return rows.map(({ name, ...row }) => ({ nick: name, ...standing(row) }));
}

/** The reputation at `now` of each of some nicks (casefolded) that has feedback. */
export async function agentStandings(
  sql: Tx,
  schema: string,
  now: Date,
  nicks: readonly string[],
): Promise<AgentStanding[]> {
  const decay = decayAt(now);
  const rows = await rowsOf<Omit<Standing, 'name'> & { nick: string }>(sql, `${schema}.agents`, {
    nick: nicks,
  });
  return rows.flatMap(({ nick, ...row }) =>
    row.feedback > 0 ? [{ nick, ...standing({ ...row, weight: row.weight * decay }) }] : [],
  );
}

/** What somebody may know of channels. */
export interface ChannelView {
  /** Without what was said in channels while they were closed to the public. */
  openOnly?: boolean;
}

/** The channels of the best reputation at `now`, as far as somebody may know. */
export async function channelLeaderboard(
  sql: Tx,
  schema: string,
  now: Date,
  limit: number,
  { openOnly = false }: ChannelView = {},
): Promise<ChannelStanding[]> {
  const only = `book = '${bookOf(openOnly)}'`;
  const rows = await best(sql, { table: `${schema}.channels`, name: 'channel', now, limit, only });
  return await withActiveAgents(sql, schema, now, { rows, openOnly });
}

/** The reputation of one channel (casefolded) at `now`, as far as somebody may know; `undefined` without feedback. */
export async function channelStanding(
  sql: Tx,
  schema: string,
  now: Date,
  channel: string,
  { openOnly = false }: ChannelView = {},
): Promise<ChannelStanding | undefined> {
  const rows = await sql.query<Standing>(
    `select channel as name, feedback, mean, weight * $1::double precision as weight
     from ${schema}.channels where channel = $2 and book = $3 and feedback > 0`,
    [decayAt(now), channel, bookOf(openOnly)],
  );
  return (await withActiveAgents(sql, schema, now, { rows, openOnly }))[0];
}

const bookOf = (openOnly: boolean): Book => (openOnly ? 'open' : 'all');

async function withActiveAgents(
  sql: Tx,
  schema: string,
  now: Date,
  { rows, openOnly }: { rows: Standing[]; openOnly: boolean },
): Promise<ChannelStanding[]> {
  const counts = await sql.query<{ channel: string; agents: number }>(
    `select channel, sum(agents)::bigint as agents from ${schema}.channel_days
     where channel = any($1::text[]) and book = $3 and day > $2::date group by channel`,
    [
      rows.map(({ name }) => name),
      new Date(now.getTime() - activeDays * dayMs).toISOString().slice(0, 10),
      bookOf(openOnly),
    ],
  );
  const agents = new Map(counts.map((row) => [row.channel, row.agents]));
  return rows.map(({ name, ...row }) => {
    const { total_feedback, avg_score, score } = standing(row);
    return { channel: name, total_feedback, avg_score, active_agents: agents.get(name) ?? 0, score };
  });
}

function standing({ feedback, mean, weight }: Omit<Standing, 'name'>): {
  total_feedback: number;
  avg_score: number;
  score: number;
} {
  return { total_feedback: feedback, avg_score: rounded(mean), score: scoreOf(mean, weight) };
}

const rounded = (mean: number): number => Math.floor(mean * 100 + 0.5) / 100;
