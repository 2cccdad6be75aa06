import { createHmac } from 'node:crypto';
import t from 'tap';
import { createClient } from '../../src/client/index.js';
import { delivery, deliverySubject } from '../../streams/delivery/index.js';
import { openLog } from '../delivery/stage.js';
import { postEvent, sampleEvent, startApp, webhookSecret } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';

const about = { location: 'Lisbon, PT', title: 'A photo' };

async function receipt(url: string, id: string, sent: Record<string, string> = {}) {
  const timestamp = sent['x-em-timestamp'] ?? new Date().toISOString();
  const digest = createHmac('sha256', webhookSecret).update(`${timestamp}.${id}`).digest('hex');
  const headers = { 'x-em-signature': `sha256=${digest}`, 'x-em-timestamp': timestamp, ...sent };
  const answer = await fetch(`${url}/hooks/em/events/${encodeURIComponent(id)}`, { headers });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

t.test('HOOK-35 what was shown on the network', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    ...settingsOf(ircd),
  });
  const id = 'evt/1 é';
  const client = createClient({ baseUrl: url });
  const before = Date.now();
  const event = sampleEvent(id, { payload: { id: 'a1b2c3d4', ...about } });
  t.match(await client.postEvent(webhookSecret, event), { status: 'accepted' });
  const found = await eventually('it to be shown', async () => {
    const { status, body } = await receipt(url, id);
    t.equal(status, 200);
    return body.status === 'delivered' && body;
  });
  t.match(found, {
    event_id: id,
    event_type: 'task.published',
    formatted_message: '[NEW] a1b2c3d4 | A photo | /claim a1b2c3d4',
    retry_count: 0,
    last_error: null,
    channels: [
      { channel: '#bounties', status: 'delivered', failures: 0 },
      { channel: '#city-lisbon', status: 'delivered', failures: 0 },
    ],
  });
  const { received_at, ended_at, channels } = found as {
    received_at: string;
    ended_at: string;
    channels: { at: string }[];
  };
  const times = [received_at, ...channels.map(({ at }) => at), ended_at].map((time) => Date.parse(time));
  t.ok(times.every((time) => time >= before - 1_000 && time <= Date.now() + 1_000));
  t.equal(Math.max(...times), Date.parse(ended_at));
  t.match(await client.eventReceipt(webhookSecret, id), { event_id: id, status: 'delivered' });
});

t.test('HOOK-35 what was not shown, and who may ask', async (t) => {
  const nats = await startNats(t);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    ROLES: 'api,services,projections',
    IRC_URL: 'irc://127.0.0.1:1',
  });
  const log = await openLog(t, nats.url);
  const by = { by: 'deliver-to-irc' };
  const post = async (id: string) => {
    const answer = await postEvent(url, sampleEvent(id, { payload: { id: 'a1b2c3d4', ...about } }));
    t.equal(answer.status, 202);
  };
  await post('evt-1');
  t.match(await receipt(url, 'evt-1'), {
    status: 200,
    body: {
      status: 'pending',
      ended_at: null,
      channels: [
        { channel: '#bounties', status: 'pending', at: null, failures: 0 },
        { channel: '#city-lisbon', status: 'pending', at: null, failures: 0 },
      ],
    },
  });

  t.test('given up in one channel', async (t) => {
    const event = { seq: 1, event_id: 'evt-1' };
    const subject = deliverySubject('evt-1');
    const line = { ...event, channel: '#bounties', via: 'echo' as const, completes: false };
    await log.append(delivery, 'delivery.lines', { type: 'lines.confirmed', data: { lines: [line] } }, by);
    const attempt = { ...event, channel: '#city-lisbon', failures: 3, retry_count: 3, error: '404 no' };
    await log.append(delivery, subject, { type: 'attempt.failed', data: attempt }, by);
    const ends = { delivered: ['#bounties'], undelivered: ['#city-lisbon'] };
    await log.append(
      delivery,
      subject,
      {
        type: 'event.dead_lettered',
        data: { ...event, retry_count: 3, last_error: '404 no', ...ends },
      },
      by,
    );
    const time = /^\d{4}-.*Z$/;
    const found = await eventually('it to be folded', async () => {
      const { body } = await receipt(url, 'evt-1');
      return body.status === 'dead_letter' && body;
    });
    t.match(found, {
      ended_at: time,
      retry_count: 3,
      last_error: '404 no',
      channels: [
        { channel: '#bounties', status: 'delivered', at: time, failures: 0 },
        { channel: '#city-lisbon', status: 'dead_letter', at: time, failures: 3 },
      ],
    });
    await log.append(delivery, subject, { type: 'event.redriven', data: { ...event, ...ends } }, by);
    const again = await eventually('it to be tried again', async () => {
      const { body } = await receipt(url, 'evt-1');
      return body.status === 'pending' && body;
    });
    t.match(again, {
      ended_at: null,
      channels: [{ status: 'delivered' }, { status: 'pending', at: null, failures: 0 }],
    });
  });

  t.test('expired', async (t) => {
    await post('evt-2');
    const undelivered = ['#bounties', '#city-lisbon'];
    const data = { seq: 2, event_id: 'evt-2', delivered: [], undelivered };
    await log.append(delivery, deliverySubject('evt-2'), { type: 'event.expired', data }, by);
    const found = await eventually('it to be folded', async () => {
      const { body } = await receipt(url, 'evt-2');
      return body.status === 'expired' && body;
    });
    t.match(found, {
      channels: [
        { status: 'expired', at: null },
        { status: 'expired', at: null },
      ],
    });
  });

  t.test('a signature is for one event and five minutes', async (t) => {
    const now = new Date().toISOString();
    const hmac = (text: string) => `sha256=${createHmac('sha256', webhookSecret).update(text).digest('hex')}`;
    const refused: [Record<string, string>, string][] = [
      [{ 'x-em-signature': '' }, 'signature_missing'],
      [{ 'x-em-signature': hmac(''), 'x-em-timestamp': now }, 'signature_invalid'],
      [{ 'x-em-signature': hmac(`${now}.evt-2`), 'x-em-timestamp': now }, 'signature_invalid'],
      [{ 'x-em-timestamp': new Date(Date.now() - 301_000).toISOString() }, 'timestamp_stale'],
      [{ 'x-em-timestamp': now.slice(0, -1) }, 'timestamp_invalid'],
    ];
    for (const [headers, code] of refused)
      t.match(await receipt(url, 'evt-1', headers), { status: 401, body: { code } }, code);
    const { body } = await receipt(url, 'evt-1', { 'x-em-signature': hmac('') });
    t.match(body, { hint: /event_id/ });
    t.match(await receipt(url, 'evt-none'), { status: 404, body: { code: 'not_found' } });
  });
});

t.test('HOOK-35 where the bridge is elsewhere', async (t) => {
  const nats = await startNats(t);
  const roles = { NATS_URL: nats.url, IRC_URL: 'irc://127.0.0.1:1' };
  const inside = await startApp(t, { ...roles, ROLES: 'services,projections' });
  const outside = await startApp(t, {
    ...roles,
    ROLES: 'api,projections',
    BRIDGE_URL: `${inside.url}/bridge`,
  });
  await postEvent(outside.url, sampleEvent('evt/1'));
  t.match(await receipt(outside.url, 'evt/1'), {
    status: 200,
    body: { event_id: 'evt/1', status: 'pending' },
  });
});
