import type { Projection } from '../../../projections/core/projection.js';
import { type ReplayedTo, replay, replayHalted, skippedFacts } from '../../../projections/core/replay.js';
import type { Sql, Tx } from '../../../projections/core/sql.js';
import { deliveryQueue } from '../../../projections/delivery/fold.js';
import { queueStatistics } from '../../../projections/delivery/queries.js';
import { projections } from '../../../projections/index.js';
import type { Log } from '../../../streams/core/index.js';
import { defineCommand, flag, type Invocation, text, type Values, wholeNumber } from '../core/command.js';
import { Failed, UsageError } from '../core/failure.js';
import { showProgress } from '../core/progress.js';
import { bytes, cut, moment, print, printable, styled, type Terminal, writeTable } from '../core/terminal.js';
import { withLog } from '../log/open.js';
import { readRange } from '../log/read-range.js';
import { type Bounds, distinctNames } from './bounded-query.js';
import type { QueryResult } from './query-connection.js';
import { requireReadQuery } from './read-query.js';
import { type ReplayPoint, replayEnds, replayPoint } from './replay-point.js';
import { type SideTables, withSideTables } from './side-tables.js';

const defaultTimeoutSeconds = 60;
const maxTimeoutSeconds = 86_400;
/** What an answer may have, which is in memory as a whole, and what making it may take on a disk; in bytes. */
const maxRows = 50_000;
const maxSize = 32_000_000;
const maxTemporary = 1_000_000_000;

/** What more there is to say of a read model than how many rows its tables have. */
const statistics: Record<string, (on: Tx, schema: string, at: Date) => Promise<object>> = {
  [deliveryQueue.name]: queueStatistics,
};

const options = {
  to: text('SEQ|STREAM=SEQ,...|TIME', 'the point; both ends belong to it (default: now)'),
  query: text('SQL', 'what to ask, one statement that reads; tables need no schema (default: a summary)'),
  timeout: wholeNumber('SECONDS', `how long the query may run (default: ${defaultTimeoutSeconds})`),
  keep: flag('leave the schema in the database of DATABASE_URL'),
};

/** `relay replay` */
export const replayCommand = defineCommand({
  name: 'replay',
  arguments: ['<projection>'],
  summary: 'Show a read model as it was at a point of the past',
  details:
    'Folds the facts again into tables of its own, with the fold of this version, and answers from them; what the\n' +
    'service reads is not touched. A sequence alone is one of the first stream of the read model; its other streams\n' +
    'are folded up to the time of that fact. With sequences of several streams, those not named are folded whole.\n' +
    'Reads the event log: without NATS_URL the service has it, and must run.\n' +
    'The tables are in a throw-away database, or in a schema of their own where DATABASE_URL is set.\n' +
    `An answer has at most ${maxRows} rows and ${bytes(maxSize)} as JSON. Of columns with the same name the second is\n` +
    'shown as name_2, the third as name_3.',
  options,
  async run(invocation) {
    const [name = ''] = invocation.arguments;
    const { options, terminal } = invocation;
    const { query, keep } = options;
    const projection = projectionNamed(name);
    const point = replayPoint(projection, options.to);
    if (query !== undefined) requireReadQuery(query);
    else if (options.timeout !== undefined) throw new UsageError('--timeout bounds a --query: give one');
    const bounds = boundsOf(options.timeout, invocation.stop);
    const config = invocation.config();
    const databaseUrl = config.DATABASE_URL;
    if (keep && !databaseUrl)
      throw new UsageError('--keep needs DATABASE_URL: an embedded database is thrown away');
    await withLog(config, (log) =>
      withSideTables({ name, databaseUrl, bounds, warn: terminal.err }, async (tables) => {
        const { sql, schema } = tables;
        const reached = await foldUpTo(invocation, { log, sql, projection, schema, point });
        await answer(invocation, { projection, tables, reached, point });
      }),
    );
  },
});

async function foldUpTo(
  invocation: Invocation,
  replayed: { log: Log; sql: Sql; projection: Projection; schema: string; point: ReplayPoint },
): Promise<ReplayedTo[]> {
  const { log, sql, projection, schema, point } = replayed;
  const ends = await replayEnds(log, projection, point);
  const total = [...ends.values()].reduce((sum, { seq }) => sum + seq, 0);
  const progress = showProgress(invocation, projection.name);
  const done = new Map<string, number>();
  try {
    return await replay({
      sql,
      projection,
      schema,
      ends,
      skipped: await skippedFacts(log, projection),
      read: (stream, upTo) => readRange(log, stream, { after: 0, upTo, stop: invocation.stop }),
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
  tables: SideTables;
  reached: ReplayedTo[];
  point: ReplayPoint;
}

async function answer(invocation: Invocation<Values<typeof options>>, replayed: Replayed): Promise<void> {
  const { query, keep } = invocation.options;
  const { terminal } = invocation;
  const { projection, tables, reached } = replayed;
  const { name, version } = projection;
  const found = query === undefined ? await summary(replayed) : await asked(tables, query);
  const schema = keep ? await tables.keep() : undefined;
  const shown = 'columns' in found ? { rows: asObjects(found) } : found;
  print(invocation, { projection: name, version, reached, ...(schema ? { schema } : {}), ...shown }, () => {
    const places = reached.map(({ stream, seq, at }) => `${stream} ${seq}${at ? ` (${moment(at)})` : ''}`);
    terminal.err(`${name} at ${places.join(', ')}`);
    if (schema) terminal.err(`kept in the schema ${schema}: "drop schema ${schema} cascade" removes it`);
    if ('columns' in found) return writeAnswer(terminal, found);
    writeTable(terminal, ['TABLE', 'ROWS'], Object.entries(found.tables));
    for (const [name, value] of Object.entries(found.statistics ?? {}))
      terminal.out(`${styled(terminal, 'bold', printable(name))}  ${printable(String(value ?? '-'))}`);
  });
}

async function asked(tables: SideTables, query: string): Promise<QueryResult> {
  const { columns, rows } = await tables.ask(query);
  return { columns: distinctNames(columns), rows };
}

function asObjects({ columns, rows }: QueryResult): Record<string, unknown>[] {
  return rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
}

async function summary({ projection, tables: { sql, schema }, reached, point }: Replayed) {
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

function writeAnswer(terminal: Terminal, { columns, rows }: QueryResult): void {
  if (rows.length === 0 || columns.length === 0) {
    terminal.out(rows.length === 0 ? 'no rows' : 'no columns');
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
    columns,
    rows.map((row) => row.map(cell)),
  );
}

function boundsOf(timeout: number | undefined, stop: AbortSignal): Bounds {
  const seconds = timeout ?? defaultTimeoutSeconds;
  if (seconds > maxTimeoutSeconds) throw new UsageError(`--timeout must be at most ${maxTimeoutSeconds}`);
  return {
    timeoutMs: seconds * 1_000,
    rows: maxRows,
    size: maxSize,
    temporary: maxTemporary,
    stop,
  };
}

function projectionNamed(name: string): Projection {
  const found = projections.find((projection) => projection.name === name);
  if (found) return found;
  throw new UsageError(
    `there is no read model "${name}": ${projections.map((projection) => projection.name).join(', ')}`,
  );
}
