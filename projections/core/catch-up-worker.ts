import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import pLimit, { type LimitFunction } from 'p-limit';
import pino, { type Logger } from 'pino';
import { pause } from '../../streams/core/clock.js';
import { backoff, isExpected, Log, told } from '../../streams/core/index.js';
import { emptyBuild } from './builds.js';
import type { CatchUp, CatchUpCommand, CatchUpNews, CatchUpStart, CaughtUp, ToldError } from './catch-up.js';
import { Cursor } from './cursor.js';
import { concurrency } from './folding.js';
import { openShared } from './open-sql.js';
import type { Projection } from './projection.js';
import { Reading } from './reading.js';
import type { Sql } from './sql.js';

const pauses = { first: 100, longest: 5_000 };

/** What every catch-up of the thread works with. */
interface Parts {
  log: Log;
  sql: Sql;
  logger: Logger;
  start: CatchUpStart;
  projections: readonly Projection[];
  limits: { all: LimitFunction; builds: Map<string, LimitFunction> };
}

/** The program of the thread that `CatchUpThread` starts: folds what it is told of these read models. */
export async function serveCatchUps(projections: readonly Projection[]): Promise<void> {
  const port = parentPort!;
  const start = workerData as CatchUpStart;
  const tell = (news: CatchUpNews) => port.postMessage(news);
  const options = { level: start.logLevel, base: null, timestamp: false };
  const logger = pino(options, { write: (line) => tell({ line }) });
  const ending = new AbortController();
  const running = new Map<number, { cancel: AbortController; ended: Promise<void> }>();
  const opened = open(start, logger, projections, ending.signal);
  const run = async (id: number, what: CatchUp, signal: AbortSignal) => {
    try {
      const parts = await opened;
      const is = parts && (await catchUp(parts, what, { signal, moved: (moved) => tell({ id, moved }) }));
      tell({ id, is: is ?? 'stopped' });
    } catch (error) {
      tell({ id, failed: errorToTell(error) });
    }
    running.delete(id);
  };
  port.on('message', async (command: CatchUpCommand) => {
    if (command === 'end') {
      ending.abort();
      await Promise.all([...running.values()].map(({ ended }) => ended));
      const parts = await opened.catch(() => undefined);
      await Promise.all([parts?.log.close(), parts?.sql.close()]);
      port.close();
    } else if ('cancel' in command) running.get(command.cancel)?.cancel.abort();
    else {
      const cancel = new AbortController();
      const ended = run(command.id, command, AbortSignal.any([cancel.signal, ending.signal]));
      running.set(command.id, { cancel, ended });
    }
  });
}

/** Opens the log and the store; `undefined` when it is to end before the log answers. */
async function open(
  start: CatchUpStart,
  logger: Logger,
  projections: readonly Projection[],
  signal: AbortSignal,
): Promise<Parts | undefined> {
  const sql = await openShared(start.store, logger);
  // so that the thread that answers requests goes first; elsewhere than on Linux the call is about the whole process
  if (sql.engine === 'postgres' && process.platform === 'linux') setPriority(niceness);
  const limits = { all: pLimit(concurrency[sql.engine]), builds: new Map() };
  for (let failures = 0; !signal.aborted; ) {
    try {
      // it only reads: the service has made the streams
      const placement = { streams: [], replicas: 1, maxBytes: 0, importing: true };
      const log = await Log.open({ urls: start.logUrls, name: 'relay catch-up', logger, ...placement });
      return { log, sql, logger, start, projections, limits };
    } catch (error) {
      logger.debug({ err: error }, 'the log cannot be opened now');
      failures += 1;
      await pause(backoff(failures, pauses), signal);
    }
  }
  await sql.close();
  return undefined;
}

const niceness = 5;
/** The other thread takes over when at most so many facts are left, or after so many batches close to the end. */
const nearEnd = { facts: 100, batches: 10 };

async function catchUp(
  { log, sql, logger, start, projections, limits }: Parts,
  what: CatchUp,
  { signal, moved }: { signal: AbortSignal; moved(position: number): void },
): Promise<CaughtUp> {
  const projection = projections.find(({ name }) => name === what.projection);
  const stream = projection?.streams.find(({ name }) => name === what.stream);
  if (!projection || !stream)
    throw new Error(`There is no ${what.stream} in a read model ${what.projection}`);
  const build = emptyBuild(projection, what.generation);
  const ofBuild = limits.builds.get(build.schema) ?? pLimit(1);
  limits.builds.set(build.schema, ofBuild);
  const { batch, busy } = start;
  const options = {
    ...{ log, sql, logger, projection, build, stream, batch },
    limits: { build: ofBuild, all: limits.all },
    awaited: () => true,
    isBusy: () => Atomics.load(busy, 0) !== 0,
  };
  const near = new AbortController();
  let closeBatches = 0;
  const cursor = new Cursor(options);
  const reading = new Reading(options, cursor, {
    came: () => {},
    written: (pending) => {
      moved(cursor.position);
      if (pending === undefined || pending >= batch) return;
      closeBatches += 1;
      if (pending < nearEnd.facts || closeBatches >= nearEnd.batches) near.abort();
    },
    tried: () => {},
  });
  const halt = (await reading.resume()) ?? (await reading.read(AbortSignal.any([signal, near.signal])));
  if (halt) return 'halted';
  return near.signal.aborted ? 'near' : 'stopped';
}

function errorToTell(error: unknown): ToldError {
  if (isExpected(error)) return { expected: told(error) };
  const { message, code, stack } = error as { message?: string; code?: unknown; stack?: string };
  return { message: message ?? String(error), code, stack };
}
