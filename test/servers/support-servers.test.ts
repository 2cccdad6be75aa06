import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { connect, type NatsConnection } from 'nats';
import t from 'tap';
import { answers } from '../../src/servers/net.js';
import { hasEnded, identify } from '../../src/servers/process.js';
import { hangMs } from '../support/eventually.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { needsDisk, smallDisk } from '../support/small-disk.js';
import { startHolder } from './holder.js';

t.test('a test nats-server keeps its port and its store over kill -9', async (t) => {
  const nats = await startNats(t, { sync: 'always' });
  const connection = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 20 });
  t.teardown(() => connection.close());
  const manager = await connection.jetstreamManager();
  await manager.streams.add({ name: 'A', subjects: ['a.>'] });
  await connection.jetstream().publish('a.1', 'x');

  const { pid, url } = nats;
  const reconnected = reconnection(connection);
  await nats.kill();
  t.equal(identify(pid), undefined);
  await nats.start();
  t.not(nats.pid, pid);
  t.equal(nats.url, url);
  await reconnected;
  t.equal((await manager.streams.info('A')).state.messages, 1, 'the acknowledged message is there');
});

t.test('a paused server answers nothing and goes on when resumed', async (t) => {
  const ircd = await startIrcd(t);
  const hello = (ms: number) => answers({ port: ircd.port }, 'CAP LS\r\n', /CAP \* LS/, ms);
  t.ok(await hello(hangMs));
  ircd.pause();
  t.notOk(await hello(200));
  ircd.resume();
  t.ok(await hello(hangMs));
});

t.test('the added configuration of a test InspIRCd is in force', async (t) => {
  const ircd = await startIrcd(t, { extraConfig: '<module name="deaf">' });
  const registered = await answers(
    { port: ircd.port },
    `PASS ${ircd.serverPassword}\r\nNICK a\r\nUSER a a a :a\r\n`,
    / 005 a .*USERMODES=\S*d/,
    hangMs,
  );
  t.ok(registered, 'user mode d is known');
});

t.test('a test server ends with a test process that is killed', async (t) => {
  const holder = await startHolder(t, 'test-nats', '');
  const server = identify(holder.pid)!;
  await holder.kill();
  t.ok(await hasEnded(server, 5_000));
});

t.test('the disk of a test process that was killed is removed by the next one', needsDisk, async (t) => {
  const holder = await startHolder(t, 'disk', '');
  const isIts = (name: string) => name.startsWith(`relay-disk-${holder.child.pid}-`);
  const disks = () => readdirSync(tmpdir()).filter(isIts);
  smallDisk(t, 1);
  t.equal(disks().length, 1, 'that of a process that lives stays');
  const [name] = disks();
  await holder.kill();
  t.equal(disks().length, 1);
  smallDisk(t, 1);
  t.same(disks(), []);
  t.notMatch(readFileSync('/proc/mounts', 'utf8'), name!);
});

async function reconnection(connection: NatsConnection) {
  for await (const status of connection.status()) if (status.type === 'reconnect') return;
  throw new Error('closed instead of reconnected');
}
