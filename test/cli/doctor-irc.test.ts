import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import t from 'tap';
import { IrcViewer } from '../../src/cli/demo/irc-viewer.js';
import { ircChecks } from '../../src/cli/doctor/irc.js';
import { findInspircd } from '../../src/servers/binaries.js';
import { inspircdAnswers, inspircdArgs, writeInspircdFiles } from '../../src/servers/inspircd.js';
import { inspircdConfig, installationOf } from '../../src/servers/inspircd-config.js';
import { inspircdFailure, startIrcd, type TestIrcd } from '../support/ircd.js';
import { freePort } from '../support/ports.js';
import { startServerProcess, type Teardown } from '../support/server-process.js';
import { diagnose } from './diagnosis.js';

const settings = ({ url, operName, operPassword, serverPassword }: TestIrcd) => ({
  IRC_URL: url,
  IRC_OPER_NAME: operName,
  IRC_OPER_PASSWORD: operPassword,
  IRC_SERVER_PASSWORD: serverPassword,
});

t.test('DOCTOR-10 away', async (t) => {
  const found = await diagnose(ircChecks, { IRC_URL: `irc://127.0.0.1:${await freePort()}` });
  t.match(found, {
    irc: { status: 'fail', what: /no IRC server can be entered .*ECONNREFUSED/, mend: /IRC_URL/ },
  });
});

t.test('DOCTOR-10 what our bot would find', async (t) => {
  const ircd = await startIrcd(t);
  const env = settings(ircd);
  t.match(await diagnose(ircChecks, env), {
    irc: { status: 'ok' },
    'irc.capabilities': { status: 'ok' },
    'irc.history': { status: 'ok' },
    'irc.nick': { status: 'ok', what: 'the nick em-bot is free' },
    'irc.operator': { status: 'ok', what: 'the operator credentials of chanbot are accepted' },
  });
  t.match(await diagnose(ircChecks, { IRC_URL: ircd.url }), { 'irc.operator': { status: 'skipped' } });

  const somebody = await IrcViewer.connect(ircd.url, 'em-bot', () => {});
  t.teardown(() => somebody.close());
  const found = await diagnose(ircChecks, { ...env, IRC_OPER_PASSWORD: 'wrong' });
  t.match(found['irc.nick'], {
    status: 'fail',
    what: /has the nick em-bot, and is not our bot/,
    mend: /EM_NICK/,
  });
  t.match(found['irc.operator'], { status: 'fail', what: /are refused: /, mend: /IRC_OPER_PASSWORD/ });
});

t.test('DOCTOR-10 a server without what makes delivery certain', async (t) => {
  const binary = findInspircd();
  const { port } = await startServerProcess(t, {
    name: 'ircd',
    command: binary.path,
    choosePort: freePort,
    args: (dir, port) => {
      const secrets = { operName: 'chanbot', operPassword: 'x', serverPassword: 'y' };
      const text = inspircdConfig({
        dir,
        host: '127.0.0.1',
        port,
        secrets,
        installation: installationOf(binary),
      })
        .replace(/<module name="(ircv3_labeledresponse|ircv3_echomessage|chanhistory)">\n/g, '')
        .replace(/<chanhistory .*>\n/, '')
        .replace(/(modes="\w*)H ([^"]*) 100:1d"/g, '$1$2"')
        .replaceAll('H 100:1d', '');
      return inspircdArgs(writeInspircdFiles(dir, text));
    },
    answers: inspircdAnswers,
    failure: inspircdFailure,
  });
  t.match(await diagnose(ircChecks, { IRC_URL: `irc://127.0.0.1:${port}` }), {
    irc: { status: 'ok' },
    'irc.capabilities': { status: 'warn', what: /lacks echo-message, labeled-response: / },
    'irc.history': { status: 'warn', mend: /chanhistory/ },
  });
});

const skip =
  spawnSync('openssl', ['version']).status !== 0 && 'openssl, which makes the certificate, is not installed';

t.test('DOCTOR-10 certificates', { skip }, async (t) => {
  const ircd = await startIrcd(t);
  const lasting = certificate(t.testdir(), 90, 'DNS:localhost,IP:127.0.0.1');
  const place = (port: number, host = '127.0.0.1') => ({ IRC_URL: `ircs://${host}:${port}` });

  const port = await terminate(t, ircd.port, lasting);
  t.match(await diagnose(ircChecks, place(port), { ca: lasting.cert }), {
    'irc.certificate': { status: 'ok', what: /good until \d{4}-\d\d-\d\d/ },
  });
  t.match(await diagnose(ircChecks, place(port)), {
    'irc.certificate': { status: 'fail', what: /is not accepted: /, mend: /NODE_EXTRA_CA_CERTS/ },
  });
  const nearTheEnd = { ca: lasting.cert, now: () => Date.now() + 80 * 24 * 3_600_000 };
  t.match(await diagnose(ircChecks, place(port), nearTheEnd), {
    'irc.certificate': { status: 'warn', mend: /renewed/ },
  });

  const foreign = certificate(t.testdir(), 90, 'DNS:irc.example');
  const other = await terminate(t, ircd.port, foreign);
  t.match(await diagnose(ircChecks, place(other, 'localhost'), { ca: foreign.cert }), {
    'irc.certificate': { status: 'fail', what: /Hostname\/IP does not match/ },
  });
});

function certificate(dir: string, days: number, names: string): { cert: string; key: string } {
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const what = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days ${days} -subj /CN=test`;
  const made = spawnSync('openssl', [
    ...what.split(' '),
    ...['-addext', `subjectAltName=${names}`, '-keyout', key, '-out', cert],
  ]);
  if (made.status !== 0) throw new Error(String(made.stderr));
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}

/** A port that speaks TLS before a server that does not. */
async function terminate(t: Teardown, port: number, pair: { cert: string; key: string }): Promise<number> {
  const sockets = new Set<TLSSocket>();
  const terminator = createServer(pair, (socket) => {
    sockets.add(socket);
    const server = connect({ host: '127.0.0.1', port });
    socket.on('error', () => undefined).on('close', () => server.destroy());
    server.on('error', () => undefined);
    socket.pipe(server).pipe(socket);
  });
  await new Promise<void>((resolve) => terminator.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    terminator.close();
  });
  return (terminator.address() as AddressInfo).port;
}
