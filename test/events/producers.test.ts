import { createHmac } from 'node:crypto';
import pino from 'pino';
import t from 'tap';
import { createApp } from '../../src/app/app.js';
import { readConfig } from '../../src/config/config.js';
import { market } from '../../streams/events/index.js';
import { producers } from '../../streams/producers/index.js';
import { openLog } from '../delivery/stage.js';
import { postEvent, sampleEvent, startApp, webhookSecret } from '../support/app.js';
import { startNats } from '../support/nats.js';

const secrets = { acme: 'ac'.repeat(20), umbrella: 'be'.repeat(20) };
const EM_PRODUCERS = `acme=${secrets.acme}, umbrella=${secrets.umbrella}`;
const withoutIrc = { ROLES: 'api,services,projections', IRC_URL: 'irc://127.0.0.1:1' };

t.test('HOOK-36 producers with names', async (t) => {
  const nats = await startNats(t);
  const start = () => startApp(t, { ...withoutIrc, NATS_URL: nats.url, EM_PRODUCERS });
  const { url } = await start();
  const log = await openLog(t, nats.url);
  const post = async (secret: string, source: string, id: string, task: string, more: object = {}) => {
    const event = { event_type: 'task.expired', source, payload: { id: task, ...more } };
    const { status, body } = await postEvent(url, sampleEvent(id, event), { secret });
    return { status, body };
  };
  const refused = (code: string) => ({ status: 403, body: { code } });

  t.test('each speaks with its own source', async (t) => {
    t.match(await post(secrets.acme, 'acme', 'evt-1', 'aaaaaaaa-1'), { status: 202 });
    t.match(await post(secrets.acme, 'umbrella', 'evt-2', 'aaaaaaaa-1'), refused('source_not_yours'));
    t.match(await post(secrets.acme, 'marketplace', 'evt-2', 'aaaaaaaa-1'), refused('source_not_yours'));
    t.match(await post(webhookSecret, 'acme', 'evt-2', 'aaaaaaaa-1'), refused('source_not_yours'));
    t.match(await post(webhookSecret, 'rest_api', 'evt-0', 'cccccccc'), { status: 202 });
    t.match(await post(webhookSecret, 'mcp_tool', 'evt-3', 'cccccccc'), { status: 202 });
  });

  t.test('the first that spoke of a task owns it', async (t) => {
    const before = await log.head(market);
    for (const id of ['aaaaaaaa-1', 'AAAAAAAA-other'])
      t.match(await post(secrets.umbrella, 'umbrella', 'evt-4', id), refused('task_not_yours'), id);
    t.match(
      await post(secrets.umbrella, 'umbrella', 'evt-4', '', { task_id: 'aaaaaaaa-1', id: null }),
      refused('task_not_yours'),
    );
    t.match(await post(webhookSecret, 'rest_api', 'evt-4', 'aaaaaaaa'), refused('task_not_yours'));
    t.match(await post(secrets.acme, 'acme', 'evt-4', 'cccccccc'), refused('task_not_yours'));
    const tried = await postEvent(
      url,
      sampleEvent('evt-4', { source: 'umbrella', payload: { id: 'aaaaaaaa-1' } }),
      { secret: secrets.umbrella, path: '/hooks/em/events?dry_run=true' },
    );
    t.match(tried, refused('task_not_yours'));
    t.equal(await log.head(market), before);
    t.match(await post(secrets.umbrella, 'umbrella', 'evt-4', 'bbbbbbbb'), { status: 202 }, 'its id is free');
    t.match(await post(secrets.acme, 'acme', 'evt-5', 'aaaaaaaa-1'), { status: 202 });
    const again = await start();
    const event = { source: 'umbrella', payload: { id: 'aaaaaaaa-1' } };
    t.match(
      await postEvent(again.url, sampleEvent('evt-6', event), { secret: secrets.umbrella }),
      refused('task_not_yours'),
      'after a restart too',
    );
    const answers = await Promise.all(
      (['acme', 'umbrella'] as const).flatMap((source) =>
        [url, again.url].map((to, n) =>
          postEvent(to, sampleEvent(`race-${source}-${n}`, { source, payload: { id: 'dddddddd' } }), {
            secret: secrets[source],
          }),
        ),
      ),
    );
    t.same(answers.map(({ status }) => status).sort(), [202, 202, 403, 403], 'of two at once, one');
    t.equal((await log.last(producers, 'producers.task.task-dddddddd'))?.type, 'task.owned');
  });

  t.test('HOOK-38 no producer takes the id of another’s event in silence', async (t) => {
    const before = await log.head(market);
    const taken = {
      status: 409,
      body: { code: 'event_id_taken', queued: undefined, delivery_status: undefined },
    };
    t.match(await post(secrets.umbrella, 'umbrella', 'evt-1', 'bbbbbbbb'), taken);
    t.match(await post(webhookSecret, 'rest_api', 'evt-1', 'cccccccc'), taken);
    const event = sampleEvent('evt-1', {
      event_type: 'task.expired',
      source: 'umbrella',
      payload: { id: 'bbbbbbbb' },
    });
    const path = '/hooks/em/events?dry_run=true';
    t.match(
      await postEvent(url, event, { secret: secrets.umbrella, path }),
      taken,
      'a dry run says no more of it',
    );
    t.equal(await log.head(market), before, 'nothing of it is stored');
    const again = { status: 200, body: { status: 'already_processed', delivery_status: 'pending' } };
    t.match(await post(secrets.acme, 'acme', 'evt-1', 'aaaaaaaa-1'), again, 'its own producer may repeat it');
    t.match(
      await post(webhookSecret, 'mcp_tool', 'evt-0', 'cccccccc'),
      again,
      'sources of one secret are one producer',
    );
  });

  t.test('each sees its own events', async (t) => {
    const receipt = async (secret: string, id: string) => {
      const timestamp = new Date().toISOString();
      const digest = createHmac('sha256', secret).update(`${timestamp}.${id}`).digest('hex');
      const headers = { 'x-em-signature': `sha256=${digest}`, 'x-em-timestamp': timestamp };
      return (await fetch(`${url}/hooks/em/events/${id}`, { headers })).status;
    };
    t.equal(await receipt(secrets.acme, 'evt-1'), 200);
    t.equal(await receipt(secrets.umbrella, 'evt-1'), 404);
    t.equal(await receipt(webhookSecret, 'evt-1'), 404);
    t.equal(await receipt(webhookSecret, 'evt-0'), 200);
    t.equal(await receipt(secrets.acme, 'evt-0'), 404);
  });
});

