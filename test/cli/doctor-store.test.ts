import { pino } from 'pino';
import t from 'tap';
import { type App, createApp } from '../../src/app/app.js';
import { readStoreChecks } from '../../src/cli/doctor/read-store.js';
import { readConfig } from '../../src/config/config.js';
import { Log } from '../../streams/core/index.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';
import type { Teardown } from '../support/server-process.js';
import { startPostgres, temporaryDirectory } from '../support/sql.js';
import { diagnose } from './diagnosis.js';
import { relay } from './terminal.js';

const logger = pino({ level: 'silent' });

/** A service with the roles given, a log of its own, and a way to put into it what is no fact. */
async function startService(t: Teardown, roles: string, DATABASE_URL = '') {
  const { url } = await startNats(t);
  const env = { DATA_DIR: await temporaryDirectory(t), PORT: '0', NATS_URL: url, ROLES: roles, DATABASE_URL };
  const app: App = await createApp(readConfig(env), logger);
  t.teardown(() => app.stop());
  const log = await Log.open({ urls: url, name: 'test', streams: [], replicas: 1, maxBytes: 0, logger });
  t.teardown(() => log.close());
  return {
    relay: (...argv: string[]) => relay([...argv, '--url', app.address], { env }),
    look: () => diagnose(readStoreChecks, env, { url: app.address }),
    spoil: () => log.connection.request('market.event.broken', 'no fact', { timeout: 30_000 }),
  };
}

t.test('DOCTOR-09 PostgreSQL', async (t) => {
  const away = await diagnose(readStoreChecks, {
    DATABASE_URL: `postgres://me:secret@127.0.0.1:${await freePort()}/relay`,
  });
  t.match(away['read-store'], {
    status: 'fail',
    what: /^PostgreSQL at 127\.0\.0\.1:\d+: /,
    mend: /DATABASE_URL/,
  });
  t.notMatch(away['read-store'], { what: /secret/ });
  const postgres = await startPostgres(t);
  t.match((await diagnose(readStoreChecks, { DATABASE_URL: postgres.url }))['read-store'], {
    status: 'ok',
    what: /^PostgreSQL \d+.* answers at/,
  });
  const wrong = { DATABASE_URL: postgres.url.replace(/[^/]*$/, 'nowhere') };
  t.match((await diagnose(readStoreChecks, wrong))['read-store'], {
    status: 'fail',
    what: /"nowhere" does not exist/,
  });
});

t.test('DOCTOR-09 a read model that halted, and the command that helps', async (t) => {
  const { look, spoil, relay } = await startService(t, 'api,projections');
  const caughtUp = await eventually('it to catch up', async () => {
    const { projections } = await look();
    return projections?.status === 'ok' && projections;
  });
  t.match(caughtUp, { what: /delivery_queue.*: caught up$/ });

  await spoil();
  const halted = await eventually('it to halt', async () => (await look())['projections.delivery_queue']);
  t.match(halted, { status: 'fail', what: /^delivery_queue has halted at MARKET 1: / });
  // every read model that folds this stream has halted, and each has a command of its own
  for (const { id, mend = '' } of Object.values(await look()).filter(({ status }) => status === 'fail')) {
    const [, command] = /relay (projections skip .* --reason) TEXT$/.exec(mend) ?? [];
    t.match(await relay(...command!.split(' '), 'it is no fact'), { code: 0 }, id);
  }
  await eventually('them to go on', async () => (await look()).projections?.status === 'ok');
});

t.test('DOCTOR-09 tables that are not used any more', async (t) => {
  const { look, relay } = await startService(t, 'api,projections');
  await eventually('it to catch up', async () => (await look()).projections?.status === 'ok');
  t.match(await relay('projections', 'rebuild', 'delivery_queue'), { code: 0 });
  const unused = await eventually('the old tables to be left', async () =>
    Object.values(await look()).find(({ status }) => status === 'warn'),
  );
  t.match(unused, {
    id: /^projections\.delivery_queue_v\d+$/,
    mend: '"relay projections prune" removes them',
  });
  t.match(await relay('projections', 'prune'), { code: 0 });
  t.match(await look(), { projections: { status: 'ok' } });
});

t.test('DOCTOR-09 nobody folds', async (t) => {
  const { look, spoil } = await startService(t, 'api', (await startPostgres(t)).url);
  t.match((await look())['projections.delivery_queue'], {
    status: 'fail',
    what: /^nobody builds delivery_queue_v\d+$/,
    mend: /role projections/,
  });
  await spoil();
  t.match((await look())['projections.delivery_queue'], {
    status: 'fail',
    what: /lags by 1 facts? and does not move/,
    mend: /role projections/,
  });
});
