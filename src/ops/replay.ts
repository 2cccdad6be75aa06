import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { openSql } from '../../projections/core/open-sql.js';
import type { Projection } from '../../projections/core/projection.js';
import { type ReplayedTo, replay, replayHalted, skippedFacts } from '../../projections/core/replay.js';
import type { Sql, Tx } from '../../projections/core/sql.js';
import { deliveryQueue, queueStatistics } from '../../projections/delivery-queue.js';
import { projections } from '../../projections/index.js';
import type { Log } from '../../streams/core/index.js';
import type { Config } from '../config.js';
import { type Command, Failed, type Invocation, optionValue, UsageError } from './command.js';
import { openLogReader } from './log-reader.js';
import { noProgress, showProgress } from './progress.js';
import { requireReadQuery } from './read-query.js';
import { readRange } from './read-range.js';
import { type ReplayPoint, replayEnds, replayPoint } from './replay-point.js';
import { withScratch } from './scratch.js';
import { cut, moment, printable, styled, type Terminal, writeTable } from './terminal.js';

/** SQLSTATE of a statement that would write where nothing may be written. */
const readOnlyTransaction = '25006';

/** What more there is to say of a read model than how many rows its tables have. */
const statistics: Record<string, (on: Tx, schema: string, at: Date) => Promise<object>> = {
  [deliveryQueue.name]: queueStatistics,
};

/** `relay replay` */
export const replayCommand: Command = {
  name: 'replay',
  arguments: ['<projection>'],
  summary: 'Show a read model as it was at a point of the past',
  details:
    'Folds the facts again into tables of its own, with the fold of this version, and answers from them; what the\n' +
    'service reads is not touched. A sequence alone is one of the first stream of the read model; its other streams\n' +
    'are folded up to the time of that fact. With sequences of several streams, those not named are folded whole.\n' +
    'The tables are in a throw-away database, or in a schema of their own where DATABASE_URL is set.',
  options: {
    to: { value: 'SEQ|STREAM=SEQ,...|TIME', says: 'the point; both ends belong to it (default: now)' },
    query: {
      value: 'SQL',
      says: 'what to ask, one statement that reads; tables need no schema (default: a summary)',
    },
    keep: { says: 'leave the schema in the database of DATABASE_URL' },
  },
  async run(invocation) {
    const projection = projectionNamed(invocation.arguments[0]!);
    const point = replayPoint(projection, optionValue(invocation, 'to'));
    const keep = invocation.options.has('keep');
    const query = optionValue(invocation, 'query');
    if (query !== undefined) requireReadQuery(query);
    const config = invocation.config();
    if (keep && !config.DATABASE_URL)
      throw new UsageError('--keep needs DATABASE_URL: an embedded database is thrown away');
    const log = await openLogReader(config);
    try {
      await withSideTables(config, projection, keep, async (sql, schema) => {
        const reached = await foldUpTo(invocation, { log, sql, projection, schema, point });
        await answer(invocation, { projection, sql, schema, reached, keep, point });
      });
    } finally {
      await log.close();
    }
  },
};

/** Lends a schema name and a store to make it in; what was made is removed afterwards unless it is to be kept. */
async function withSideTables(
  config: Config,
  { name }: Projection,
  keep: boolean,
  work: (sql: Sql, schema: string) => Promise<void>,
): Promise<void> {
  const schema = `${name}_replay_${randomBytes(4).toString('hex')}`;
  const logger = pino({ level: 'silent' });
  await withScratch('replay', async (directory) => {
    const sql = await openSql({
      databaseUrl: config.DATABASE_URL,
      directory: join(directory, 'pg'),
      logger,
    });
    try {
      await work(sql, schema);
    } finally {
      if (config.DATABASE_URL && !keep) {
        await sql.query(`drop schema if exists ${schema} cascade`).catch(() => {});
      }
      await sql.close();
    }
  });
}

