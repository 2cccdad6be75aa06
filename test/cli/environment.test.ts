import { readFile } from 'node:fs/promises';
import { pino } from 'pino';
import t from 'tap';
import { Log } from '../../streams/core/index.js';
import { market, marketSubject } from '../../streams/events/index.js';
import { postEvent, sampleEvent, startApp, webhookSecret } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { temporaryDirectory } from '../support/sql.js';
import { relay } from './terminal.js';

const delivered = 60;

t.test('OPERATE-12 an environment moves to another log server', async (t) => {
  const [from, to, ircd] = await Promise.all([startNats(t), startNats(t), startIrcd(t)]);
  const witness = await observe(ircd.port, { nick: 'witness', password: ircd.serverPassword });
  t.teardown(() => witness.stop());
  await witness.join('#bounties', '#disputes');
  const settings = (nats: { url: string }) => ({
    NATS_URL: nats.url,
    ...settingsOf(ircd),
    EVENT_RETRY_MS: '50',
  });
  const count = async (url: string) => {
    const answer = await fetch(`${url}/hooks/em/stats`);
    return (await answer.json()) as { pending: number; delivered_today: number; dead_letter: number };
  };
  const rows = async (url: string) => {
    const answer = await fetch(`${url}/ops/events?from=1&to=1000&limit=500`);
    return ((await answer.json()) as { events: { event_id: string; status: string }[] }).events;
  };

  // what the first house did: lines shown, one of them a second time on purpose, and one event given up
  const first = await startApp(t, settings(from));
  const wrong = await fetch(`${first.url}/ops/events?from=abc`);
  t.match(((await wrong.json()) as { details: unknown }).details, [
    { path: 'from', message: 'from must be a sequence or a time like 2026-01-31T12:00:00Z' },
    { path: 'to', message: 'to is missing' },
  ]);
  for (let n = 0; n < delivered; n++) await postEvent(first.url, sampleEvent(`evt-${n}`));
  await eventually('all to be delivered', async () => (await count(first.url)).delivered_today === delivered);
  const env = { PORT: new URL(first.url).port, EM_WEBHOOK_SECRET: webhookSecret };
  t.equal((await relay(['redeliver', '--from', '7', '--to', '7', '--yes'], { env })).code, 0);
  await witness.waitUntil(() => witness.lines.length === delivered + 1, 'the line shown again');
  const log = await Log.open({
    urls: from.url,
    name: 'test',
    streams: [],
    replicas: 1,
    maxBytes: 0,
    logger: pino({ level: 'silent' }),
  });
  t.teardown(() => log.close());
  const received = async (event_id: string, channel: string) => {
    const data = {
      event_id,
      event_type: 'task.published',
      source: 'test',
      payload: {},
      target_channels: [channel],
      formatted_message: `the line of ${event_id}`,
    };
    const fact = { type: 'event.received' as const, data };
    await log.appendOnce(market, marketSubject(event_id), fact, { by: 'test' });
  };
  await received('never', '#no/such:channel,name');
  await eventually('one to be given up', async () => (await count(first.url)).dead_letter === 1);
  await eventually('the second showing to be recorded', async () => {
    const facts = (await relay(['events', 'delivery', '--json'], { env: { NATS_URL: from.url } })).out;
    return facts.includes('"showing":1,"channel"');
  });
  await first.stop();
  // and what it accepted and had no time to show
  for (let n = 0; n < 3; n++) await received(`late-${n}`, '#bounties');

  const file = `${await temporaryDirectory(t)}/export.jsonl`;
  t.match(await relay(['export', '--out', file], { env: { NATS_URL: from.url } }), { code: 0 });
  const target = { NATS_URL: to.url, STREAMS_MAX_BYTES: '500000000' };
  t.match(await relay(['import', '--in', file], { env: target }), {
    code: 0,
    out: /, there already: 0$/,
  });
  const before = JSON.parse(
    (
      await relay(['replay', 'delivery_queue', '--query', 'select * from events order by id', '--json'], {
        env: target,
      })
    ).out,
  ).rows;
  const times = (await readFile(file, 'utf8'))
    .split('\n')
    .flatMap((line) => /^\{"stream":"MARKET".*?"at":"([^"]+)"/.exec(line)?.[1] ?? []);
  t.same(
    before.map(({ created_at }: { created_at: string }) => created_at),
    times,
    'events were received when they were',
  );

  const lines = witness.lines.length;
  const second = await startApp(t, settings(to));
  await witness.waitUntil(() => witness.lines.length >= lines + 3, 'the lines that were not shown');
  await eventually('the queue to be empty', async () => (await count(second.url)).pending === 0);
  await postEvent(second.url, sampleEvent('after'));
  await witness.waitUntil(() => witness.lines.length >= lines + 4, 'a new line');
  await witness.ask();
  t.same(
    witness.lines.slice(lines).map(({ text }) => text.replace(/^.*Task (\S+).*$/, '$1')),
    ['the line of late-0', 'the line of late-1', 'the line of late-2', 'after'],
    'nothing else is shown',
  );
  await eventually('all but the dead letter to be delivered', async () => {
    const found = await rows(second.url);
    return found.filter(({ status }) => status === 'delivered').length === delivered + 4;
  });
  t.match((await count(second.url)).dead_letter, 1);
  t.match(await (await postEvent(second.url, sampleEvent('evt-3'))).body, {
    status: 'already_processed',
    delivery_status: 'delivered',
  });
});
