import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import pino from 'pino';
import t from 'tap';
import { readConfig } from '../../src/config/config.js';
import { endpointsOf } from '../../src/operations/incidents/certificates.js';
import {
  type CertificateCheck,
  type CertificateFact,
  certificateDecider,
  certificateSubject,
  certificates,
} from '../../streams/certificates/index.js';
import { CheckCertificates } from '../../workers/certificates/index.js';
import { probe } from '../../workers/certificates/probe.js';
import { askOf } from '../channels/stage.js';
import { openLog } from '../network/stage.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';
import { specification } from '../support/spec.js';

const skip =
  spawnSync('openssl', ['version']).status !== 0 && 'openssl, which makes the certificates, is not installed';

/** A certificate for localhost that is good for so many days. */
function certificate(dir: string, name: string, days: number): { key: string; cert: string } {
  const file = (ending: string) => join(dir, `${name}.${ending}`);
  const made = spawnSync('openssl', [
    ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'.split(' '),
    ...['-days', String(days), '-subj', `/O=Relay\u00a0Tests/CN=${name}`],
    ...['-addext', 'subjectAltName=DNS:localhost', '-keyout', file('key'), '-out', file('cert')],
  ]);
  if (made.status !== 0) throw new Error(String(made.stderr));
  return { key: readFileSync(file('key'), 'utf8'), cert: readFileSync(file('cert'), 'utf8') };
}