t.test('HOOK-40 tasks of before there were names stay with who spoke of them first', async (t) => {
  const nats = await startNats(t);
  const before = await startApp(t, { ...withoutIrc, NATS_URL: nats.url });
  const post = async (url: string, source: string, id: string, task: string, secret: string) =>
    await postEvent(url, sampleEvent(id, { event_type: 'task.expired', source, payload: { id: task } }), {
      secret,
    });
  const accepted = { status: 202 };
  t.match(await post(before.url, 'rest_api', 'evt-1', 'aaaaaaaa', webhookSecret), accepted);
  t.match(await post(before.url, 'acme', 'evt-2', 'bbbbbbbb', webhookSecret), accepted);
  t.match(await post(before.url, 'test', 'evt-3', 'cccccccc', webhookSecret), accepted);
  await before.stop();
  const log = await openLog(t, nats.url);
  t.equal(await log.head(producers), 0);

  const EM_PRODUCERS_AND_TESTS = `${EM_PRODUCERS}, test=${'7e'.repeat(20)}`;
  const start = () =>
    startApp(t, { ...withoutIrc, NATS_URL: nats.url, EM_PRODUCERS: EM_PRODUCERS_AND_TESTS });
  const [{ url }, other] = await Promise.all([start(), start()]);
  const refused = { status: 403, body: { code: 'task_not_yours' } };
  t.match(await post(url, 'umbrella', 'evt-4', 'aaaaaaaa', secrets.umbrella), refused);
  t.match(await post(other.url, 'umbrella', 'evt-4', 'bbbbbbbb', secrets.umbrella), refused);
  t.match(await post(url, 'umbrella', 'evt-4', 'cccccccc', secrets.umbrella), accepted, 'tests own nothing');
  t.match(await post(url, 'acme', 'evt-5', 'bbbbbbbb', secrets.acme), accepted);
  t.match(await post(other.url, 'rest_api', 'evt-6', 'aaaaaaaa', webhookSecret), accepted);
  t.match(await log.last(producers, 'producers.looked-back'), { data: { seq: 3 } }, 'once for all');
});

