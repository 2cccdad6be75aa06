import { once } from 'node:events';
import { statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, connect as tcpConnect } from 'node:net';
import { join } from 'node:path';
import pino from 'pino';
import t from 'tap';
import { findNatsServer } from '../../src/servers/binaries.js';
import { startInspircd } from '../../src/servers/inspircd.js';
import { startNatsServer } from '../../src/servers/nats-server.js';
import { answers, isFree } from '../../src/servers/net.js';
import { endProcess, findRun, identify, isAlive } from '../../src/servers/process.js';
import { connectToNats } from '../../streams/core/nats.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { startHolder } from './holder.js';

const log = pino({ level: 'silent' });
const secrets = { operName: 'chanbot', operPassword: 'oper-password', serverPassword: 'server-password' };
const kinds = {
  nats: {
    name: 'nats-server',
    folder: 'nats',
    start: (dataDir: string) => startNatsServer({ dataDir, log }),
  },
  inspircd: {
    name: 'inspircd',
    folder: 'irc',
    start: (dataDir: string) => startInspircd({ dataDir, port: 0, log, secrets }),
  },
};

for (const [kind, { name, folder, start }] of Object.entries(kinds)) {
  t.test(`${name}: started, restarted on the same port when it dies, stopped`, async (t) => {
    const dataDir = t.testdir();
    const server = await start(dataDir);
    t.teardown(() => server.stop());
    const { pid, port, url } = server;
    t.notOk(server.adopted);
    t.match(url, new RegExp(`^(nats://relay:[\\w-]{43}@|irc://)127\\.0\\.0\\.1:${port}$`));
    t.equal(statSync(join(dataDir, folder)).mode & 0o077, 0, 'nobody else may look into its folder');

    const restarted = new Promise<number>((resolve) => server.onRestarted(resolve));
    process.kill(pid, 'SIGKILL');
    t.equal(await restarted, server.pid);
    t.not(server.pid, pid);
    t.equal(server.port, port);
    t.ok(await greets(port));

    const last = identify(server.pid)!;
    await server.stop();
    t.notOk(isAlive(last));
    t.notOk(await greets(port));
    await server.stop();

    const next = await start(dataDir);
    t.teardown(() => next.stop());
    t.notOk(next.adopted, 'after a stop there is nothing to adopt');
  });

  t.test(`${name}: what a killed service left running is adopted, supervised and stopped`, async (t) => {
    const dataDir = t.testdir();
    const holder = await startHolder(t, kind, dataDir);
    await holder.kill();
    t.ok(identify(holder.pid), 'the server outlives its service');

    const server = await start(dataDir);
    t.teardown(() => server.stop());
    t.ok(server.adopted);
    t.same([server.pid, server.port], [holder.pid, holder.port]);

    const restarted = new Promise((resolve) => server.onRestarted(resolve));
    process.kill(server.pid, 'SIGKILL');
    await restarted;
    t.equal(server.port, holder.port);

    const last = identify(server.pid)!;
    await server.stop();
    t.notOk(isAlive(last));
  });

  t.test(
    `${name}: one without a record, or that does not answer, is replaced and never joined by a second`,
    async (t) => {
      const dataDir = t.testdir();
      const holder = await startHolder(t, kind, dataDir);
      await holder.kill();
      const orphan = identify(holder.pid)!;
      await writeFile(join(dataDir, folder, `${name}.json`), '{"pid": 1');
      const second = await start(dataDir);
      t.teardown(() => second.stop());
      t.notOk(isAlive(orphan));
      t.notOk(second.adopted);
    },
  );
}

t.test(
  'an InspIRCd whose port for services is taken serves clients, and opens it once it is free',
  async (t) => {
    const link = { port: await freePort(), password: 'link-password' };
    const other = createServer().listen(link.port, '127.0.0.1');
    await once(other, 'listening');
    t.teardown(() => other.close());
    const server = await startInspircd({ dataDir: t.testdir(), port: 0, log, secrets, services: link });
    t.teardown(() => server.stop());
    t.ok(await greets(server.port));
    other.close();
    await eventually('the port for services to be open', async () => !(await isFree(link.port)));
    t.ok(await greets(server.port));
  },
);

t.test('a frozen server is not adopted', async (t) => {
  const dataDir = t.testdir();
  const holder = await startHolder(t, 'inspircd', dataDir);
  await holder.kill();
  const frozen = identify(holder.pid)!;
  process.kill(frozen.pid, 'SIGSTOP');
  const server = await kinds.inspircd.start(dataDir);
  t.teardown(() => server.stop());
  t.notOk(isAlive(frozen));
  t.equal(server.port, holder.port, 'clients find the new one where the old one was');
});

