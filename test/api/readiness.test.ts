import { connect } from 'nats';
import t from 'tap';
import { postEvent, sampleEvent, startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startMarketplace } from '../support/marketplace.js';
import { oldNatsServer, startNats } from '../support/nats.js';
import { needsDisk, smallDisk } from '../support/small-disk.js';

async function readiness(url: string) {
  const response = await fetch(`${url}/ready`);
  return { status: response.status, body: (await response.json()) as { error?: string; code?: string } };
}

const large = (id: string) =>
  sampleEvent(id, { payload: { id, title: 'Large', notes: 'x'.repeat(150_000) } });

t.test('API-14 a full stream ends readiness until there is room or an append works', async (t) => {
  const nats = await startNats(t);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    ROLES: 'api,projections',
    STREAMS_MAX_BYTES: '1000000',
  });
  const connection = await connect({ servers: nats.url });
  t.teardown(() => connection.close());
  const { streams } = await connection.jetstreamManager();
  const resize = (max_bytes: number) => streams.update('MARKET', { max_bytes });

  let posted = 0;
  const fill = async () => {
    for (;;) {
      const answer = await postEvent(url, large(`evt-${posted++}`));
      if (answer.status === 202) continue;
      t.match(answer, { status: 503, body: { code: 'log_unavailable' } });
      return;
    }
  };
  await fill();
  t.ok(posted > 1, 'some were taken before');
  const full = await readiness(url);
  t.match(full, { status: 503, body: { code: 'not_ready', error: 'the stream MARKET is full' } });
  const before = (await streams.info('MARKET')).state;

  await resize(before.bytes + 1_000);
  const small = await postEvent(url, sampleEvent('evt-small'));
  t.equal(small.status, 202, 'what is small still finds room');
  t.equal((await readiness(url)).status, 200, 'an append works');

  await fill();
  t.equal((await readiness(url)).status, 503);
  await resize(10_000_000);
  const { last_seq } = (await streams.info('MARKET')).state;
  await eventually(
    'readiness to come back without an event',
    async () => (await readiness(url)).status === 200,
  );
  t.equal((await streams.info('MARKET')).state.last_seq, last_seq, 'nothing was written to find out');
  t.equal((await postEvent(url, large('evt-after'))).status, 202);
});

t.test('API-14 a full stream that is not essential leaves the service ready', async (t) => {
  const nats = await startNats(t);
  const marketplace = await startMarketplace(t);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    ROLES: 'api,projections',
    STREAMS_MAX_BYTES: '10000000',
    EM_URL: marketplace.url,
  });
  const connection = await connect({ servers: nats.url });
  t.teardown(() => connection.close());
  const { streams } = await connection.jetstreamManager();
  await streams.update('AUDIT', { max_bytes: 1 });
  const tip = await fetch(`${url}/em/tips`, { method: 'POST' });
  t.match(await tip.json(), { code: 'log_unavailable' });
  t.match(await readiness(url), { status: 200 });
  t.equal((await postEvent(url, sampleEvent('evt-1'))).status, 202);
});

t.test('API-14 a log that does not acknowledge ends readiness until it can again', async (t) => {
  const nats = await startNats(t);
  const { url } = await startApp(t, { NATS_URL: nats.url, ROLES: 'api,projections' });
  const connection = await connect({ servers: nats.url });
  t.teardown(() => connection.close());
  const { streams } = await connection.jetstreamManager();
  const { config } = await streams.info('MARKET');
  await streams.delete('MARKET');
  t.match(await postEvent(url, sampleEvent('evt-1')), { status: 503, body: { code: 'log_unavailable' } });
  t.match(await readiness(url), {
    status: 503,
    body: { error: 'the event log does not acknowledge appends to MARKET' },
  });
  await streams.add(config);
  await eventually('readiness to come back', async () => (await readiness(url)).status === 200);
  t.equal((await postEvent(url, sampleEvent('evt-1'))).status, 202);
});

// one that stores appends in groups does not recover by itself: test/servers/full-disk.test.ts
const older = oldNatsServer();
const skip = needsDisk.skip || (older ? false : 'needs a nats-server of 2.10 or 2.11');

t.test('API-14 a full disk ends readiness until it has room', { skip }, async (t) => {
  const disk = smallDisk(t, 40);
  const nats = await startNats(t, { sync: 'always', store: disk.dir, program: older! });
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    ROLES: 'api,projections',
    STREAMS_MAX_BYTES: '25000000',
  });
  t.equal((await postEvent(url, large('evt-before'))).status, 202);
  await disk.fill(200_000);
  let refused = false;
  for (let n = 0; n < 10 && !refused; n++) refused = (await postEvent(url, large(`evt-${n}`))).status === 503;
  t.ok(refused, 'there is no room for all of them');
  t.match(await readiness(url), { status: 503, body: { error: /refuses appends to MARKET/ } });

  const connection = await connect({ servers: nats.url });
  t.teardown(() => connection.close());
  const { streams } = await connection.jetstreamManager();
  let looks = 0;
  const listening = connection.subscribe('relay.scratch', { callback: () => looks++ });
  await eventually('two looks', async () => (await readiness(url)).status === 503 && looks >= 2);
  t.equal((await readiness(url)).status, 503, 'and they find the disk full');
  listening.unsubscribe();
  const { last_seq } = (await streams.info('MARKET')).state;
  await disk.clear();
  await eventually('readiness to come back', async () => (await readiness(url)).status === 200);
  t.equal((await streams.info('MARKET')).state.last_seq, last_seq, 'no fact was made to find out');
  t.equal((await streams.info('RELAY_SCRATCH')).state.messages, 0, 'and nothing is left of it');
  t.equal((await postEvent(url, large('evt-after'))).status, 202);
});
