import { STREAM_DOES_NOT_EXIST } from '@event-driven-io/emmett';
import {
  getPostgreSQLEventStore,
  type PostgresReadEvent,
  postgreSQLProjection,
  rebuildPostgreSQLProjections,
} from '@event-driven-io/emmett-postgresql';
import pg from 'pg';
import type { Param, Tx } from '../projections/core/sql.js';
import { deliveryQueue } from '../projections/delivery/fold.js';
import type { Log, Recorded } from '../streams/core/index.js';
import { type MarketFact, market, marketSubject } from '../streams/events/index.js';
import type { Bench, Row } from './support/bench.js';
import { taskFact } from './support/events.js';
import { median, perSecond, whole } from './support/figures.js';
import { inParallel, openLog, seedsAtATime } from './support/log.js';
import { startNats, startPostgres } from './support/servers.js';
import { newDatabase, nextSchema, openStore, project } from './support/stores.js';
import { timed } from './support/wait.js';

const atATime = 64;
const schema = 'peer';

/**
 * Appending and rebuilding against emmett on PostgreSQL. Both append the same facts, each in its own new
 * stream, on disk before the answer. Both run the same fold, in batches of the same size.
 */
export async function emmett(t: Bench): Promise<Row[]> {
  const postgres = await startPostgres(t);
  return [await appends(t, postgres), await rebuilds(t, postgres)];
}

async function appends(t: Bench, postgres: string): Promise<Row> {
  const facts = t.size(20_000, 1_000);
  const log = await openLog(t, await startNats(t, { sync: 'always' }));
  const peer = await openPeer(t, postgres, 'appends');
  const rounds = t.size(3, 1);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    t.progress(round === 0 ? 'warming up' : `append, round ${round} of ${rounds}`);
    const a = await timed(() => inParallel(facts, atATime, (n) => append(log, `r${round}-${n}`)));
    const b = await timed(() => inParallel(facts, atATime, (n) => peer.append(`r${round}-${n}`)));
    if (round === 0) continue;
    ours.push(a);
    theirs.push(b);
  }
  return row(
    `durable appends that must be the first of their stream, ${atATime} at a time`,
    facts,
    ours,
    theirs,
  );
}

async function rebuilds(t: Bench, postgres: string): Promise<Row> {
  const facts = t.size(20_000, 2_000);
  const log = await openLog(t, await startNats(t)); // only read from: how it syncs changes nothing
  await inParallel(facts, seedsAtATime, (n) => append(log, `fact-${n}`));
  const peer = await openPeer(t, postgres, 'rebuilds');
  t.progress(`${facts} facts for emmett`);
  // one at a time: its reader misses some of what was appended in parallel, as it seeks by position what it
  // sorts by transaction
  await inParallel(facts, 1, (n) => peer.append(`fact-${n}`));
  const projector = await project(t, log, await openStore(t, await newDatabase(postgres, 'ours')));
  let built = await nextSchema(projector);
  const rounds = t.size(3, 2);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    t.progress(`rebuild, round ${round} of ${rounds}`);
    ours.push(
      await timed(async () => {
        await projector.upkeep.rebuild('delivery_queue');
        built = await nextSchema(projector, built);
      }),
    );
    theirs.push(await timed(() => peer.rebuild()));
    const folded = await peer.folded();
    if (folded !== facts) throw new Error(`emmett folded ${folded} of ${facts} facts`);
  }
  return row(`rebuild of the same read model in PostgreSQL from ${whole(facts)} facts`, facts, ours, theirs);
}

function row(measured: string, count: number, ours: number[], theirs: number[]): Row {
  return {
    measured,
    ours: perSecond(count, median(ours)),
    against: `emmett 0.42 on PostgreSQL: ${perSecond(count, median(theirs))}`,
    ratio: median(ours.map((own, round) => theirs[round]! / own)),
    goal: '≥ 3',
  };
}

async function append(log: Log, id: string): Promise<void> {
  if (!(await log.appendOnce(market, marketSubject(id), taskFact(id), { by: 'bench' }))) throw new Error(id);
}

/**
 * Emmett's event store and projection, with its best settings: as many connections as appends, no pause
 * between batches.
 */
async function openPeer(t: Bench, postgres: string, database: string) {
  const connectionString = await newDatabase(postgres, database);
  const pool = new pg.Pool({ connectionString, max: atATime });
  t.teardown(() => pool.end());
  await pool.query(`create schema ${schema}; ${deliveryQueue.ddl(schema)}`);
  const store = getPostgreSQLEventStore(connectionString, { connectionOptions: { pool } });
  await store.schema.migrate();

  const projection = postgreSQLProjection<MarketFact>({
    name: 'delivery_queue',
    canHandle: ['event.received'],
    handle: (events, { connection }) =>
      deliveryQueue.apply(asTx(connection.client), events.map(asFact), schema),
    truncate: async ({ connection }) => {
      await connection.client.query(`truncate ${schema}.events, ${schema}.received`);
    },
  });
  let rebuilds = 0;
  return {
    append: (id: string) =>
      store.appendToStream(`event-${id}`, [taskFact(id)], { expectedStreamVersion: STREAM_DOES_NOT_EXIST }),
    async rebuild() {
      const consumer = rebuildPostgreSQLProjections({
        connectionString,
        // under its former name it would continue where it ended
        projections: [{ projection, processorId: `rebuild-${++rebuilds}`, truncateOnStart: true }],
        pulling: { batchSize: 1_000, pullingFrequencyInMs: 0 },
      });
      await consumer.start();
      await consumer.close();
    },
    async folded(): Promise<number> {
      const { rows } = await pool.query(`select count(*)::int as events from ${schema}.events`);
      return rows[0].events;
    },
  };
}

function asTx(client: { query(text: string, params: unknown[]): Promise<{ rows: unknown[] }> }): Tx {
  const query = async (text: string, params: readonly Param[] = []) =>
    (await client.query(text, [...params])).rows;
  return { query } as Tx;
}

function asFact({ type, data, metadata }: PostgresReadEvent<MarketFact>): Recorded<MarketFact> {
  const { messageId: id, streamName, globalPosition } = metadata;
  const place = { stream: market.name, subject: streamName, seq: Number(globalPosition), at: new Date() };
  return { type, data, id, ...place, by: 'bench', cause: null };
}