async function listening(t: Teardown, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const now = new Date();
const signal = new AbortController().signal;
const look = (port: number, fields: { ca?: string; host?: string; timeoutMs?: number } = {}) =>
  probe({ host: fields.host ?? 'localhost', port }, { timeoutMs: 60_000, signal, now, ...fields });

t.test('CERT-01 CERT-03 what a look finds', { skip }, async (t) => {
  const pair = certificate(t.testdir({}), 'a.relay.example', 20);
  const port = await listening(
    t,
    createServer({ ...pair }, () => undefined),
  );
  const found = await look(port, { ca: pair.cert });
  t.match(found, {
    host: 'localhost',
    port,
    checked_at: now.toISOString(),
    error: null,
    certificate: { issuer: 'a.relay.example', subject: 'a.relay.example', distrust: null },
  });
  const days = (Date.parse(found.certificate!.valid_to) - Date.now()) / 86_400_000;
  t.ok(days > 19.9 && days <= 20, `good for ${days} days`);
  t.ok(Date.parse(found.certificate!.valid_from) <= Date.now());
  t.equal((await look(port)).certificate?.distrust, 'DEPTH_ZERO_SELF_SIGNED_CERT', 'without its authority');
  t.equal(
    (await look(port, { ca: pair.cert, host: '127.0.0.1' })).certificate?.distrust,
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'under a name that is not its own',
  );

  t.match(await look(1), { certificate: null, error: 'ECONNREFUSED' });
  const silent = await listening(
    t,
    createTcpServer(() => undefined),
  );
  t.match(await look(silent, { timeoutMs: 100 }), { certificate: null, error: 'ETIMEDOUT' });
  const rude = await listening(
    t,
    createTcpServer((socket) => socket.end()),
  );
  t.match(await look(rude), { certificate: null, error: 'ECONNRESET' });
  const plain = await listening(
    t,
    createTcpServer((socket) => socket.end('NOTICE * :no TLS here\r\n')),
  );
  t.match((await look(plain)).error, /^ERR_SSL/);
  const stopping = new AbortController();
  const looking = probe(
    { host: 'localhost', port: silent },
    { timeoutMs: 60_000, signal: stopping.signal, now },
  );
  stopping.abort();
  t.match(await looking, { certificate: null, error: 'ABORTED' });
});

t.test('CERT-04 what is recorded', async (t) => {
  const { given } = specification(certificateDecider);
  const check = (fields: Partial<CertificateCheck> = {}): CertificateCheck => ({
    host: 'irc.example',
    port: 6697,
    checked_at: '2026-01-01T00:00:00.000Z',
    error: null,
    certificate: {
      issuer: 'An Authority',
      subject: 'irc.example',
      distrust: null,
      valid_from: '2025-12-01T00:00:00.000Z',
      valid_to: '2026-03-01T00:00:00.000Z',
    },
    ...fields,
  });
  const told = (data = check()): CertificateFact => ({ type: 'certificate.checked', data });
  const anHour = { checked_at: '2026-01-01T01:00:00.000Z' };
  given([]).when(check()).decides(t, told());
  given([told()]).when(check(anHour)).decides(t, undefined);
  const aDay = check({ checked_at: '2026-01-02T00:00:00.000Z' });
  given([told()]).when(aDay).decides(t, told(aDay));
  const silent = check({ ...anHour, certificate: null, error: 'ETIMEDOUT' });
  given([told()]).when(silent).decides(t, told(silent));
  given([told(), told(silent)])
    .when(check(anHour))
    .decides(t, told(check(anHour)), 'it is back');
  for (const fields of [{ issuer: 'Another' }, { valid_to: '2026-06-01T00:00:00.000Z' }, { distrust: 'X' }]) {
    const renewed = check({ ...anHour, certificate: { ...check().certificate!, ...fields } });
    given([told()]).when(renewed).decides(t, told(renewed), Object.keys(fields)[0]);
  }
});

t.test('CERT-01 endpoints as they are configured', async (t) => {
  t.same(endpointsOf(['IRC.example:6697', '[::1]:443', '10.0.0.1:1', 'irc.example:6697']), [
    { host: 'irc.example', port: 6697 },
    { host: '::1', port: 443 },
    { host: '10.0.0.1', port: 1 },
  ]);
  t.same(readConfig({ CERT_HOSTS: 'a.example:1, [::1]:65535' }).CERT_HOSTS, ['a.example:1', '[::1]:65535']);
  for (const wrong of [
    'a.example',
    'a.example:0',
    'a.example:65536',
    '::1:443',
    'https://a.example:443',
    'a b:1',
  ])
    t.throws(() => readConfig({ CERT_HOSTS: wrong }), /CERT_HOSTS: must be places like/, wrong);
});

t.test('CERT-01 CERT-03 CERT-04 the worker, round after round', { skip }, async (t) => {
  const dir = t.testdir({});
  const [old, renewed] = [certificate(dir, 'old.example', 2), certificate(dir, 'new.example', 60)];
  const server = createServer(old, () => undefined);
  const port = await listening(t, server);
  const log = await openLog(t, (await startNats(t)).url);
  const place = { host: 'localhost', port };
  const worker = new CheckCertificates({
    log,
    logger: pino({ level: 'silent' }),
    ca: old.cert,
    everyMs: 20,
    places: [place, { host: 'localhost', port: 1 }],
  });
  worker.start();
  t.teardown(() => worker.stop());
  const last = async () => (await log.last(certificates, certificateSubject(place)))?.data;
  await eventually('the first look', async () => (await last())?.certificate?.subject === 'old.example');
  server.setSecureContext(renewed);
  await eventually('the new one', async () => (await last())?.certificate?.subject === 'new.example');
  await new Promise((resolve) => server.close(resolve));
  await eventually('the silence', async () => (await last())?.error === 'ECONNREFUSED');
  await worker.stop();
  const facts = [];
  for await (const { data } of log.subject(certificates, certificateSubject(place))) facts.push(data);
  // a look that the server's end cuts off is recorded apart
  const cut = facts.findIndex(({ error }) => error === 'ECONNRESET');
  if (cut === 2) facts.splice(cut, 1);
  t.match(facts, [
    { certificate: { subject: 'old.example', distrust: null }, error: null },
    { certificate: { subject: 'new.example', distrust: 'DEPTH_ZERO_SELF_SIGNED_CERT' } },
    { certificate: null, error: 'ECONNREFUSED' },
  ]);
  t.equal(facts.length, 3, 'only what was news');
});

t.test('CERT-01 CERT-02 CERT-05 as the service tells it', { skip }, async (t) => {
  const pair = certificate(t.testdir({}), 'soon.example', 6);
  const server = createServer(pair, () => undefined);
  const port = await listening(t, server);
  let looks = 0;
  server.on('connection', () => {
    looks += 1;
  });
  const nats = await startNats(t);
  const roles = { NATS_URL: nats.url, CERT_HOSTS: `localhost:${port},localhost:1` };
  const settings = { ...roles, ROLES: 'api,projections' };
  const idle = await startApp(t, settings);
  const tiers = [30, 14, 7, 3, 0];
  const before = await askOf(idle.url, 'GET', '/sentinel/cert-status');
  t.equal(before.status, 200);
  t.match(before.body, { hosts: [`localhost:${port}`, 'localhost:1'], certs: [{ status: 'unchecked' }, {}] });
  t.same(
    before.body.alertTiers.map(({ days }: { days: number }) => days),
    tiers,
  );
  const working = await Promise.all(
    [1, 2].map(() => startApp(t, { ...settings, ROLES: 'api,projections,schedule' })),
  );
  for (const { url } of working)
    await eventually('the looks to be told', async () => {
      const { certs } = (await askOf(url, 'GET', '/sentinel/cert-status')).body;
      return certs[0].status === 'CRIT-7' && certs[1].status === 'unreachable';
    });
  const [seen, away] = (await askOf(working[0]!.url, 'GET', '/sentinel/cert-status')).body.certs;
  t.match(seen, {
    host: 'localhost',
    port,
    issuer: 'soon.example',
    subject: 'soon.example',
    days_until_expiry: 5,
    status: 'CRIT-7',
    trusted: false,
    error: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    last_check_at: /Z$/,
  });
  t.match(away, { host: 'localhost', port: 1, issuer: null, error: 'ECONNREFUSED', status: 'unreachable' });
  t.equal(looks, 1, 'one of the processes looked');
  const none = await startApp(t, { NATS_URL: nats.url, ROLES: 'api,projections,schedule' });
  t.match((await askOf(none.url, 'GET', '/sentinel/cert-status')).body, { hosts: [], certs: [] });
});
