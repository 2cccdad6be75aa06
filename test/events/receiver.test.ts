import pino from 'pino';
import t from 'tap';
import { ConflictingEvents } from '../../src/operations/events/conflicting-events.js';
import { postEvent, sampleEvent, startApp, webhookSecret } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';

/** The receiver with the log and the read models, without a network. */
const withoutIrc = { ROLES: 'api,services,projections,workers', IRC_URL: 'irc://127.0.0.1:1' };

t.test('the receiver', async (t) => {
  const nats = await startNats(t);
  const app = await startApp(t, { ...withoutIrc, NATS_URL: nats.url });
  const { url } = app;

  t.test('HOOK-09 a new event answers 202 with its channels and its line', async (t) => {
    const answer = await postEvent(url, sampleEvent('evt-1'));
    t.equal(answer.status, 202);
    t.same(answer.body, {
      status: 'accepted',
      queued: true,
      event_id: 'evt-1',
      target_channels: ['#bounties'],
      formatted_message: '[NEW] evt-1-00 | Task evt-1 | $5 USDC (base) | /claim evt-1-00',
    });
  });

  t.test('HOOK-10 a known event is answered as such, whatever else is in it', async (t) => {
    const again = await postEvent(url, sampleEvent('evt-1'));
    t.equal(again.status, 200);
    t.match(again.body, { status: 'already_processed', queued: false, duplicate: true, event_id: 'evt-1' });
    t.equal(again.body.delivery_status, 'pending');
    const changed = await postEvent(url, sampleEvent('evt-1', { event_type: 'task.expired', payload: {} }));
    t.equal(changed.body.status, 'already_processed');
  });

  t.test('HOOK-30 another body under a known id is counted, and told of once', async (t) => {
    const conflicts = async () =>
      Number(/^relay_webhook_conflicts_total (\d+)/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);
    await postEvent(url, sampleEvent('evt-twice'));
    const before = await conflicts();
    await eventually('it to be compared', async () => {
      t.equal((await postEvent(url, sampleEvent('evt-twice', { source: 'another' }))).status, 200);
      return (await conflicts()) > before;
    });
    const compared = await conflicts();
    t.notHas((await postEvent(url, sampleEvent('evt-twice'))).body, { warnings: [] });
    t.equal(await conflicts(), compared, 'the same again is none');
    for (const other of [{ event_type: 'task.expired' }, { payload: { id: 'x' } }]) {
      const { body } = await postEvent(url, sampleEvent('evt-twice', other));
      t.match(body, {
        status: 'already_processed',
        warnings: [{ path: 'event_id', message: /another body/ }],
      });
    }
    t.equal(await conflicts(), compared + 2);

    const lines: string[] = [];
    let count = 0;
    const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) });
    const conflicting = new ConflictingEvents(logger, () => {
      count += 1;
    });
    for (const id of ['a', 'a', 'b', 'a']) conflicting.note(id);
    t.equal(count, 4);
    t.same(
      lines.map((line) => Object.keys(JSON.parse(line))),
      [
        ['level', 'event_id', 'msg'],
        ['level', 'event_id', 'msg'],
      ],
    );
    for (let n = 0; n < 1_000; n++) conflicting.note(`x${n}`);
    conflicting.note('x0');
    t.equal(lines.length, 1_002);
  });

  t.test('HOOK-10 of 50 deliveries of one event at once, one is accepted', async (t) => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => postEvent(url, sampleEvent('evt-race'))),
    );
    t.equal(answers.filter((answer) => answer.status === 202).length, 1);
    t.equal(answers.filter((answer) => answer.status === 200).length, 49);
  });

  t.test('HOOK-11 an event of our own is ignored', async (t) => {
    const answer = await postEvent(url, sampleEvent('evt-echo', { source: 'relay-network' }));
    t.equal(answer.status, 200);
    t.same(answer.body, { status: 'ignored', queued: false, reason: 'anti-echo' });
    const foreign = await postEvent(url, sampleEvent('evt-echo'));
    t.equal(foreign.status, 202, 'its id was not used up');
  });

  t.test('HOOK-12 what is no event answers 400 with the bad fields, and nothing is stored', async (t) => {
    const bad: [string, string][] = [
      ['', ''],
      ['{', ''],
      ['[]', ''],
      ['null', ''],
      ['"text"', ''],
      ['{"event_type":"task.published","source":"em","payload":{}}', 'event_id'],
      ['{"event_id":"","event_type":"task.published","source":"em","payload":{}}', 'event_id'],
      ['{"event_id":"..","event_type":"task.published","source":"em","payload":{}}', 'event_id'],
      ['{"event_id":7,"event_type":"task.published","source":"em","payload":{}}', 'event_id'],
      ['{"event_id":"x","event_type":"task.published","source":"em","payload":[]}', 'payload'],
      ['{"event_id":"x","event_type":"task.published","source":"em","payload":"p"}', 'payload'],
      ['{"event_id":"x","event_type":"","source":"em","payload":{}}', 'event_type'],
      ['{"event_id":"x","event_type":"task.published","source":"em","payload":{"__proto__":{"a":1}}}', ''],
      [
        `{"event_id":"x","event_type":"a","source":"em","payload":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
        '',
      ],
    ];
    for (const [body, path] of bad) {
      const answer = await postEvent(url, undefined, { body });
      t.equal(answer.status, 400, body.slice(0, 60));
      t.equal(answer.body.code, 'invalid_event');
      if (path) t.match(answer.body.details, [{ path: new RegExp(path) }]);
    }
    t.match(await postEvent(url, undefined, { body: '{"event_id":' }), {
      status: 400,
      body: { code: 'invalid_event', hint: /^Send one JSON object/ },
    });
    const invalidUtf8 = Buffer.from(
      '{"event_id":"x","event_type":"a","source":"em","payload":{"t":"\xff\xfe"}}',
      'latin1',
    );
    t.equal((await postEvent(url, undefined, { body: invalidUtf8 })).status, 400, 'invalid UTF-8');
    t.equal((await postEvent(url, sampleEvent('x'))).status, 202, 'the id is still free');
  });

  t.test('HOOK-03 HOOK-05 rejections have their codes and store nothing', async (t) => {
    const event = sampleEvent('evt-rejected');
    const cases: [Record<string, string>, string][] = [
      [{ 'x-em-signature': '' }, 'signature_missing'],
      [{ 'x-em-signature': `sha256=${'0'.repeat(64)}` }, 'signature_invalid'],
      [{ 'x-em-timestamp': '' }, 'timestamp_missing'],
      [{ 'x-em-timestamp': 'yesterday' }, 'timestamp_invalid'],
      [{ 'x-em-timestamp': new Date(Date.now() - 301_000).toISOString() }, 'timestamp_stale'],
      [{ 'x-em-timestamp': new Date(Date.now() + 301_000).toISOString() }, 'timestamp_stale'],
    ];
    for (const [headers, code] of cases) {
      const answer = await postEvent(url, event, { headers });
      t.equal(answer.status, 401, code);
      t.equal(answer.body.code, code);
      t.type(answer.body.error, 'string');
    }
    for (const offset of [-299_000, 299_000]) {
      const id = `evt-in-window${offset}`;
      const headers = { 'x-em-timestamp': new Date(Date.now() + offset).toISOString() };
      t.equal((await postEvent(url, sampleEvent(id), { headers })).status, 202);
    }
    t.equal((await postEvent(url, event)).status, 202, 'none of the rejected ones was stored');
  });

  t.test('HOOK-33 a timestamp without a zone is answered so', async (t) => {
    const headers = { 'x-em-timestamp': new Date().toISOString().slice(0, -1) };
    t.match(await postEvent(url, sampleEvent('evt-zone'), { headers }), {
      status: 401,
      body: { code: 'timestamp_invalid', error: /no zone/, hint: /Z/ },
    });
  });

  t.test('HOOK-12 bodies that are too large, of another type or on another method', async (t) => {
    const large = await postEvent(url, sampleEvent('big', { payload: { title: 'x'.repeat(300_000) } }));
    t.match(large, { status: 413, body: { code: 'payload_too_large' } });
    const text = await postEvent(url, sampleEvent('x2'), { headers: { 'content-type': 'text/plain' } });
    t.match(text, { status: 415, body: { code: 'unsupported_media_type' } });
    const get = await fetch(`${url}/hooks/em/events`);
    t.equal(get.status, 405);
    t.equal(get.headers.get('allow'), 'POST');
    t.match(await get.json(), { code: 'method_not_allowed' });
    const nowhere = await fetch(`${url}/hooks/em/other`);
    t.match(await nowhere.json(), { code: 'not_found' });
  });

  t.test('HOOK-17 the aliases of payload fields are understood', async (t) => {
    const payload = { task_id: 'abcdefgh-1', title: 'T', bounty_usd: 2.5, payment_network: 'celo' };
    const answer = await postEvent(url, sampleEvent('evt-alias', { payload }));
    t.match(answer.body.formatted_message, /^\[NEW\] abcdefgh \| T \| \$2\.50 USDC \(celo\) \|/);
  });

  t.test('HOOK-15 statistics agree with what was just posted', async (t) => {
    const stats = async () => (await (await fetch(`${url}/hooks/em/stats`)).json()) as Record<string, number>;
    const before = await stats();
    t.match(before, { delivered_today: 0, dead_letter: 0, webhook_secret_configured: true });
    await postEvent(url, sampleEvent('evt-counted'));
    const after = await stats();
    t.equal(after.pending, before.pending! + 1);
    t.ok(Date.parse(String(after.last_event_received)) > Date.now() - 60_000);
  });
});

t.test('HOOK-13 without a secret events answer 503', async (t) => {
  const nats = await startNats(t);
  const { url } = await startApp(t, { ...withoutIrc, NATS_URL: nats.url, EM_WEBHOOK_SECRET: '' });
  const answer = await postEvent(url, sampleEvent('evt-1'));
  t.match(answer, { status: 503, body: { code: 'webhook_secret_not_configured' } });
  const stats = (await (await fetch(`${url}/hooks/em/stats`)).json()) as object;
  t.match(stats, { webhook_secret_configured: false });
});

t.test('HOOK-07 HOOK-08 rotated secrets and the second scheme over HTTP', async (t) => {
  const nats = await startNats(t);
  const old = 'a1'.repeat(32);
  const { url } = await startApp(t, {
    ...withoutIrc,
    NATS_URL: nats.url,
    EM_WEBHOOK_SECRET: `${webhookSecret}, ${old}`,
    EM_WEBHOOK_SCHEMES: 'body,timestamped',
  });
  t.equal((await postEvent(url, sampleEvent('evt-1'), { secret: old })).status, 202);
  t.equal((await postEvent(url, sampleEvent('evt-2'))).status, 202);
  t.equal((await postEvent(url, sampleEvent('evt-3'), { secret: 'b2'.repeat(32) })).status, 401);
  const { createHmac } = await import('node:crypto');
  const body = JSON.stringify(sampleEvent('evt-4'));
  const seconds = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', old).update(`${seconds}.${body}`).digest('hex');
  const headers = { 'x-em-signature': signature, 'x-em-timestamp': seconds };
  t.equal((await postEvent(url, undefined, { body, headers })).status, 202);
});

t.test('HOOK-14 a log that does not answer means 503, and repeating doubles nothing', async (t) => {
  const nats = await startNats(t);
  const { url } = await startApp(t, { ...withoutIrc, NATS_URL: nats.url });
  nats.pause();
  const answer = await postEvent(url, sampleEvent('evt-1'));
  t.match(answer, { status: 503, body: { code: 'log_unavailable' } });
  t.ok(answer.headers.get('retry-after'));
  nats.resume();
  // what was sent into the pause may have been stored: both answers are right, a second event is not
  const repeated = await eventually('the log is back', async () => {
    const again = await postEvent(url, sampleEvent('evt-1'));
    return again.status < 300 && again;
  });
  t.ok([200, 202].includes(repeated.status));
  t.equal((await postEvent(url, sampleEvent('evt-1'))).body.status, 'already_processed');
  const pending = async () =>
    ((await (await fetch(`${url}/hooks/em/stats`)).json()) as { pending: number }).pending;
  // a read waits for what was written, but not for ever: the read model has lost its log too
  await eventually('it to be counted', async () => (await pending()) > 0);
  t.equal(await pending(), 1);
});

t.test('HOOK-16 the bridge in a process of its own, and its address as the way there', async (t) => {
  const nats = await startNats(t);
  const inside = await startApp(t, { ...withoutIrc, NATS_URL: nats.url, ROLES: 'services,projections' });
  const event = sampleEvent('evt-inside');
  const post = await fetch(`${inside.url}/bridge/api/em/event`, {
    method: 'POST',
    body: JSON.stringify(event),
    headers: { 'content-type': 'application/json' },
  });
  t.equal(post.status, 202);
  const stats = await fetch(`${inside.url}/bridge/api/em/queue-stats`);
  t.match(await stats.json(), { pending: 1, delivered_today: 0, dead_letter: 0 });
  t.equal((await fetch(`${inside.url}/hooks/em/stats`)).status, 404, 'it has no public routes');

  const outside = await startApp(t, {
    NATS_URL: nats.url,
    ROLES: 'api,projections',
    BRIDGE_URL: `${inside.url}/bridge`,
    PROXY_TIMEOUT: '1000',
  });
  t.match(await postEvent(outside.url, event), { status: 200, body: { status: 'already_processed' } });
  t.match(await postEvent(outside.url, sampleEvent('evt-outside')), { status: 202, body: { queued: true } });
  t.match(await postEvent(outside.url, { ...event, event_id: '' }), {
    status: 400,
    body: { code: 'invalid_event' },
  });

  await inside.stop();
  const unreachable = await postEvent(outside.url, sampleEvent('evt-3'));
  t.match(unreachable, { status: 502, body: { error: /bridge/, code: 'upstream_unreachable' } });
  const health = (await (await fetch(`${outside.url}/health`)).json()) as object;
  t.match(health, { status: 'degraded', services: { bridge: { status: 'unreachable' } } });
});
