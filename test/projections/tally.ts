import pino from 'pino';
import type { Test } from 'tap';
import { z } from 'zod';
import { defineProjection, type Projection } from '../../projections/core/projection.js';
import { Projector, type ProjectorOptions } from '../../projections/core/projector.js';
import type { Sql } from '../../projections/core/sql.js';
import { defineStream, Log } from '../../streams/core/index.js';
import { operations } from '../../streams/operations/facts.js';
import { startNats, type TestNats } from '../support/nats.js';

const facts = { 'thing.counted': z.object({ name: z.string(), n: z.number() }) };
export const things = defineStream({ name: 'THINGS', subjects: ['things.>'], facts });
export const others = defineStream({ name: 'OTHERS', subjects: ['others.>'], facts });

/**
 * A read model for tests: sums by name, and a row for each fact, so that a fact that was folded twice halts it.
 * The fold throws at facts of the name `poison`, and waits for `gate` in the schemas that it names.
 */
export function tally(
  options: {
    name?: string;
    version?: number;
    readsFrom?: number;
    gate?: { schema: string; opened: Promise<void> };
  } = {},
): Projection {
  const { name = 'tally', version = 1, readsFrom, gate } = options;
  return defineProjection({
    name,
    version,
    ...(readsFrom ? { readsFrom } : {}),
    streams: [things, others],
    ddl: (schema) => `
      create table ${schema}.sums (name text primary key, total bigint not null);
      create table ${schema}.seen (stream text, seq bigint, primary key (stream, seq))`,
    apply: async (tx, facts, schema) => {
      if (schema === gate?.schema) await gate.opened;
      for (const { stream, seq, data } of facts) {
        await tx.query(`insert into ${schema}.seen values ($1, $2)`, [stream, seq]);
        await tx.query(
          `insert into ${schema}.sums values ($1, $2)
           on conflict (name) do update set total = sums.total + excluded.total`,
          [data.name, data.n],
        );
        if (data.name === 'poison') throw new Error(`cannot count ${data.n}`);
      }
    },
  });
}

/** What a build of the tally has: how many facts of each stream, and the sums. */
export async function counted(
  sql: Sql,
  schema: string,
): Promise<{ things: number; others: number; sums: Record<string, number> }> {
  const seen = await sql.query<{ stream: string; n: number }>(
    `select stream, count(*) as n from ${schema}.seen group by stream`,
  );
  const sums = await sql.query<{ name: string; total: number }>(
    `select name, total from ${schema}.sums order by 1`,
  );
  const count = (stream: string) => seen.find((row) => row.stream === stream)?.n ?? 0;
  return {
    things: count('THINGS'),
    others: count('OTHERS'),
    sums: Object.fromEntries(sums.map((row) => [row.name, row.total])),
  };
}

/** A log of its own, and projectors that do not take their time. */
export async function startLog(t: Test): Promise<{
  nats: TestNats;
  log: Log;
  add(name: string, n?: number, stream?: typeof things): Promise<{ stream: string; seq: number }>;
  project(sql: Sql, projections: Projection[], options?: Partial<ProjectorOptions>): Projector;
}> {
  const nats = await startNats(t);
  const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const log = await Log.open({
    urls: nats.url,
    name: 'test',
    streams: [things, others, operations],
    replicas: 1,
    maxBytes: 100_000_000,
    // these tests remove facts
    importing: true,
    logger,
  });
  t.teardown(() => log.close());
  return {
    nats,
    log,
    add: (name, n = 1, stream = things) =>
      log.append(
        stream,
        `${stream.name.toLowerCase()}.any`,
        { type: 'thing.counted', data: { name, n } },
        { by: 'test' },
      ),
    project: (sql, projections, options = {}) => {
      const quick = { watchMs: 50, stallMs: 500, skipPollMs: 20, batch: 10 };
      const projector = new Projector({ log, sql, projections, logger, ...quick, ...options });
      t.teardown(() => projector.stop());
      return projector;
    },
  };
}
