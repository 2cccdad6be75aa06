import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../projections/core/sql.js';
import { agentLeaderboard, channelLeaderboard, reputationOf } from '../projections/reputation/queries.js';
import { reputations } from '../projections/reputation/tables.js';
import type { Recorded } from '../streams/core/index.js';
import type { FeedbackGiven } from '../streams/reputation/index.js';
import type { Bench, Row } from './support/bench.js';
import { milliseconds, percentile, whole } from './support/figures.js';
import { engines } from './support/stores.js';

const agents = 10_000;
const channels = 20;
const batch = 10_000;
const yearMs = 365 * 86_400_000;
const end = Date.UTC(2026, 10, 1);

const queries: { name: string; run: (sql: Sql, schema: string) => Promise<unknown> }[] = [
  {
    name: 'reputation of a nick',
    run: (sql, schema) => reputationOf(sql, schema, `agent${Math.floor(Math.random() * agents)}`),
  },
  { name: '50 best agents', run: (sql, schema) => agentLeaderboard(sql, schema, new Date(end), 50) },
  { name: '50 best channels', run: (sql, schema) => channelLeaderboard(sql, schema, new Date(end), 50) },
];

/** Reputation and leaderboards of 10,000 agents, and again with a hundred times as much feedback. */
export async function reputation(t: Bench): Promise<Row[]> {
  const sizes = [t.size(10_000, 10_000), t.size(1_000_000, 50_000)] as const;
  const rows: Row[] = [];
  for (const engine of await engines(t)) {
    const sql = await engine.open();
    for (const size of sizes) {
      t.progress(`${engine.name}: folding ${whole(size)} facts`);
      await fill(sql, `facts${size}`, size);
    }
    // what a server does by itself in the minutes after
    await sql.query('vacuum analyze');
    await sql.query('checkpoint');
    await sleep(5_000);
    for (const { name, run } of queries) {
      t.progress(`${engine.name}: ${name}`);
      const taken = await alternately(
        t.size(2_000, 200),
        sizes.map((size) => () => run(sql, `facts${size}`)),
      );
      const [small, large] = taken.map((ms) => percentile(ms, 0.99)) as [number, number];
      rows.push({
        measured: `${name} after ${whole(sizes[1])} feedback facts about ${whole(agents)} agents, p99 in ${engine.name}`,
        ours: milliseconds(large),
        against: `after ${whole(sizes[0])} facts: ${milliseconds(small)}`,
        ratio: large / small,
        goal: '≤ 1.2',
      });
    }
  }
  return rows;
}

/** Runs each query so many times, one after the other, and returns the milliseconds of each query's runs. */
async function alternately(times: number, runs: (() => Promise<unknown>)[]): Promise<number[][]> {
  const taken = runs.map((): number[] => []);
  const warmUp = times / 10;
  for (let n = -warmUp; n < times; n++) {
    for (const [index, run] of runs.entries()) {
      const startedAt = performance.now();
      await run();
      if (n >= 0) taken[index]!.push(performance.now() - startedAt);
    }
  }
  return taken;
}

/** Folds a year in which everybody is rated as often as everybody else. */
async function fill(sql: Sql, schema: string, count: number): Promise<void> {
  await sql.query(`create schema ${schema}; ${reputations.ddl(schema)}`);
  for (let from = 0; from < count; from += batch) {
    const facts = Array.from({ length: Math.min(batch, count - from) }, (_, n) => given(from + n, count));
    await sql.transaction((tx) => reputations.apply(tx, facts, schema));
  }
}

function given(n: number, count: number): Recorded<FeedbackGiven> {
  const at = new Date(end - yearMs + Math.floor((n / count) * yearMs));
  const scattered = Math.imul(n + 1, 2_654_435_761) >>> 0;
  const nick = n % agents;
  const data = {
    from: `agent${(nick + 1 + (scattered % (agents - 1))) % agents}`,
    nick: `agent${nick}`,
    channel: `#channel${(scattered >>> 8) % channels}`,
    // so that agents are of different worth
    rating: 1 + Math.floor(((scattered >>> 16) % 100) / (20 + (nick % 40))),
    comment: '',
    day: at.toISOString().slice(0, 10),
  };
  const seq = n + 1;
  const place = { id: `f${seq}`, stream: 'REPUTATION', subject: 'any', seq, at, by: 'bench', cause: null };
  return { type: 'feedback.given', data, ...place };
}
