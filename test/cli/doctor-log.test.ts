import { join } from 'node:path';
import { AckPolicy, DiscardPolicy, type JetStreamManager, RetentionPolicy } from 'nats';
import { pino } from 'pino';
import t from 'tap';
import { createApp } from '../../src/app/app.js';
import { deliveryChecks } from '../../src/cli/doctor/delivery.js';
import { logChecks } from '../../src/cli/doctor/log.js';
import { serviceChecks } from '../../src/cli/doctor/service.js';
import { streamChecks } from '../../src/cli/doctor/streams.js';
import { readConfig } from '../../src/config/config.js';
import { findNatsServer } from '../../src/servers/binaries.js';
import { natsAnswers, natsArgs, type StoreSync } from '../../src/servers/nats-server.js';
import { Log } from '../../streams/core/index.js';
import { delivery, deliverySubject } from '../../streams/delivery/index.js';
import { eventToken, market, marketSubject } from '../../streams/events/index.js';
import { streams } from '../../streams/index.js';
import { Lease } from '../../workers/core/lease.js';
import { eventually } from '../support/eventually.js';
import { natsConfigFile, startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';
import { startServerProcess, type Teardown } from '../support/server-process.js';
import { temporaryDirectory } from '../support/sql.js';
import { diagnose } from './diagnosis.js';

const logger = pino({ level: 'silent' });
const hour = 3_600_000;

async function openLog(t: Teardown, urls: string, maxBytes = 10_000_000): Promise<Log> {
  const log = await Log.open({ urls, name: 'test', streams, replicas: 1, maxBytes, logger });
  t.teardown(() => log.close());
  return log;
}

/** A nats-server with the arguments given, whatever they are. */
async function startPlainNats(t: Teardown, more: string[]): Promise<number> {
  const { port } = await startServerProcess(t, {
    name: 'nats',
    command: findNatsServer().path,
    choosePort: freePort,
    args: (dir, port) => ['-a', '127.0.0.1', '-p', String(port), '-sd', join(dir, 'store'), ...more],
    answers: natsAnswers,
  });
  return port;
}

const received = (event_id: string) => {
  const data = {
    event_id,
    event_type: 'task.expired',
    source: 'test',
    payload: {},
    target_channels: ['#bounties'],
    formatted_message: 'x',
  };
  return { type: 'event.received' as const, data };
};

t.test('DOCTOR-05 the log server', async (t) => {
  await t.test('away', async (t) => {
    const found = await diagnose(logChecks, { NATS_URL: `nats://me:secret@127.0.0.1:${await freePort()}` });
    t.match(found.log, { status: 'fail', what: /nothing listens there/, mend: /NATS_URL/ });
    t.notMatch(found.log, { what: /secret/ });
    t.match(found.clock, { status: 'skipped' });
  });

  await t.test('START-07 wants credentials', async (t) => {
    const port = await startPlainNats(t, ['-js', '--user', 'relay', '--pass', 'right']);
    const found = await diagnose(logChecks, { NATS_URL: `nats://relay:wrong@127.0.0.1:${port}` });
    t.match(found.log, {
      status: 'fail',
      what: /wants other credentials/,
      mend: /credentials into NATS_URL/,
    });
    const right = await diagnose(logChecks, { NATS_URL: `nats://relay:right@127.0.0.1:${port}` });
    t.match(right.log, { status: 'ok', what: /with JetStream answers at 127\.0\.0\.1:\d+$/ });
    const token = await startPlainNats(t, ['-js', '--auth', 'a token/+@']);
    const carried = encodeURIComponent('a token/+@');
    const known = await diagnose(logChecks, { NATS_URL: `nats://${carried}@127.0.0.1:${token}` });
    t.match(known.log, { status: 'ok' });
    const plain = await startPlainNats(t, ['-js']);
    const guarded = await diagnose(logChecks, { NATS_URL: `tls://127.0.0.1:${plain}` });
    t.match(guarded.log, { status: 'fail' }, 'tls:// does without no TLS');
  });

  await t.test('without JetStream', async (t) => {
    const port = await startPlainNats(t, []);
    const found = await diagnose(logChecks, { NATS_URL: `nats://127.0.0.1:${port}` });
    t.match(found.log, { status: 'fail', what: /JetStream is not enabled/, mend: /nats\.conf/ });
  });

  await t.test('whether it acknowledges before the disk has it', async (t) => {
    const start = async (sync: StoreSync) => {
      const monitorPort = await freePort();
      const { port } = await startServerProcess(t, {
        name: 'nats',
        command: findNatsServer().path,
        choosePort: freePort,
        args: (dir, port) => [
          ...natsArgs({
            config: natsConfigFile(dir, sync),
            host: '127.0.0.1',
            port,
            store: join(dir, 'store'),
          }),
          ...['-m', String(monitorPort)],
        ],
        answers: natsAnswers,
      });
      return await diagnose(logChecks, { NATS_URL: `nats://127.0.0.1:${port}` }, { monitorPort });
    };
    t.match((await start('always'))['log-sync'], { status: 'ok' });
    t.match((await start('default'))['log-sync'], { status: 'fail', mend: /sync_interval: always/ });
    const { url } = await startNats(t);
    const silent = await diagnose(logChecks, { NATS_URL: url }, { monitorPort: await freePort() });
    t.match(silent['log-sync'], { status: 'skipped', what: /see to sync_interval/ });
  });

  await t.test('its clock', async (t) => {
    const { url } = await startNats(t);
    await openLog(t, url);
    const ahead = (ms: number) => diagnose(logChecks, { NATS_URL: url }, { now: () => Date.now() + ms });
    t.match((await ahead(0)).clock, { status: 'ok' });
    t.match((await ahead(-20_000)).clock, { status: 'warn', what: /time [12]\d{4} ms later than/ });
    t.match((await ahead(120_000)).clock, {
      status: 'fail',
      what: /time 1\d{5} ms earlier than/,
      mend: /NTP/,
    });
  });
});

t.test('DOCTOR-06 the streams', async (t) => {
  const look = (url: string, env = {}) => diagnose(streamChecks, { NATS_URL: url, ...env });
  const manager = async (url: string): Promise<JetStreamManager> => (await openLog(t, url)).manager;

  await t.test('none yet, and as they should be', async (t) => {
    const { url } = await startNats(t);
    t.match((await look(url)).streams, { status: 'skipped', what: /the first start makes them/ });
    await manager(url);
    t.match(await look(url), { streams: { status: 'ok' }, 'stream-size': { status: 'ok' } });
    t.match((await look(url, { NATS_REPLICAS: '3' }))['streams.MARKET'], {
      status: 'fail',
      what: 'MARKET: num_replicas is 1 and not 3',
    });
  });

  await t.test('missing and different', async (t) => {
    const { url } = await startNats(t);
    const { streams } = await manager(url);
    await streams.delete('OPERATIONS');
    const { config } = await streams.info('MARKET');
    await streams.update('MARKET', { ...config, discard: DiscardPolicy.Old });
    await streams.delete('DELIVERY');
    await streams.add({ name: 'DELIVERY', subjects: ['other.>'], retention: RetentionPolicy.Workqueue });
    const connection = await diagnose(streamChecks, { NATS_URL: url });
    t.match(connection['streams.OPERATIONS'], { status: 'fail', what: 'there is no stream OPERATIONS' });
    t.match(connection['streams.MARKET'], {
      status: 'fail',
      what: 'MARKET: discard is "old" and not "new"',
      mend: /restart the service/,
    });
    t.match(connection['streams.DELIVERY'], { status: 'fail' });
  });

  await t.test('nearly full, and full', async (t) => {
    const { url } = await startNats(t);
    const log = await openLog(t, url, 2_000_000);
    const { config } = await log.manager.streams.info('MARKET');
    const wide = 'x'.repeat(2_000);
    const share = async () => {
      const { state } = await log.manager.streams.info('MARKET');
      return state.bytes / config.max_bytes;
    };
    const add = async (n: number) => {
      const fact = received(`e-${n}`);
      fact.data.formatted_message = wide;
      await log.append(market, marketSubject(eventToken(fact.data.event_id)), fact, { by: 'test' });
    };
    let n = 0;
    while ((await share()) <= 0.81) await add(n++);
    t.match((await look(url))['stream-size.MARKET'], {
      status: 'warn',
      what: /^MARKET has \d/,
      mend: /STREAMS_MAX_BYTES/,
    });
    await t.rejects(
      (async () => {
        for (;;) await add(n++);
      })(),
      { code: 'log_unavailable' },
    );
    t.match((await look(url))['stream-size.MARKET'], { status: 'fail', what: /new facts are refused/ });
  });
});

t.test('DOCTOR-08 deliveries', async (t) => {
  await t.test('nobody makes them', async (t) => {
    const { url } = await startNats(t);
    await openLog(t, url);
    t.match((await diagnose(deliveryChecks, { NATS_URL: url })).delivery, {
      status: 'fail',
      what: /the lease has no holder/,
      mend: /ROLES have irc/,
    });
  });

  await t.test('whoever should make them is not on IRC, or under another nick', async (t) => {
    const { url } = await startNats(t);
    const log = await openLog(t, url);
    let state = { connected: false, oper: false, nick: 'em-bot' };
    const lease = new Lease({
      log,
      name: 'deliver-to-irc',
      holder: 'the-holder',
      begin: () => ({ stop: async () => {} }),
      state: () => state,
      logger,
      replicas: 1,
    });
    lease.start();
    t.teardown(() => lease.stop());
    const look = async () => (await diagnose(deliveryChecks, { NATS_URL: url })).delivery!;
    await eventually('the lease to be held', async () => !(await look()).what.includes('no holder'));
    t.match(await look(), { status: 'fail', what: 'the-holder delivers, and is not connected to IRC' });
    state = { connected: true, oper: true, nick: 'em-bot_' };
    t.match(
      await eventually('it to tell', async () => [await look()].find(({ what }) => /em-bot_/.test(what))),
      {
        status: 'fail',
        what: 'the-holder is on IRC as em-bot_: somebody else has em-bot',
      },
    );
    state = { ...state, nick: 'em-bot' };
    t.match(
      await eventually('it to be well', async () => [await look()].find(({ status }) => status === 'ok')),
      {
        what: 'the-holder delivers as em-bot, an operator',
      },
    );
  });

  await t.test('what waits and does not move', async (t) => {
    const { url } = await startNats(t);
    const log = await openLog(t, url);
    await log.append(market, marketSubject(eventToken('e-1')), received('e-1'), { by: 'test' });
    await log.manager.consumers.add('MARKET', {
      durable_name: 'deliver-to-irc-1',
      ack_policy: AckPolicy.All,
    });
    const later = async (ms: number) => {
      const over = { now: () => Date.now() + ms };
      return (await diagnose(deliveryChecks, { NATS_URL: url }, over))['consumers.deliver-to-irc'];
    };
    t.match(await later(0), { status: 'ok', what: /^1 wait, the oldest for \d s$/ });
    t.match(await later(hour / 2), { status: 'warn', what: /^1 wait, .* and nothing moves$/ });
    t.match(await later(2 * hour), { status: 'fail', mend: /restart the process that delivers/ });
    const consumer = await log.connection.jetstream().consumers.get('MARKET', 'deliver-to-irc-1');
    await (await consumer.next())!.ackAck();
    t.match(await later(2 * hour), { status: 'ok', what: 'nothing waits' });
  });

  await t.test('given up', async (t) => {
    const { url } = await startNats(t);
    const env = {
      DATA_DIR: await temporaryDirectory(t),
      PORT: '0',
      NATS_URL: url,
      ROLES: 'api,services,projections',
    };
    const app = await createApp(readConfig(env), logger);
    t.teardown(() => app.stop());
    const log = await openLog(t, url);
    const event = await log.append(market, marketSubject(eventToken('e-1')), received('e-1'), { by: 'test' });
    const data = {
      seq: event.seq,
      event_id: 'e-1',
      retry_count: 3,
      last_error: 'cannot send',
      delivered: [],
      undelivered: ['#bounties'],
    };
    const fact = { type: 'event.dead_lettered' as const, data };
    await log.append(delivery, deliverySubject(eventToken('e-1')), fact, { by: 'test' });
    const look = async () => (await diagnose(serviceChecks, env, { url: app.address }))['dead-letters']!;
    t.match(
      await eventually('it to be counted', async () =>
        [await look()].find(({ status }) => status === 'warn'),
      ),
      {
        what: '1 event was given up',
        mend: /relay dead-letters redrive/,
      },
    );
  });
});
