import type { Sql } from '../projections/core/sql.js';
import { deadLetters, queueStatistics } from '../projections/delivery/queries.js';
import type { Bench, Row } from './support/bench.js';
import { milliseconds, percentile, whole } from './support/figures.js';
import { openLog, seedQueue } from './support/log.js';
import { startNats } from './support/servers.js';
import { type Engine, engines, nextSchema, project } from './support/stores.js';

interface Store {
  sql: Sql;
  schema: string;
}

const queries: { name: string; run: (store: Store) => Promise<unknown> }[] = [
  { name: 'queue statistics', run: ({ sql, schema }) => queueStatistics(sql, schema, new Date()) },
  {
    name: 'a page of 100 dead letters',
    run: ({ sql, schema }) => deadLetters(sql, schema, { status: 'dead_letter', limit: 100 }),
  },
];

/** Reads of a queue through which a hundred times as many facts have gone. */
export async function reads(t: Bench): Promise<Row[]> {
  const sizes = [t.size(10_000, 5_000), t.size(1_000_000, 50_000)] as const;
  const logs = [];
  for (const facts of sizes) {
    const log = await openLog(t, await startNats(t)); // only read from: how it syncs changes nothing
    await seedQueue(t, log, facts);
    logs.push(log);
  }
  const rows: Row[] = [];
  for (const engine of await engines(t)) {
    t.progress(`${engine.name}: folding`);
    const [few, many] = await Promise.all(logs.map((log) => filled(t, engine, log)));
    for (const { name, run } of queries) {
      t.progress(`${engine.name}: ${name}`);
      const taken = await inTurns(t.size(40, 4), [() => run(few!), () => run(many!)]);
      const [small, large] = taken.map((ms) => percentile(ms, 0.99)) as [number, number];
      rows.push({
        measured: `${name} after ${whole(sizes[1])} facts, p99 in ${engine.name}`,
        ours: milliseconds(large),
        against: `after ${whole(sizes[0])} facts: ${milliseconds(small)}`,
        ratio: large / small,
        goal: '≤ 1.2',
      });
    }
  }
  return rows;
}

/** A store with everything that is on a log, and nobody who folds any more. */
async function filled(t: Bench, engine: Engine, log: Parameters<typeof project>[1]): Promise<Store> {
  const sql = await engine.open();
  const projector = await project(t, log, sql);
  const schema = await nextSchema(projector);
  await projector.stop();
  await sql.query('vacuum analyze'); // what a server does by itself in the minutes after
  return { sql, schema };
}

/** Runs each query fifty times in turn, so many turns, and returns the milliseconds of each query's runs. */
async function inTurns(turns: number, runs: (() => Promise<unknown>)[]): Promise<number[][]> {
  const taken = runs.map((): number[] => []);
  for (let turn = 0; turn <= turns; turn++) {
    for (const [index, run] of runs.entries()) {
      for (let n = 0; n < 50; n++) {
        const startedAt = performance.now();
        await run();
        if (turn > 0) taken[index]!.push(performance.now() - startedAt); // the first turn warms up
      }
    }
  }
  return taken;
}
