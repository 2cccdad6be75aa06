import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { openSql } from '../../../projections/core/open-sql.js';
import { isAheadOfLog } from '../../../projections/core/status.js';
import { counted } from '../../words/counted.js';
import type { Status } from '../projections/status.js';
import type { Answer } from '../service/client.js';
import { type Check, fail, ok, type Result, skipped, warn } from './finding.js';
import type { Installation } from './installation.js';

const watchMs = 2_000;

const store: Check = {
  id: 'read-store',
  async look({ own, config, service }) {
    if (own.sql) {
      const state = await service();
      return state.is === 'running'
        ? ok('PGlite, inside the service')
        : skipped('PGlite starts with the service, and belongs to it alone');
    }
    const { host } = new URL(config.DATABASE_URL);
    const sql = await openSql({
      databaseUrl: config.DATABASE_URL,
      directory: '',
      logger: pino({ level: 'silent' }),
    });
    try {
      const [row] = await sql.query<{ server_version: string }>('show server_version');
      return ok(`PostgreSQL ${row!.server_version} answers at ${host}`);
    } catch (error) {
      const { message } = error as Error;
      return fail(
        `PostgreSQL at ${host}: ${message}`,
        'start it, or set DATABASE_URL to its address, user and password',
      );
    } finally {
      await sql.close();
    }
  },
};

const projections: Check = {
  id: 'projections',
  async look(installation) {
    const state = await installation.service();
    if (state.is !== 'running')
      return skipped(`the service that folds them cannot be asked: ${state.problem}`);
    const first = await ask(installation);
    const behind = first.projections.filter(isBehind);
    if (behind.length > 0) await delay(watchMs);
    const later = behind.length > 0 ? await ask(installation) : first;
    const answers = later.projections.flatMap((status) => {
      const before = behind.find(({ schema }) => schema === status.schema);
      return judge(status, before).map((answer) => ({ part: status.name, ...answer }));
    });
    const unused = later.unused.map((schema) => ({
      part: schema,
      ...warn(`the tables of ${schema} are not used any more`, '"relay projections prune" removes them'),
    }));
    return answers.length + unused.length > 0
      ? [...answers, ...unused]
      : ok(`${later.projections.map(({ name }) => name).join(', ')}: caught up`);
  },
};

async function ask({ client }: Installation): Promise<Answer<'/ops/projections'>> {
  return await client.api.get('/ops/projections');
}

/** What there is to say of one that is not live and at its end; `before` is how it was a moment ago. */
function judge(status: Status, before: Status | undefined): Result[] {
  const { name, schema, error } = status;
  if (error) {
    const { stream, seq, message } = error;
    return [
      fail(
        `${name} has halted at ${stream} ${seq}: ${message}`,
        isAheadOfLog(status)
          ? `bring back the log as it was (a copy of its store, or relay import of an export), or go on with it: relay projections rebuild ${name}`
          : `look at it with "relay events ${stream} --from ${seq} --to ${seq}", then go on without it: ` +
              `relay projections skip ${name} --stream ${stream} --seq ${seq} --reason TEXT`,
      ),
    ];
  }
  if (!isBehind(status) || !before) return [];
  const lag = sum(status, 'lag');
  if (sum(status, 'position') === sum(before, 'position'))
    return [
      fail(
        // one that has yet to be built and has nothing to fold
        lag === 0 ? `nobody builds ${schema}` : `${schema} lags by ${counted(lag, 'fact')} and does not move`,
        'see that a process with the role projections runs, and what is said here about the read store',
      ),
    ];
  return status.state === 'building'
    ? [warn(`${schema} is being built, ${counted(lag, 'fact')} to go`, 'wait for it')]
    : [];
}

function isBehind({ state, streams }: Status): boolean {
  return state === 'building' || streams.some(({ lag }) => lag > 0);
}

function sum({ streams }: Status, field: 'position' | 'lag'): number {
  return streams.reduce((total, stream) => total + stream[field], 0);
}

/** The read store and the read models in it. */
export const readStoreChecks: Check[] = [store, projections];
