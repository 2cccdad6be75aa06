import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { createApp } from '../../src/app/app.js';
import { readConfig } from '../../src/config/config.js';
import { Log } from '../../streams/core/index.js';
import { delivery, deliverySubject } from '../../streams/delivery/index.js';
import { eventToken } from '../../streams/events/index.js';
import { hangMs } from '../support/eventually.js';
import { startIrcd } from '../support/ircd.js';
import { relay } from './terminal.js';

const logger = pino({ level: 'silent' });
const key = 'k'.repeat(40);

interface Projections {
  projections: { name: string; schema: string; state: string; streams: { lag: number }[] }[];
}

/** The JSON documents that a command prints, asked for again until they satisfy. */
async function until<Document>(
  argv: string[],
  env: NodeJS.ProcessEnv,
  satisfies: (document: Document) => boolean,
): Promise<Document> {
  const deadline = Date.now() + hangMs;
  for (;;) {
    const { code, out, err } = await relay([...argv, '--json'], { env });
    const document = code === 0 ? (JSON.parse(out) as Document) : undefined;
    if (document && satisfies(document)) return document;
    if (Date.now() > deadline) throw new Error(`${argv.join(' ')} still prints ${out}${err}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

t.test('the command line and a running service', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'relay-ops-'));
  // nobody delivers here: what becomes of an event is what the test writes
  const settings = {
    DATA_DIR: dataDir,
    PORT: '0',
    ROLES: 'api,services,projections',
    API_KEYS: `ann:${key}`,
  };
  const app = await createApp(readConfig(settings), logger);
  t.teardown(async () => {
    await app.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  const env = { ...settings, PORT: new URL(app.address!).port, RELAY_API_KEY: key };
  const log = await Log.open({
    urls: app.places.nats,
    name: 'test',
    streams: [],
    replicas: 1,
    maxBytes: 0,
    logger,
  });
  t.teardown(() => log.close());
  const giveUp = (event_id: string, seq: number) => {
    const data = {
      seq,
      event_id,
      retry_count: 3,
      last_error: 'cannot send \u009b',
      delivered: [],
      undelivered: ['#bounties'],
    };
    const subject = deliverySubject(eventToken(event_id));
    return log.append(delivery, subject, { type: 'event.dead_lettered', data }, { by: 'test' });
  };

  await until(['projections'], env, ({ projections }: Projections) =>
    projections.every(({ state }) => state === 'live'),
  );

  await t.test('OPERATE-24 emit', async (t) => {
    const sample = await relay(
      ['emit', 'task.published', '--id', 'e-1', '--task', 'abcd1234', '--set', 'title=A title = this'],
      { env },
    );
    t.equal(sample.code, 0, sample.err);
    t.equal(
      sample.out,
      'accepted  e-1\n  #bounties #city-lisbon #cat-physical-presence\n' +
        '  [NEW] abcd1234 | A title = this | $25 USDC (base) | physical_presence | /claim abcd1234',
    );
    // whether a known event differs is read from the queue, which may lag
    await until(['projections'], env, ({ projections }: Projections) =>
      projections.every(({ streams }) => streams.every(({ lag }) => lag === 0)),
    );
    t.match(await relay(['emit', 'task.published', '--id', 'e-1'], { env }), {
      code: 0,
      out: 'already_processed  e-1  (pending)',
      err: /^warning: .*another body/,
    });
    const payload = '{"id":"zzz","reason":"too dark"}';
    const given = await relay(['emit', 'task.rejected', '--id', 'e-2', '--payload', payload, '--json'], {
      env,
    });
    t.match(JSON.parse(given.out), {
      status: 'accepted',
      event_id: 'e-2',
      formatted_message: '[REJECTED] Task zzz | Reason: too dark',
    });
    const files = t.testdir({
      'payload.json': '{"id":"from-file"}',
      'event.json': '{"event_id":"e-3","source":"elsewhere","payload":{"id":"whole"}}',
    });
    t.match(await relay(['emit', 'task.expired', '--file', `${files}/event.json`], { env }), {
      code: 0,
      out: /^accepted {2}e-3\n.*\n {2}\[EXPIRED\] Task whole$/,
    });
    t.match(await relay(['emit', 'task.expired', '--file', `${files}/payload.json`], { env }), {
      out: /Task from-fil$/,
    });
    t.match(await relay(['emit', 'task.expired', '--source', 'relay-network'], { env }), {
      code: 0,
      out: /^ignored .*\(anti-echo\)$/,
    });
    t.match(await relay(['emit', 'x.y', '--payload', '{}', '--id', ' '], { env }), {
      code: 1,
      err: /event_id/,
    });
    t.match(await relay(['emit', 'task.expired', '--file', `${files}/none.json`], { env }), {
      code: 1,
      err: /cannot be read/,
    });
    const wrong = await relay(['emit', 'task.expired', '--json'], {
      env: { ...env, EM_WEBHOOK_SECRET: 'wrong' },
    });
    t.match(wrong, { code: 1, out: '' });
    t.match(JSON.parse(wrong.err), { code: 'signature_invalid', hint: /the secret that you share/ });
  });

  await t.test('events and streams, through the record of the log server', async (t) => {
    const events = await relay(['events', 'market', '--json'], { env });
    const facts = events.out.split('\n').map((line) => JSON.parse(line));
    t.same(facts.map(({ data }) => data.event_id).slice(0, 3), ['e-1', 'e-2', 'e-3']);
    t.match(facts[2], { type: 'event.received', by: 'elsewhere', data: { target_channels: ['#bounties'] } });
    const { streams } = JSON.parse((await relay(['streams', '--json'], { env })).out);
    t.match(streams[0], { stream: 'MARKET', facts: facts.length });
  });

  await t.test('OPERATE-24 projections', async (t) => {
    const live = ({ projections }: Projections) =>
      projections.every(({ state, streams }) => state === 'live' && streams.every(({ lag }) => lag === 0));
    const { projections } = await until(['projections'], env, live);
    const queue = projections.find(({ name }) => name === 'delivery_queue');
    if (!queue) throw new Error('there is no read model delivery_queue');
    const plain = await relay(['projections'], { env });
    t.match(plain.out, /^NAME +TABLES +STATE +STREAM +POSITION +HEAD +LAG\n/);
    t.match(plain.out, /^delivery_queue +\S+ +live +MARKET +4 +4 +0$/m);

    const rebuilt = await relay(['projections', 'rebuild', 'delivery_queue'], { env });
    t.match(rebuilt, { code: 0, out: /^\S+ is live$/, err: /100% \(\d+ of \d+\)$/ });
    const schema = rebuilt.out.split(' ')[0]!;
    t.not(schema, queue.schema);
    t.match(await relay(['projections', 'prune'], { env }), { code: 0, out: queue.schema });
    t.match(await relay(['projections', 'prune'], { env }), { code: 0, out: 'nothing to drop' });
    t.match(await relay(['projections', 'prune', '--json'], { env }), { code: 0, out: '{"dropped":[]}' });
    t.match(await relay(['projections', 'rebuild', 'nothing'], { env }), {
      code: 1,
      err: /\n"relay projections" lists them$/,
    });
    t.match(await relay(['dead-letters', 'show', 'nothing'], { env }), {
      err: /"relay events market" lists what was received$/,
    });
    const skip = [
      'projections',
      'skip',
      'delivery_queue',
      '--stream',
      'market',
      '--seq',
      '1',
      '--reason',
      'why',
    ];
    t.match(await relay(skip, { env }), { code: 1, err: /has not halted at MARKET 1/ });
  });

  await t.test('dead letters', async (t) => {
    t.match(await relay(['dead-letters'], { env }), { code: 0, out: 'none' });
    await giveUp('e-1', 1);
    await giveUp('e-3', 3);
    await until(
      ['dead-letters'],
      env,
      ({ dead_letters }: { dead_letters: unknown[] }) => dead_letters.length === 2,
    );
    const list = await relay(['dead-letters'], { env });
    t.match(list.out, /^EVENT +TYPE +STATUS +FAILURES +RECEIVED +ERROR\n/);
    t.match(list.out, /^e-1 +task\.published +dead_letter +3 +\S+ \S+Z +cannot send \\u\{9b\}$/m);
    t.equal(
      JSON.parse((await relay(['dead-letters', '--limit', '1', '--json'], { env })).out).dead_letters.length,
      1,
    );

    const shown = await relay(['dead-letters', 'show', 'e-1'], { env });
    t.match(shown.out, /^formatted_message +\[NEW\] abcd1234/m);
    t.match(shown.out, /^CHANNEL +STATUS +FAILURES +AT\n#\S+ +(dead_letter|delivered) +\d+ +\S/m);
    t.match(JSON.parse((await relay(['dead-letters', 'show', 'e-1', '--json'], { env })).out), {
      event_id: 'e-1',
      payload: /^\{"id":"abcd1234",/,
    });
    t.match(await relay(['dead-letters', 'show', 'nobody'], { env }), {
      code: 1,
      err: /No event with id nobody/,
    });

    t.match(await relay(['dead-letters', 'redrive', 'e-1'], { env }), {
      code: 0,
      out: 'e-1: to be shown in #bounties',
    });
    t.match(await relay(['dead-letters', 'redrive', 'e-1'], { env }), {
      code: 1,
      err: /is not a dead letter/,
    });
    t.match(await relay(['dead-letters', 'redrive', '--all'], { env }), {
      code: 0,
      out: '1 redriven',
      err: 'redriving: 100% (1 of 1)',
    });
    t.match(await relay(['dead-letters'], { env }), { code: 0, out: 'none' });
    t.match(await relay(['dead-letters', 'redrive', '--all', '--json'], { env }), {
      code: 0,
      out: '{"redriven":0,"failed":[]}',
    });
    const redriven = await relay(['events', 'delivery', '--json'], { env });
    t.match(JSON.parse(redriven.out.split('\n').at(-1)!), { type: 'event.redriven', by: 'ann' });
  });

  await t.test('the key', async (t) => {
    const without = { ...env, RELAY_API_KEY: '' };
    t.equal((await relay(['projections'], { env: without })).code, 0, 'the first of API_KEYS');
    t.match(await relay(['projections'], { env: { ...without, API_KEYS: '' } }), {
      code: 1,
      err: /Give the key with --key/,
    });
    t.match(await relay(['projections', '--key', 'wrong'], { env }), { code: 1, err: /not known/ });
  });

  await t.test('a read model that halted, and the fact that it goes on without', async (t) => {
    const { data } = await log.connection.request('market.event.broken', 'no fact', { timeout: 30_000 });
    const { seq } = JSON.parse(new TextDecoder().decode(data)) as { seq: number };
    const named = ({ projections }: Projections) => projections.find(({ name }) => name === 'delivery_queue');
    await until(['projections'], env, (document: Projections) => named(document)?.state === 'halted');
    const halted = await relay(['projections'], { env });
    t.match(halted.out, new RegExp(`^delivery_queue has halted at MARKET ${seq}: `, 'm'));
    const [command] = /projections skip .* --reason/.exec(halted.out) ?? [];
    t.equal(command, `projections skip delivery_queue --stream MARKET --seq ${seq} --reason`);
    const rebuild = await relay(['projections', 'rebuild', 'delivery_queue', '--json'], { env });
    t.equal(rebuild.code, 1);
    t.match(JSON.parse(rebuild.err), { code: 'halted', hint: /projections skip/ });

    t.match(await relay([...command!.split(' '), 'nobody wrote it'], { env }), {
      code: 0,
      out: `delivery_queue goes on without MARKET ${seq}`,
    });
    // each read model is told by itself: another one may need the fact
    const others = (JSON.parse((await relay(['projections', '--json'], { env })).out) as Projections)
      .projections;
    for (const { name } of others.filter((one) => one.state === 'halted' && one.name !== 'delivery_queue')) {
      const skip = ['projections', 'skip', name, '--stream', 'MARKET', '--seq', String(seq)];
      t.equal((await relay([...skip, '--reason', 'nobody wrote it'], { env })).code, 0, name);
    }
    await until(['projections'], env, ({ projections }: Projections) =>
      projections.every(({ state }) => state === 'live'),
    );
    const recorded = await relay(['events', 'operations', '--json'], { env });
    t.match(JSON.parse(recorded.out.split('\n').at(-1)!), {
      by: 'ann',
      data: { seq, reason: 'nobody wrote it' },
    });
  });

  await t.test('DEMO-04 the demo asks before it plays where others may be', async (t) => {
    const before = (await relay(['events', 'market', '--json'], { env })).out;
    const refused = { code: 2, err: /say --yes to play there, or --own to play on a service/ };
    t.match(await relay(['demo'], { env }), refused);
    // nothing says so here, and the service wants a key
    const { API_KEYS: _, RELAY_API_KEY: __, ...little } = env;
    t.match(await relay(['demo'], { env: little }), refused);
    const asked: string[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      return 'n';
    };
    const declined = { code: 1, err: /stay there for ever\nrelay: nothing was done$/ };
    t.match(await relay(['demo'], { env, terminal: { ask } }), declined);
    t.same(asked, ['Play there? [y/N] ']);
    t.equal((await relay(['events', 'market', '--json'], { env })).out, before);
  });

  await t.test('the demo says so when a line does not appear', async (t) => {
    const ircd = await startIrcd(t);
    const { code, out, err } = await relay(['demo', '--yes'], {
      env: { ...env, IRC_URL: ircd.url, EM_WEBHOOK_SECRET: app.webhookSecrets[0]! },
    });
    t.equal(code, 1);
    t.match(out, `API  ${app.address}  (it runs already)`);
    t.match(
      err,
      /waited 20 s in vain for "\[NEW\] .* in #bounties\nThe queue says of this event: pending\.$/,
    );
  });
});
