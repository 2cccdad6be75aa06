import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { asker, creation } from '../test/channels/keeper.js';
import { environmentOf, operatorOn, untilKept } from '../test/channels/stage.js';
import { postEvent, sampleEvent, startApp } from '../test/support/app.js';
import { eventually } from '../test/support/eventually.js';
import type { Observer } from '../test/support/irc-observer.js';
import { startIrcd, type TestIrcd } from '../test/support/ircd.js';
import { startNats } from '../test/support/nats.js';
import { IrcConnection } from '../workers/irc/index.js';
import type { Bench, Row } from './bench.js';
import { whole } from './figures.js';
import { inParallel, quiet } from './log.js';

const atATime = 64;
const boundMs = 120_000;
const nameOf = (n: number) => `#task-b${String(n).padStart(4, '0')}`;

/** Task channels made through the service, and all of it back after a restart of the network and of the service, and of a network that lost it. */
export async function channels(t: Bench): Promise<Row[]> {
  const count = t.size(5_000, 200);
  const [nats, ircd] = await Promise.all([startNats(t, { sync: 'always' }), startIrcd(t)]);
  const dir = await mkdtemp(join(tmpdir(), 'relay-bench-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  const environment = { ...environmentOf({ nats, ircd }), DATA_DIR: dir, CHANNEL_CREATIONS_PER_HOUR: '0' };
  const app = await startApp(t, environment);
  await untilKept(app.url);
  const witness = await operatorOn(t, ircd);

  t.progress(`creating ${count} channels`);
  const created = await seconds(() => inParallel(count, atATime, (n) => create(app.url, n)));
  t.progress('one line in each');
  const shown = await seconds(async () => {
    await inParallel(count, atATime, async (n) => {
      const payload = { id: nameOf(n).slice('#task-'.length), reason: 'benchmark' };
      await postEvent(app.url, sampleEvent(`bench-${n}`, { event_type: 'task.rejected', payload }));
    });
    await eventually('all lines', async () => (await pending(app.url)) === 0, boundMs);
  });
  t.progress('the network restarts');
  await ircd.kill();
  await ircd.start();
  const network = await seconds(() => untilFurnished(witness, count));
  t.progress('the service restarts');
  await app.stop();
  const service = await seconds(async () => {
    await startApp(t, environment);
    await untilFurnished(witness, count);
  });
  t.progress('the network has lost everything');
  await ircd.kill();
  await rm(join(ircd.dir, 'permchannels.conf'));
  await ircd.start();
  const nothing = await seconds(() => untilFurnished(witness, count));
  t.progress('the same commands without the service');
  const bare = await bareCreation(t, ircd, count);
  const all = `${whole(count)} task channels`;
  const restart = 'a session: registration alone takes the server 1 s';
  return [
    {
      measured: `${all} created through the service, recorded, with modes, topic and the bot`,
      ours: `${created.toFixed(1)} s`,
      against: `the same lines to the server on one connection, nothing recorded: ${bare.toFixed(1)} s`,
      ratio: bare / created,
      goal: '≤ 60 s',
    },
    { measured: `one line in each of ${all}`, ours: `${shown.toFixed(1)} s`, against: '' },
    {
      measured: `all bots in ${all} again, with modes and topics, after a kill of the server`,
      ours: `${network.toFixed(1)} s`,
      against: restart,
      goal: '≤ 5 s',
    },
    {
      measured: 'the same after a restart of the service, its start with it',
      ours: `${service.toFixed(1)} s`,
      against: restart,
      goal: '≤ 5 s',
    },
    {
      measured: 'all of them made again on a server that has lost everything',
      ours: `${nothing.toFixed(1)} s`,
      against: restart,
      goal: '≤ 5 s',
    },
  ];
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

async function create(url: string, n: number): Promise<void> {
  const name = nameOf(n);
  const { cause: _, ...body } = creation(name, { topic: `Task ${name}`, invite_list: ['em-bot'] });
  const answer = await fetch(`${url}/channels`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (answer.status !== 201)
    throw new Error(`${name} by ${asker.by}: ${answer.status} ${await answer.text()}`);
}

async function pending(url: string): Promise<number> {
  const stats = (await (await fetch(`${url}/hooks/em/stats`)).json()) as { pending: number };
  return stats.pending;
}

/** Waits until every channel has its modes, its topic and the channel bot, the marketplace's and the recorder in it. */
async function untilFurnished(witness: Observer, count: number): Promise<void> {
  const row = / 322 \S+ (#task-b\d+) (\d+) :\[\+HPint 100:1d\] Task \1$/;
  await eventually(
    'all channels',
    async () => {
      // it came off with the server, and asks nothing until it is back
      if (!witness.connected) return false;
      const listed = (await witness.ask('LIST')).map((line) => row.exec(line));
      if (listed.filter((found) => Number(found?.[2]) >= 3).length === count) return true;
      // reading thousands of rows takes from the process that is measured
      await delay(200);
      return false;
    },
    boundMs,
  );
}

/** The lines that a creation sends, for each channel, on a connection of our own. */
async function bareCreation(t: Bench, ircd: TestIrcd, count: number): Promise<number> {
  const irc = new IrcConnection({
    ...{ url: ircd.url, nick: 'bare', password: ircd.serverPassword, log: quiet, bytesInFlight: 16_384 },
    oper: { name: ircd.operName, password: ircd.operPassword },
  });
  t.teardown(() => irc.stop());
  irc.start();
  const session = await eventually('a session', () => irc.session());
  return await seconds(() =>
    inParallel(count, atATime, async (n) => {
      const name = `#bare-${n}`;
      await session.command('SAJOIN', session.nick, name);
      await Promise.all([session.command('MODE', name), session.command('TOPIC', name)]);
      await session.command('SAMODE', name, '+iPH', '100:1d');
      await session.command('SATOPIC', name, `Task ${name}`);
      await session.command('SAJOIN', 'em-bot', name);
      await session.command('NAMES', name);
    }),
  );
}
