import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import t from 'tap';
import { startIrcd } from '../support/ircd.js';
import { credentials, joinOne, startBot, until } from './bot.js';

const skip =
  spawnSync('openssl', ['version']).status !== 0 && 'openssl, which makes the certificate, is not installed';

t.test('ircs:// speaks TLS, checks the certificate, and ends with a reset', { skip }, async (t) => {
  const dir = t.testdir({});
  const made = spawnSync('openssl', [
    ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost'.split(
      ' ',
    ),
    ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ...['-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')],
  ]);
  t.equal(made.status, 0, String(made.stderr));
  const cert = readFileSync(join(dir, 'cert.pem'), 'utf8');
  const ircd = await startIrcd(t);
  const sockets = new Set<TLSSocket>();
  const ends: string[] = [];
  const terminator = createServer({ cert, key: readFileSync(join(dir, 'key.pem')) }, (socket) => {
    sockets.add(socket);
    const server = connect({ host: '127.0.0.1', port: ircd.port, noDelay: true });
    socket.on('error', (error: NodeJS.ErrnoException) => ends.push(error.code ?? 'error'));
    server.on('error', () => undefined);
    socket.pipe(server).pipe(socket);
    socket.on('close', () => server.destroy());
  });
  await new Promise<void>((resolve) => terminator.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    terminator.close();
  });
  const { port } = terminator.address() as AddressInfo;

  for (const host of ['127.0.0.1', 'localhost']) {
    const bot = startBot(t, {
      ...credentials(ircd),
      url: `ircs://${host}:${port}`,
      ca: cert,
      nick: `tls-${host[0]}`,
    });
    const session = await bot.session();
    await joinOne(session, '#a');
    t.match(await session.say('#a', 'over TLS 🎉'), { is: 'confirmed' }, host);
    await bot.connection.stop();
  }

  const wary = startBot(t, { ...credentials(ircd), url: `ircs://127.0.0.1:${port}`, nick: 'wary' });
  await until(() => wary.logged.length > 0, 'the first attempt to end');
  t.match(wary.logged[0], { reason: /self.signed/ });
  t.equal(wary.sessions.length, 0);
  await wary.connection.stop();

  ends.length = 0;
  const frozen = startBot(t, {
    ...credentials(ircd),
    url: `ircs://127.0.0.1:${port}`,
    ca: cert,
    confirmTimeoutMs: 3_000,
  });
  const session = await frozen.session();
  await joinOne(session, '#a');
  ircd.pause();
  t.teardown(() => ircd.resume());
  t.same(await session.say('#a', 'x'), { is: 'lost', written: true });
  await until(() => ends.includes('ECONNRESET'), `a reset, not ${ends}`);
  ircd.resume();
});

t.test('an address that is none of an IRC server', async (t) => {
  for (const url of ['http://127.0.0.1', 'irc://', 'localhost:6667', '']) {
    t.throws(() => startBot(t, { url }), TypeError, url);
  }
});
