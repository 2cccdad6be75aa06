import pino from 'pino';
import t, { type Test } from 'tap';
import { createAutomation } from '../../src/app/bots/automation.js';
import { readConfig } from '../../src/config/config.js';
import { channelSubject, channels } from '../../streams/channels/index.js';
import { delivery } from '../../streams/delivery/index.js';
import { channelEffects, market, marketSubject } from '../../streams/events/index.js';
import { postEvent, startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { startKeeper } from './keeper.js';

const keys = { 'x-api-key': 'k'.repeat(32) };
const idOf = (n: number) => `t${String(n).padStart(7, '0')}`;
const roomOf = (n: number) => `#task-${idOf(n)}`;

interface Listed {
  name: string;
  archived_at: string | null;
  archive_reason: string | null;
  topic: string;
}

async function stage(t: Test, environment: Record<string, string> = {}) {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const app = await startApp(t, {
    NATS_URL: nats.url,
    ...settingsOf(ircd),
    API_KEYS: `ops:${'k'.repeat(32)}`,
    ...environment,
  });
  const worker = await observe(ircd.port, { nick: 'worker', password: ircd.serverPassword });
  t.teardown(() => worker.stop());
  let events = 0;
  const post = async (event_type: string, payload: Record<string, unknown>) => {
    const event_id = `evt-${++events}`;
    const { status } = await postEvent(app.url, { event_id, event_type, source: 'marketplace', payload });
    t.equal(status, 202, event_type);
  };
  const channel = async (name: string): Promise<Listed | undefined> => {
    const answer = await fetch(`${app.url}/channels/${name.slice(1)}`, { headers: keys });
    return answer.status === 404 ? undefined : ((await answer.json()) as Listed);
  };
  const listed = async (): Promise<Listed[]> => {
    const answer = await fetch(`${app.url}/channels?type=task`, { headers: keys });
    return ((await answer.json()) as { channels: Listed[] }).channels;
  };
  return { nats, ircd, app, worker, post, channel, listed };
}

t.test('CHAN-64 a task’s room from its assignment to its end', async (t) => {
  const { app, worker, post, channel } = await stage(t);
  const payload = {
    id: `${idOf(1)}-0001`,
    title: 'Photograph a shop',
    bounty_usdc: 5,
    worker_nick: 'worker',
  };
  await post('task.assigned', payload);
  const line = await worker.waitFor(({ channel }) => channel === roomOf(1));
  t.equal(line.text, `[ASSIGNED] Task ${idOf(1)} | worker | Escrow: $5 locked`);
  // the line may be seen before the directory has folded what opened the room
  await eventually('the room to be listed', async () => (await channel(roomOf(1))) !== undefined);
  t.match(await channel(roomOf(1)), {
    type: 'task',
    modes: '+int',
    topic: `Task ${idOf(1)} | Photograph a shop | $5 USDC | Status: ASSIGNED`,
    metadata: { task_id: payload.id, bounty: 5 },
    archived_at: null,
  });
  const mode = await worker.ask(`MODE ${roomOf(1)}`);
  t.match(mode.join('\n'), /324 \S+ \S+ \+\S*i/, 'a private room');

  await post('task.completed', { ...payload, tx_hash: '0xabcdef0123456789' });
  await eventually('the room to be archived', async () => Boolean((await channel(roomOf(1)))?.archived_at));
  t.match(await channel(roomOf(1)), { archive_reason: 'Task completed' });
  // what was shown before its answer has come before it: a line is on record before all connections have it
  await eventually('the room to be silent', async () =>
    (await worker.ask(`MODE ${roomOf(1)}`)).some((answer) => / 324 .* \+\S*m/.test(answer)),
  );
  t.same(
    worker.texts(roomOf(1)).map((text) => text.split(']')[0]),
    ['[ASSIGNED', '[COMPLETED'],
    'the last line was shown before the room fell silent',
  );
  const stats = (await (await fetch(`${app.url}/hooks/em/stats`)).json()) as { dead_letter: number };
  t.equal(stats.dead_letter, 0);
});

t.test(
  'CHAN-64 a room is archived when it has its last line, whatever holds up the other channels',
  async (t) => {
    const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
    const { log, channels: service } = await startKeeper(t, { nats, ircd });
    const automation = createAutomation(readConfig({ DATA_DIR: t.testdir() }), {
      log,
      channels: service,
      logger: pino({ level: 'silent' }),
      holder: 'test',
    });
    automation.start();
    t.teardown(() => automation.stop());

    const receive = async (event_id: string, event_type: string, id: string, isOlder = false) => {
      const event = { event_id, event_type, source: 'market', payload: { id } };
      const shown = { target_channels: [`#task-${id}`, '#bounties'], formatted_message: '-' };
      const data = { ...event, ...shown, ...(isOlder ? {} : { effects: channelEffects(event) }) };
      const by = { by: 'market' };
      const fact = { type: 'event.received' as const, data };
      return (await log.appendOnce(market, marketSubject(event_id), fact, by))!.seq;
    };
    const shown = async (seq: number, channel: string) => {
      const line = { seq, event_id: 'completed', channel, via: 'echo' as const, completes: false };
      const fact = { type: 'lines.confirmed' as const, data: { lines: [line] } };
      await log.append(delivery, 'delivery.lines', fact, { by: 'deliver-to-irc' });
    };
    const last = async (id: string) => (await log.last(channels, channelSubject(`#task-${id}`)))?.type;
    const until = (id: string, type: string) =>
      eventually(`${type} of ${id}`, async () => (await last(id)) === type);

    await receive('older', 'task.assigned', 'one', true);
    await until('one', 'channel.created');
    const completed = await receive('completed', 'task.completed', 'one');
    await shown(completed, '#bounties');
    await receive('newer', 'task.assigned', 'two');
    await until('two', 'channel.created');
    t.equal(await last('one'), 'channel.created', 'its own line is waited for, and no other room');
    await shown(completed, '#task-one');
    await until('one', 'channel.archived');
  },
);

t.test('CHAN-65 a city opens with its first task, and a room that was deleted stays away', async (t) => {
  const { app, worker, post, channel } = await stage(t);
  await post('task.published', { id: 'abcd1234', title: 'x', bounty_usdc: 1, location: 'São Paulo, BR' });
  await eventually('the city', async () => (await channel('#city-sao-paulo')) !== undefined);
  t.match(await channel('#city-sao-paulo'), {
    type: 'geographic',
    modes: '+nt',
    topic: /^Tasks in São Paulo/,
  });

  await post('task.assigned', { id: `${idOf(2)}-0002`, title: 'x', worker_nick: 'worker' });
  await worker.waitFor(({ channel }) => channel === roomOf(2));
  const removed = await fetch(`${app.url}/channels/${roomOf(2).slice(1)}`, {
    method: 'DELETE',
    headers: { ...keys, 'content-type': 'application/json' },
    body: JSON.stringify({ immediate: true }),
  });
  t.equal(removed.status, 200);
  await worker.join('#bounties');
  await post('rating.created', { id: `${idOf(2)}-0002`, score: 5, comment: 'late' });
  await worker.waitFor(({ channel, text }) => channel === '#bounties' && text.includes('late'));
  t.equal(await channel(roomOf(2)), undefined, 'it was not opened again');

  await post('task.assigned', { id: `${idOf(2)}-0002`, title: 'x', worker_nick: 'worker' });
  await post('rating.created', { id: `${idOf(2)}-0002`, score: 5, comment: 'not late' });
  await worker.waitFor(({ channel, text }) => channel === roomOf(2) && text.includes('not late'));
});

t.test('CHAN-65 a room that is opened again gets the lines that another process accepts', async (t) => {
  const { nats, ircd, app, worker, post, channel } = await stage(t);
  // it has no workers: what it learns of the room it learns from the log
  const other = await startApp(t, { NATS_URL: nats.url, ...settingsOf(ircd), ROLES: 'api,projections' });
  const id = `${idOf(5)}-0005`;
  await post('task.assigned', { id, title: 'x', worker_nick: 'worker' });
  await worker.waitFor(({ channel }) => channel === roomOf(5));
  const removed = await fetch(`${app.url}/channels/${roomOf(5).slice(1)}`, {
    method: 'DELETE',
    headers: { ...keys, 'content-type': 'application/json' },
    body: JSON.stringify({ immediate: true }),
  });
  t.equal(removed.status, 200);
  t.equal(await channel(roomOf(5)), undefined);
  // the room cannot be opened as long as the network is away
  await ircd.kill();
  await post('task.assigned', { id, title: 'x', worker_nick: 'worker' });
  const payload = { id, score: 5, comment: 'of the other process' };
  const event = { event_id: 'evt-other', event_type: 'rating.created', source: 'marketplace', payload };
  t.match((await postEvent(other.url, event)).body, { target_channels: [roomOf(5)] });
});

t.test('CHAN-66 an outage of the network delays rooms and loses none', async (t) => {
  const { ircd, worker, post, channel } = await stage(t);
  await eventually('the channel bot', async () =>
    (await worker.ask('ISON channelserv')).some((line) => /303 .*channelserv/.test(line)),
  );
  await ircd.kill();
  await post('task.assigned', { id: `${idOf(3)}-0003`, title: 'x', worker_nick: 'worker' });
  await ircd.start();
  await worker.waitFor(({ channel }) => channel === roomOf(3));
  // the line may be seen before the directory has folded what opened the room
  await eventually('the room to be listed', async () => (await channel(roomOf(3))) !== undefined);
  t.match(await channel(roomOf(3)), { modes: '+int' });
});

t.test('CHAN-68 a task that is assigned again has its new worker brought into its room', async (t) => {
  const { ircd, app, worker, post, channel } = await stage(t);
  const password = ircd.serverPassword;
  const payload = { id: `${idOf(4)}-0004`, title: 'x', bounty_usdc: 5, publisher_nick: 'publisher' };
  await post('task.assigned', { ...payload, worker_nick: 'worker' });
  await worker.waitFor(({ channel }) => channel === roomOf(4));
  await eventually('the room', async () => (await channel(roomOf(4))) !== undefined);

  const second = await observe(ircd.port, { nick: 'second', password });
  t.teardown(() => second.stop());
  await post('task.assigned', { ...payload, worker_nick: 'second' });
  const isIn = async (nick: string) =>
    (await worker.ask(`NAMES ${roomOf(4)}`)).some((line) => new RegExp(`353 .*\\b${nick}\\b`).test(line));
  await eventually('the second worker to be in the room', async () => await isIn('second'));
  const publisher = await observe(ircd.port, { nick: 'publisher', password });
  t.teardown(() => publisher.stop());
  await eventually('the publisher, who was away, to be in the room', async () => await isIn('publisher'));
  const audit = await eventually('the audit record', async () => {
    const answer = await fetch(`${app.url}/channels/${roomOf(4).slice(1)}/operations`, { headers: keys });
    const { operations } = (await answer.json()) as {
      operations: { operation: string; target_nick: string }[];
    };
    const asked = operations.filter(({ operation }) => operation === 'sajoin');
    return asked.length > 0 && asked.map(({ target_nick }) => target_nick).sort();
  });
  t.same(audit, ['publisher', 'second'], 'who was not in it already');

  await post('task.cancelled', payload);
  await eventually('the room to be archived', async () => Boolean((await channel(roomOf(4)))?.archived_at));
  const third = await observe(ircd.port, { nick: 'third', password });
  t.teardown(() => third.stop());
  await post('task.assigned', { ...payload, worker_nick: 'third' });
  await post('task.assigned', { ...payload, id: `${idOf(5)}-0005`, worker_nick: 'third' });
  await third.waitFor(({ channel }) => channel === roomOf(5));
  t.notOk(await isIn('third'), 'nobody is brought into an archived room');
});

t.test(
  'CHAN-67 a thousand tasks assigned and completed in the same moment',
  { timeout: 280_000 },
  async (t) => {
    const tasks = 1_000;
    const { app, worker, post, listed } = await stage(t);
    const play = async (n: number) => {
      const payload = { id: `${idOf(n)}-${n}`, title: `Task ${n}`, bounty_usdc: 5, worker_nick: 'worker' };
      await post('task.assigned', payload);
      await post('task.completed', payload);
    };
    for (let n = 0; n < tasks; n += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => play(n + index)));
    }
    await eventually(
      'every room to be archived',
      async () => (await listed()).filter((room) => room.archived_at).length === tasks,
      240_000,
    );
    // somebody who is brought in late, on a slow machine, is shown the first line by the history
    const shown = new Map<string, string[]>();
    for (const line of worker.raw) {
      const [, room, is] = / PRIVMSG (#task-\S+) :\[(\w+)\]/.exec(line) ?? [];
      if (room && is) shown.set(room, [...(shown.get(room) ?? []), is]);
    }
    const wrong = Array.from({ length: tasks }, (_, n) => roomOf(n)).filter(
      (room) => shown.get(room)?.join() !== 'ASSIGNED,COMPLETED',
    );
    t.same(wrong.slice(0, 5), [], 'each line is shown once, in order');
    // the lines may be seen before the queue has folded what became of them
    const stats = await eventually('the queue to be empty', async () => {
      const answer = await fetch(`${app.url}/hooks/em/stats`);
      const read = (await answer.json()) as { dead_letter: number; pending: number };
      return read.pending === 0 && read;
    });
    t.equal(stats.dead_letter, 0);
  },
);
