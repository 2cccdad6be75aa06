import t from 'tap';
import { deliveryQueue } from '../../projections/delivery/fold.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { postEvent, sampleEvent, startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';

const key = 'k'.repeat(40);
const build = `${deliveryQueue.name}_v${deliveryQueue.version}`;

/** The samples of a text in the format of Prometheus, by name and labels as they are there. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

async function scrape(url: string): Promise<Map<string, number>> {
  const response = await fetch(`${url}/metrics`);
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`);
  return samplesOf(await response.text());
}

t.test('API-13 what happens is counted, and what stands is read', async (t) => {
  const nats = await startNats(t);
  const ircd = await startIrcd(t);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    ...settingsOf(ircd),
  });
  const event = sampleEvent('evt-1', { event_type: 'task.expired', payload: { id: 'a1' } });
  await postEvent(url, event);
  await postEvent(url, event);
  await postEvent(url, sampleEvent('evt-2', { source: 'relay-network' }));
  await postEvent(url, event, { secret: 'wrong' });
  await postEvent(url, { no: 'event' });
  await postEvent(url, event, { body: 'x'.repeat(300_000) });
  await fetch(`${url}/nothing/of/this/name`);

  const delivered = {
    'relay_queue_events{status="delivered"}': 1,
    'relay_delivery_events_total{outcome="delivered"}': 1,
    'relay_consumer_unacknowledged_messages{consumer="deliver-to-irc"}': 0,
    [`relay_projection_lag_facts{projection="delivery_queue",build="${build}",stream="DELIVERY"}`]: 0,
  };
  const samples = await eventually('the delivery to be measured', async () => {
    const found = await scrape(url);
    return Object.entries(delivered).every(([name, value]) => found.get(name) === value) && found;
  });
  const expected = {
    'relay_webhook_events_total{outcome="accepted",code=""}': 1,
    'relay_webhook_events_total{outcome="duplicate",code=""}': 1,
    'relay_webhook_events_total{outcome="anti_echo",code=""}': 1,
    relay_webhook_conflicts_total: 0,
    'relay_webhook_events_total{outcome="rejected",code="signature_invalid"}': 1,
    'relay_webhook_events_total{outcome="rejected",code="invalid_event"}': 1,
    'relay_webhook_events_total{outcome="rejected",code="payload_too_large"}': 1,
    'relay_http_request_duration_seconds_count{method="POST",route="/hooks/em/events",status="202"}': 1,
    'relay_operation_duration_seconds_count{operation="receiveEvent",outcome="ok"}': 3,
    'relay_http_request_duration_seconds_count{method="GET",route="none",status="404"}': 1,
    'relay_log_append_duration_seconds_count{stream="MARKET",outcome="stored"}': 1,
    'relay_log_append_duration_seconds_count{stream="MARKET",outcome="conflict"}': 1,
    'relay_stream_facts{stream="MARKET"}': 1,
    'relay_stream_last_sequence{stream="MARKET"}': 1,
    [`relay_projection_head{projection="delivery_queue",build="${build}",stream="MARKET"}`]: 1,
    [`relay_projection_state{projection="delivery_queue",build="${build}",stream="MARKET",state="folding"}`]: 1,
    [`relay_projection_state{projection="delivery_queue",build="${build}",stream="MARKET",state="halted"}`]: 0,
    [`relay_projection_live{projection="delivery_queue",build="${build}"}`]: 1,
    'relay_queue_events{status="pending"}': 0,
    'relay_queue_events{status="dead_letter"}': 0,
    'relay_delivery_lines_confirmed_total{via="echo"}': 1,
    relay_delivery_attempts_failed_total: 0,
    relay_delivery_latency_seconds_count: 1,
    relay_delivery_lease_held: 1,
    relay_delivery_events_in_hand: 0,
    'relay_irc_connected{nick="em-bot"}': 1,
    'relay_irc_oper{nick="em-bot"}': 0,
    'relay_irc_oper{nick="channelserv"}': 1,
    'relay_consumer_pending_messages{consumer="deliver-to-irc"}': 0,
    relay_ready: 1,
    ...Object.fromEntries(
      ['service', 'log', 'projections', 'queue', 'delivery', 'irc'].map((part) => [
        `relay_up{part="${part}"}`,
        1,
      ]),
    ),
  };
  for (const [name, value] of Object.entries(expected)) t.equal(samples.get(name), value, name);
  const size = samples.get('relay_stream_bytes{stream="MARKET"}')!;
  t.ok(size > 100 && size < samples.get('relay_stream_limit_bytes{stream="MARKET"}')!);
  t.ok(samples.get('relay_delivery_latency_seconds_sum')! < 60);
  t.ok(samples.get('process_resident_memory_bytes')! > 0, 'and the process itself');

  await nats.kill();
  await eventually('the log to be seen away', async () => !(await fetch(`${url}/ready`)).ok);
  const without = await scrape(url);
  t.equal(without.get('relay_up{part="log"}'), 0);
  t.equal(without.get('relay_ready'), 0);
  t.notOk(without.has('relay_stream_bytes{stream="MARKET"}'), 'what is not known is absent');
  t.equal(without.get('relay_up{part="queue"}'), 1);
  t.equal(without.get('relay_queue_events{status="delivered"}'), 1, 'the others are there');
});

t.test('API-13 a part that hangs or fails holds nobody up', async (t) => {
  const metrics = new Metrics();
  let well = true;
  const parts = [
    { part: 'hanging', read: () => new Promise<never>(() => {}) },
    { part: 'failing', read: () => Promise.reject(new Error('down')) },
    {
      part: 'changing',
      read: () => {
        if (!well) throw new Error('down');
        return [['queue_events', 7, { status: 'pending' }] as const];
      },
    },
  ] as unknown as Parameters<Metrics['scrape']>[0];
  const [first, second] = await Promise.all([metrics.scrape(parts), metrics.scrape(parts)]);
  t.equal(first, second, 'who asks meanwhile gets the same');
  const samples = samplesOf(first);
  t.equal(samples.get('relay_up{part="hanging"}'), 0);
  t.equal(samples.get('relay_up{part="failing"}'), 0);
  t.equal(samples.get('relay_up{part="changing"}'), 1);
  t.equal(samples.get('relay_queue_events{status="pending"}'), 7);
  well = false;
  const after = samplesOf(await metrics.scrape(parts));
  t.equal(after.get('relay_up{part="changing"}'), 0);
  t.notOk(after.has('relay_queue_events{status="pending"}'), 'an old value is not told again');
});

t.test('API-13 metrics are for local callers and API keys', async (t) => {
  const nats = await startNats(t);
  const app = await startApp(t, { NATS_URL: nats.url, ROLES: 'api,projections', API_KEYS: `ops:${key}` });
  const ask = (remoteAddress: string, headers: Record<string, string> = {}) =>
    app.server.inject({ url: '/metrics', remoteAddress, headers });
  const local = await ask('127.0.0.1');
  t.equal(local.statusCode, 200);
  t.match(local.headers['content-type'], /^text\/plain; version=0\.0\.4/);
  t.equal((await ask('127.0.0.1', { origin: 'https://a-page.example' })).statusCode, 401);
  t.equal((await ask('127.0.0.1', { 'x-forwarded-for': '203.0.113.9' })).statusCode, 401);
  t.equal((await ask('127.0.0.1', { 'x-api-key': 'wrong' })).statusCode, 401);
  t.equal((await ask('203.0.113.9')).statusCode, 401);
  t.equal((await ask('203.0.113.9', { authorization: `Bearer ${key}` })).statusCode, 200);

  const common = { NATS_URL: nats.url, ROLES: 'api,projections', API_KEYS: `ops:${key}` };
  const open = await startApp(t, { ...common, PUBLIC_URL: 'https://relay.example' });
  const asked = async (headers: Record<string, string>) =>
    (await open.server.inject({ url: '/metrics', remoteAddress: '127.0.0.1', headers })).statusCode;
  t.equal(await asked({}), 401, 'a proxy that names nobody may ask');
  t.equal(await asked({ 'x-api-key': key }), 200);
});

t.test('API-22 probes and scrapers are not limited, and who guesses the key is', async (t) => {
  const nats = await startNats(t);
  const app = await startApp(t, {
    NATS_URL: nats.url,
    ROLES: 'api,projections',
    API_KEYS: `ops:${key}`,
    RATE_LIMIT: '3',
  });
  const remoteAddress = '203.0.113.9';
  const ask = async (url: string, headers: Record<string, string> = {}) =>
    await app.server.inject({ url, remoteAddress, headers });
  const guesses = [];
  for (const wrong of [{}, { 'x-api-key': 'a' }, { authorization: 'Bearer b' }, { 'x-api-key': 'c' }, {}])
    guesses.push(await ask('/metrics', wrong));
  t.same(
    guesses.map(({ statusCode }) => statusCode),
    [401, 401, 401, 429, 429],
  );
  t.match(guesses.at(-1)!.json(), { code: 'rate_limited' });
  t.ok(guesses.at(-1)!.headers['retry-after']);
  t.equal((await ask('/irc/stats')).statusCode, 429, 'it is one count');
  for (let n = 0; n < 5; n += 1) {
    t.equal((await ask('/metrics', { 'x-api-key': key })).statusCode, 200, 'the scraper of that address');
    for (const probe of ['/ready', '/health']) t.equal((await ask(probe)).statusCode, 200, probe);
  }
  const local = async () =>
    (await app.server.inject({ url: '/metrics', headers: { 'x-api-key': 'wrong' } })).statusCode;
  for (let n = 0; n < 5; n += 1) t.equal(await local(), 401, 'this machine is exempt, as elsewhere');
});