t.test('HOOK-40 an event that is refused makes nobody an owner', async (t) => {
  const nats = await startNats(t);
  const { url } = await startApp(t, { ...withoutIrc, NATS_URL: nats.url, EM_PRODUCERS });
  const log = await openLog(t, nats.url);
  const post = async (source: keyof typeof secrets, id: string, task: string) =>
    await postEvent(url, sampleEvent(id, { event_type: 'task.expired', source, payload: { id: task } }), {
      secret: secrets[source],
    });
  t.match(await post('acme', 'evt-1', 'aaaaaaaa'), { status: 202 });
  const head = await log.head(producers);
  t.match(await post('umbrella', 'evt-1', 'bbbbbbbb'), { status: 409, body: { code: 'event_id_taken' } });
  t.equal(await log.head(producers), head);
  t.match(await post('acme', 'evt-2', 'bbbbbbbb'), { status: 202 }, 'it is still free');
});

t.test('HOOK-36 with one producer nobody owns anything', async (t) => {
  const nats = await startNats(t);
  const { url } = await startApp(t, { ...withoutIrc, NATS_URL: nats.url });
  const log = await openLog(t, nats.url);
  for (const source of ['acme', 'umbrella'])
    t.equal((await postEvent(url, sampleEvent(`evt-${source}`, { source }))).status, 202);
  t.equal(await log.head(producers), 0);
});

t.test('HOOK-36 what is no list of producers is refused, without its secrets', async (t) => {
  const wrong: [string, RegExp][] = [
    ['acme', /EM_PRODUCERS: pair 1 is no name=secret/],
    [`acme=${secrets.acme},=hush-hush`, /pair 2 is no name=secret/],
    [`a b=${secrets.acme}`, /pair 1 is no name=secret/],
    [`acme=${secrets.acme},umbrella=${secrets.acme}`, /pair 2 has the secret of another pair/],
    [`relay-network=${secrets.acme}`, /relay-network is EM_SOURCE/],
    [`acme=${webhookSecret}`, /acme has a secret of EM_WEBHOOK_SECRET/],
  ];
  for (const [given, message] of wrong) {
    const read = () => readConfig({ EM_PRODUCERS: given, EM_WEBHOOK_SECRET: webhookSecret });
    t.throws(read, { message });
    try {
      read();
    } catch (error) {
      for (const secret of [secrets.acme, webhookSecret, 'hush-hush'])
        t.notMatch((error as Error).message, secret);
    }
  }
  t.same(readConfig({ EM_PRODUCERS: `acme=a=b,acme=c` }).EM_PRODUCERS, [
    { source: 'acme', secret: 'a=b' },
    { source: 'acme', secret: 'c' },
  ]);
});

t.test('HOOK-36 no secret of a producer is in the log', async (t) => {
  const nats = await startNats(t);
  const lines: string[] = [];
  const config = readConfig({
    ...withoutIrc,
    NATS_URL: nats.url,
    EM_PRODUCERS: `acme=${secrets.acme},tiny=shh-shh`,
    DATA_DIR: t.testdir(),
    PORT: '0',
    STREAMS_MAX_BYTES: '500000000',
    LOG_LEVEL: 'trace',
  });
  const app = await createApp(
    config,
    pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
  );
  const answer = await postEvent(app.address!, sampleEvent('evt-1', { source: 'acme' }), {
    secret: secrets.acme,
  });
  t.ok(answer.status < 600);
  await app.stop();
  const said = lines.join('');
  t.match(said, /the secret of tiny in EM_PRODUCERS is shorter/);
  for (const secret of [secrets.acme, 'shh-shh']) t.notMatch(said, secret);
});