t.test('a record whose pid belongs to another process by now harms nobody', async (t) => {
  const dataDir = t.testdir({ nats: {} });
  const record = { pid: process.pid, startTime: '1', port: await freePort(), fingerprint: 'x' };
  await writeFile(join(dataDir, 'nats', 'nats-server.json'), JSON.stringify(record));
  const server = await kinds.nats.start(dataDir);
  t.teardown(() => server.stop());
  t.equal(server.port, record.port);
});

t.test('changed credentials reach an InspIRCd that was left running', async (t) => {
  const dataDir = t.testdir();
  const holder = await startHolder(t, 'inspircd', dataDir);
  await holder.kill();
  const changed = { ...secrets, operPassword: 'another' };
  const server = await startInspircd({ dataDir, port: 0, log, secrets: changed });
  t.teardown(() => server.stop());
  t.notOk(server.adopted);
  const opered = await visit(server.port, 'OPER chanbot another', / 381 /);
  t.ok(opered);
});

t.test('a fixed port that another program has is an error that says so', async (t) => {
  const port = await freePort();
  const other = createServer().listen(port, '127.0.0.1');
  t.teardown(() => other.close());
  await t.rejects(startInspircd({ dataDir: t.testdir(), port, log, secrets }), {
    message: new RegExp(`port ${port} of 127.0.0.1 is in use by another program`),
  });
});

t.test('START-06 a server that cannot be recorded is not left running', async (t) => {
  const dataDir = t.testdir({ nats: { 'nats-server.json': { 'a folder': 'where the record belongs' } } });
  await t.rejects(startNatsServer({ dataDir, log }), { code: /EISDIR|ENOTEMPTY|EEXIST/ });
  t.equal(findRun(findNatsServer().path, join(dataDir, 'nats', 'store')), undefined);
});

t.test('a server that cannot start rejects with its own words', async (t) => {
  const dataDir = t.testdir({ nats: { store: { jetstream: 'a file where a folder belongs' } } });
  await t.rejects(startNatsServer({ dataDir, log }), {
    message: /nats-server ended while starting:[\s\S]*JetStream/i,
  });
});

t.test('stop while it is being restarted leaves nothing behind', async (t) => {
  const server = await kinds.nats.start(t.testdir());
  const first = identify(server.pid)!;
  await endProcess(first, 5_000);
  await server.stop();
  t.notOk(await greets(server.port));
});

t.test('the nats-server acknowledges after the disk has it, and takes bodies of 256 KiB', async (t) => {
  const dataDir = t.testdir();
  const server = await kinds.nats.start(dataDir);
  t.teardown(() => server.stop());
  const connection = await connectToNats(server.url, 'test');
  t.teardown(() => connection.close());
  t.ok(connection.info!.max_payload >= 2 * 256 * 1024);
  t.ok(connection.info!.jetstream);
  t.match(await readFile('nats.conf', 'utf8'), /^\s*sync_interval: always$/m);
});

t.test('InspIRCd: the rooms are there, and only bots may write to the feed', async (t) => {
  const server = await kinds.inspircd.start(t.testdir());
  t.teardown(() => server.stop());
  const [rooms, feed, oper] = await Promise.all([
    visit(server.port, 'LIST', / 322 \S+ #bounties 0 :\[\+HPmnt 100:1d\] \S[\s\S]* 323 /),
    visit(server.port, 'JOIN #bounties\r\nPRIVMSG #bounties :buy!', / 404 \S+ #bounties /),
    visit(server.port, 'OPER chanbot guess', / 491 /),
  ]);
  t.ok(rooms);
  t.ok(feed);
  t.ok(oper);
});

/** Whether a server of either kind listens there. */
function greets(port: number): Promise<boolean> {
  return answers({ port }, 'CAP LS\r\n', /CAP \* LS|^INFO /);
}

/** Registers as an ordinary client, sends the lines and says whether the answer to them matches. */
function visit(port: number, lines: string, expected: RegExp): Promise<boolean> {
  return new Promise((resolve) => {
    const nick = `v${Math.random().toString(36).slice(2, 8)}`;
    let seen = '';
    let registered = false;
    const socket = tcpConnect(port, '127.0.0.1').setTimeout(30_000, () => socket.destroy());
    socket.write(`NICK ${nick}\r\nUSER v v v :v\r\n`);
    socket.on('data', (bytes) => {
      seen += bytes;
      if (!registered && / 376 /.test(seen)) {
        registered = true;
        socket.write(`${lines}\r\n`);
      }
      if (registered && expected.test(seen)) socket.end();
    });
    socket.once('close', () => resolve(expected.test(seen)));
  });
}