async function foldUpTo(
  { json, terminal, stop }: Invocation,
  replayed: { log: Log; sql: Sql; projection: Projection; schema: string; point: ReplayPoint },
): Promise<ReplayedTo[]> {
  const { log, sql, projection, schema, point } = replayed;
  const ends = await replayEnds(log, projection, point);
  const total = [...ends.values()].reduce((sum, { seq }) => sum + seq, 0);
  const progress = json ? noProgress : showProgress(terminal, projection.name);
  const done = new Map<string, number>();
  try {
    return await replay({
      sql,
      projection,
      schema,
      ends,
      skipped: await skippedFacts(log, projection),
      read: (stream, upTo) => readRange(log, stream, { after: 0, upTo, stop }),
      folded: (stream, seq) => {
        done.set(stream, seq);
        progress.to(
          [...done.values()].reduce((sum, n) => sum + n, 0),
          total,
        );
      },
    });
  } catch (error) {
    const { code, stream, seq, message } = error as Error & { code?: string; stream?: string; seq?: number };
    if (code !== replayHalted) throw error;
    throw new Failed(
      `${projection.name} cannot fold ${stream} ${seq}: ${message}`,
      code,
      `Look at it: relay events ${stream} --from ${seq} --to ${seq}\nReplay what was before it with --to.`,
    );
  } finally {
    progress.end();
  }
}

interface Replayed {
  projection: Projection;
  sql: Sql;
  schema: string;
  reached: ReplayedTo[];
  keep: boolean;
  point: ReplayPoint;
}

async function answer(invocation: Invocation, replayed: Replayed): Promise<void> {
  const { json, terminal } = invocation;
  const { projection, sql, schema, reached, keep } = replayed;
  const query = optionValue(invocation, 'query');
  const found = query === undefined ? await summary(replayed) : { rows: await ask(sql, schema, query) };
  if (json) {
    const { name, version } = projection;
    terminal.out(
      JSON.stringify({ projection: name, version, reached, ...(keep ? { schema } : {}), ...found }),
    );
    return;
  }
  const places = reached.map(({ stream, seq, at }) => `${stream} ${seq}${at ? ` (${moment(at)})` : ''}`);
  terminal.err(`${projection.name} at ${places.join(', ')}`);
  if (keep) terminal.err(`kept in the schema ${schema}: "drop schema ${schema} cascade" removes it`);
  if ('rows' in found) writeRows(terminal, found.rows);
  else {
    writeTable(terminal, ['TABLE', 'ROWS'], Object.entries(found.tables));
    for (const [name, value] of Object.entries(found.statistics ?? {}))
      terminal.out(printable(`${styled(terminal, 'bold', name)}  ${value ?? '-'}`));
  }
}

async function summary({ projection, sql, schema, reached, point }: Replayed) {
  const names = await sql.query<{ name: string }>(
    'select table_name::text as name from information_schema.tables where table_schema = $1 order by 1',
    [schema],
  );
  const tables: Record<string, number> = {};
  for (const { name } of names) {
    const [row] = await sql.query<{ rows: number }>(`select count(*) as rows from ${schema}.${name}`);
    tables[name] = row!.rows;
  }
  const latest = Math.max(...reached.map(({ at }) => at?.getTime() ?? 0));
  const at = 'at' in point ? point.at : new Date(latest);
  return { tables, statistics: await statistics[projection.name]?.(sql, schema, at) };
}

async function ask(sql: Sql, schema: string, query: string): Promise<Record<string, unknown>[]> {
  try {
    return await sql.transaction(async (tx) => {
      await tx.query(`set transaction read only; set local search_path to ${schema}`);
      return await tx.query(query);
    });
  } catch (error) {
    const { code, kind, message } = error as Error & { code?: string; kind?: string };
    if (kind === 'unavailable') throw error;
    if (code === readOnlyTransaction)
      throw new Failed(`the query would change something, and was refused: ${message}`, 'query_refused');
    throw new Failed(`the query failed: ${message}${code ? ` (${code})` : ''}`, 'query_failed');
  }
}

function writeRows(terminal: Terminal, rows: Record<string, unknown>[]): void {
  const names = Object.keys(rows[0] ?? {});
  if (names.length === 0) {
    terminal.out('no rows');
    return;
  }
  const cell = (value: unknown) => {
    if (typeof value === 'number') return value;
    if (value === null || value === undefined) return '-';
    if (value instanceof Date) return value.toISOString();
    return cut(typeof value === 'string' ? value : JSON.stringify(value), 200);
  };
  writeTable(
    terminal,
    names,
    rows.map((row) => names.map((name) => cell(row[name]))),
  );
}

function projectionNamed(name: string): Projection {
  const found = projections.find((projection) => projection.name === name);
  if (found) return found;
  throw new UsageError(
    `there is no read model "${name}": ${projections.map((projection) => projection.name).join(', ')}`,
  );
}
