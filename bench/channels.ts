import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createApp } from '../src/app/app.js';
import { readConfig } from '../src/config/config.js';
import { IrcConnection } from '../workers/irc/index.js';
import type { Bench, Row } from './support/bench.js';
import { signed, taskEvent, webhookSecret } from './support/events.js';
import { whole } from './support/figures.js';
import { type BareClient, bareClient } from './support/irc-client.js';
import { poster } from './support/load.js';
import { inParallel, quiet } from './support/log.js';
import { type Ircd, startIrcd, startNats, temporaryFolder } from './support/servers.js';
import { settingsFor } from './support/service.js';
import { eventually, timed } from './support/wait.js';

const atATime = 64;
const boundMs = 120_000;
const nameOf = (n: number) => `#task-b${String(n).padStart(4, '0')}`;

/** Task channels made through the service, and all of it back after a restart of the network and of the service, and of a network that lost it. */
export async function channels(t: Bench): Promise<Row[]> {
  const count = t.size(5_000, 200);
  const [nats, ircd] = await Promise.all([startNats(t, { sync: 'always' }), startIrcd(t)]);
  const config = readConfig({
    ...settingsFor(ircd),
    NATS_URL: nats.url,
    STREAMS_MAX_BYTES: '500000000',
    DATA_DIR: await temporaryFolder(t),
    PORT: '0',
    EM_WEBHOOK_SECRET: webhookSecret,
    CHANNEL_CREATIONS_PER_HOUR: '0',
  });
  const startApp = async () => {
    const app = await createApp(config, quiet);
    t.teardown(() => app.stop());
    return app;
  };
  const app = await startApp();
  const url = app.address!;
  await eventually('the channel bot', async () => (await channelBotOf(url)) === 'ok');
  const { post, close } = poster(url);
  t.teardown(close);

  t.progress(`creating ${count} channels`);
  const created = await seconds(() => inParallel(count, atATime, (n) => create(url, n)));
  t.progress('one line in each');
  const shown = await seconds(async () => {
    await inParallel(count, atATime, async (n) => {
      const payload = { id: nameOf(n).slice('#task-'.length), reason: 'benchmark' };
      await post(signed({ ...taskEvent(`bench-${n}`), event_type: 'task.rejected', payload }));
    });
    await eventually('all lines', async () => (await pending(url)) === 0, boundMs);
  });
  t.progress('the network restarts');
  await ircd.kill();
  await ircd.start();
  const network = await seconds(() => untilComplete(ircd, count));
  t.progress('the service restarts');
  await app.stop();
  const service = await seconds(async () => {
    await startApp();
    await untilComplete(ircd, count);
  });
  t.progress('the network has lost everything');
  await ircd.kill();
  await rm(join(ircd.dir, 'permchannels.conf'));
  await ircd.start();
  const nothing = await seconds(() => untilComplete(ircd, count));
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

const seconds = async (work: () => Promise<unknown>) => (await timed(work)) / 1_000;

async function channelBotOf(url: string): Promise<string | undefined> {
  const health = await (await fetch(`${url}/health`)).json();
  return (health as { services: Record<string, { status: string }> }).services.channelserv?.status;
}

async function create(url: string, n: number): Promise<void> {
  const name = nameOf(n);
  const body = { name, type: 'task', modes: '+int', topic: `Task ${name}`, invite_list: ['em-bot'] };
  const answer = await fetch(`${url}/channels`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (answer.status !== 201) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
}

async function pending(url: string): Promise<number> {
  const stats = (await (await fetch(`${url}/hooks/em/stats`)).json()) as { pending: number };
  return stats.pending;
}

/** Waits until every channel has its modes, its topic and the channel bot, the marketplace's and the recorder in it. */
async function untilComplete(ircd: Ircd, count: number): Promise<void> {
  const row = / 322 \S+ (#task-b\d+) (\d+) :\[\+HPinst 100:1d\] Task \1$/;
  const { port, serverPassword: password, operName, operPassword } = ircd;
  const witness = await bareClient({ port, password, nick: 'witness', channels: [] });
  // a list shows rooms of tasks to operators alone
  witness.send(`OPER ${operName} ${operPassword}\r\n`);
  await eventually(
    'all channels',
    async () => {
      const found = (await list(witness)).map((line) => row.exec(line));
      if (found.filter((match) => Number(match?.[2]) >= 3).length === count) return true;
      // reading thousands of rows takes from the process that is measured
      await delay(200);
      return false;
    },
    boundMs,
  ).finally(witness.quit);
}

function list(client: BareClient): Promise<string[]> {
  return new Promise((resolve) => {
    const rows: string[] = [];
    client.onLines((lines) => {
      rows.push(...lines);
      if (lines.some((line) => / 323 /.test(line))) resolve(rows);
    });
    client.send('LIST\r\n');
  });
}

/** The lines that a creation sends, for each channel, on a connection of our own. */
async function bareCreation(t: Bench, ircd: Ircd, count: number): Promise<number> {
  const irc = new IrcConnection({
    url: ircd.url,
    nick: 'bare',
    password: ircd.serverPassword,
    log: quiet,
    bytesInFlight: 16_384,
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
