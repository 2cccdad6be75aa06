import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, connect as tcpConnect } from 'node:net';
import { join } from 'node:path';
import { connect, type NatsConnection } from 'nats';
import { pino } from 'pino';
import t from 'tap';
import { findNatsServer } from '../../src/servers/binaries.js';
import { ownNatsUrl } from '../../src/servers/nats-credentials.js';
import { natsAnswers, natsArgs, startNatsServer } from '../../src/servers/nats-server.js';
import { identify, isAlive } from '../../src/servers/process.js';
import { connectToNats } from '../../streams/core/nats.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { startServerProcess } from '../support/server-process.js';

const log = pino({ level: 'silent' });
const subject = 'audit.marketplace';

/** A connection with a stream and a fact in it, as the service has them. */
async function withFact(url: string): Promise<NatsConnection> {
  const connection = await connectToNats(url, 'test');
  const manager = await connection.jetstreamManager();
  await manager.streams.add({ name: 'AUDIT', subjects: ['audit.>'] });
  await connection.jetstream().publish(subject, 'a fact');
  return connection;
}

/** What the server says to somebody who speaks to it past all clients, until it hangs up. */
function told(port: number, says: string): Promise<string> {
  return new Promise((resolve) => {
    let seen = '';
    const socket = tcpConnect(port, '127.0.0.1').setTimeout(2_000, () => socket.destroy());
    socket.on('data', (bytes) => {
      if (seen === '') socket.write(says);
      seen += bytes;
    });
    socket.once('error', () => {});
    socket.once('close', () => resolve(seen.replace(/^INFO .*\r\n/, '')));
  });
}

t.test('START-11 nobody without the password is served', async (t) => {
  const dataDir = t.testdir();
  const server = await startNatsServer({ dataDir, log });
  t.teardown(() => server.stop());
  const own = await withFact(server.url);
  t.teardown(() => own.close());

  const servers = `127.0.0.1:${server.port}`;
  for (const credentials of [{}, { user: 'relay' }, { user: 'relay', pass: 'relay' }, { token: 'relay' }])
    await t.rejects(connect({ servers, ...credentials }), { code: 'AUTHORIZATION_VIOLATION' });

  const requests = {
    read: 'SUB audit.> 1\r\nSUB _INBOX.x 2\r\nPUB $JS.API.DIRECT.GET.AUDIT _INBOX.x 9\r\n{"seq":1}\r\n',
    append: `PUB ${subject} 6\r\nforged\r\n`,
    purge: 'PUB $JS.API.STREAM.PURGE.AUDIT 0\r\n\r\n',
    delete: 'PUB $JS.API.STREAM.DELETE.AUDIT 0\r\n\r\n',
  };
  for (const [what, request] of Object.entries(requests)) {
    for (const greeting of ['', 'CONNECT {"verbose":false}\r\n']) {
      const said = await told(server.port, `${greeting}${request}PING\r\n`);
      t.match(said, /^-ERR '(Authorization Violation|Authentication Timeout)'/, what);
      t.notMatch(said, /MSG|PONG/, what);
    }
  }
  const { state } = await (await own.jetstreamManager()).streams.info('AUDIT');
  t.match(state, { messages: 1, last_seq: 1 }, 'what was there is there, and nothing more');
});

t.test('START-12 the password is for its owner alone', async (t) => {
  const dataDir = t.testdir();
  const lines: string[] = [];
  const kept = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const server = await startNatsServer({ dataDir, log: kept });
  t.teardown(() => server.stop());
  const { password } = new URL(server.url);
  t.match(password, /^[\w-]{43}$/);
  t.equal(server.url, ownNatsUrl(dataDir, server.port));

  const file = (name: string) => join(dataDir, 'nats', name);
  for (const name of ['password', 'nats.conf', 'nats-server.json', 'nats-server.log'])
    t.equal(statSync(file(name)).mode & 0o777, 0o600, name);
  t.equal(readFileSync(file('password'), 'utf8'), `${password}\n`);
  await t.rejects(connect({ servers: `127.0.0.1:${server.port}` }));
  t.match(lines.join(''), 'server runs');
  t.notMatch(lines.join(''), password);
  t.notMatch(readFileSync(file('nats-server.log'), 'utf8'), password);
  if (process.platform !== 'linux') return;
  const command = readFileSync(`/proc/${server.pid}/cmdline`, 'utf8');
  t.match(command, 'nats.conf');
  t.notMatch(command, password);
});

t.test('START-11 the password stays, and one that is damaged is made anew', async (t) => {
  const dataDir = t.testdir();
  const first = await startNatsServer({ dataDir, log });
  const connection = await withFact(first.url);
  await connection.close();
  await first.stop();
  const second = await startNatsServer({ dataDir, log });
  t.equal(new URL(second.url).password, new URL(first.url).password);
  await second.stop();

  writeFileSync(join(dataDir, 'nats', 'password'), '');
  const third = await startNatsServer({ dataDir, log });
  t.teardown(() => third.stop());
  t.not(new URL(third.url).password, new URL(first.url).password);
  const again = await connectToNats(third.url, 'test');
  t.teardown(() => again.close());
  t.match((await (await again.jetstreamManager()).streams.info('AUDIT')).state, { messages: 1 });
});

t.test('START-13 the data folder of an earlier release, whose server runs on', async (t) => {
  const dataDir = t.testdir();
  const store = join(dataDir, 'nats', 'store');
  mkdirSync(store, { recursive: true });
  const earlier = await startServerProcess(t, {
    name: 'earlier',
    command: findNatsServer().path,
    choosePort: freePort,
    args: (_, port) => natsArgs({ config: join(process.cwd(), 'nats.conf'), host: '127.0.0.1', port, store }),
    answers: natsAnswers,
  });
  const { port, pid } = earlier;
  const open = await withFact(ownNatsUrl(dataDir, port));
  await open.close();
  const run = identify(pid)!;
  const record = { ...run, port, fingerprint: 'of another configuration' };
  writeFileSync(join(dataDir, 'nats', 'nats-server.json'), JSON.stringify(record));

  const server = await startNatsServer({ dataDir, log });
  t.teardown(() => server.stop());
  t.notOk(server.adopted);
  t.notOk(isAlive(run));
  t.equal(server.port, port);
  await t.rejects(connect({ servers: `127.0.0.1:${port}` }), { code: 'AUTHORIZATION_VIOLATION' });
  const connection = await connectToNats(server.url, 'test');
  t.teardown(() => connection.close());
  t.match((await (await connection.jetstreamManager()).streams.info('AUDIT')).state, { messages: 1 });
});

t.test('START-07 a log server that refuses us for a while is not given up', async (t) => {
  const server = await startNatsServer({ dataDir: t.testdir(), log });
  t.teardown(() => server.stop());
  const connection = await connectToNats(server.url, 'test');
  t.teardown(() => connection.close());
  await server.stop();

  let refusals = 0;
  const other = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('INFO {"server_id":"x","version":"2.10.0","headers":true,"max_payload":1,"proto":1}\r\n');
    socket.once('data', () => {
      refusals += 1;
      socket.end("-ERR 'Authorization Violation'\r\n");
    });
  }).listen(server.port, '127.0.0.1');
  t.teardown(() => other.close());
  await once(other, 'listening');
  await eventually('it to be refused several times', () => refusals > 3);
  t.notOk(connection.isClosed());
  other.close();
});
