import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { createApp } from '../../src/app/app.js';
import { machineChecks } from '../../src/cli/doctor/machine.js';
import { marketplaceChecks } from '../../src/cli/doctor/marketplace.js';
import { serviceChecks } from '../../src/cli/doctor/service.js';
import { settingChecks } from '../../src/cli/doctor/settings.js';
import { readConfig } from '../../src/config/config.js';
import { findInspircd, findNatsServer } from '../../src/servers/binaries.js';
import { loadSecrets } from '../../src/servers/secrets.js';
import { channelsFile, paidChannel, payTo } from '../payments/stage.js';
import { withoutAnope } from '../support/anope.js';
import { hangMs } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';
import { needsDisk, smallDisk } from '../support/small-disk.js';
import { temporaryDirectory } from '../support/sql.js';
import { diagnose } from './diagnosis.js';
import { run, separateEnvironment } from './service-process.js';
import { relay } from './terminal.js';

interface Report {
  well: boolean;
  findings: { id: string; status: string; what: string; mend?: string }[];
}

/** Without Anope one finding is expected: that it is missing. */
const unwell = ({ findings }: Report) =>
  findings.filter(({ id, status }) => status !== 'ok' && !(withoutAnope && id === 'irc.nick-service'));

const nobody = String(await freePort());

t.test('DOCTOR-01 a service that is well: every part is asked, and nothing has failed', async (t) => {
  const env: Record<string, string> = {
    ...(await separateEnvironment(await temporaryDirectory(t))),
    API_KEYS: `ann:${'k'.repeat(40)}`,
    STREAMS_MAX_BYTES: '500000000',
  };
  const app = await createApp(readConfig(env), pino({ level: 'silent' }));
  t.teardown(() => app.stop());
  const deadline = Date.now() + hangMs;
  let report: Report;
  do {
    report = JSON.parse((await relay(['doctor', '--json'], { env })).out);
    // until its bots and its nick service are on IRC
  } while (unwell(report).length > 0 && Date.now() < deadline);
  t.same(unwell(report), []);
  const ids = report.findings.map(({ id }) => id);
  for (const id of [
    'settings',
    'disk',
    'service',
    'log',
    'streams',
    'projections',
    'delivery',
    'irc.operator',
  ])
    t.ok(ids.includes(id), id);

  const plain = await relay(['doctor'], { env });
  t.equal(plain.code, 0);
  t.match(plain.out, /^ok +service +the service at \S+ is ready$/m);
  t.match(plain.out, /^\d+ ok, [01] to look at, 0 failed, 0 skipped$/m);

  const stranger = await relay(['doctor', '--key', 'wrong', '--json'], { env });
  const { findings } = JSON.parse(stranger.out) as Report;
  const by = (id: string) => findings.find((finding) => finding.id === id);
  t.match(by('projections'), { status: 'skipped', what: /give the key with --key/ }, 'DOCTOR-02');
  t.match(by('version'), { status: 'warn', mend: /RELAY_API_KEY/ });

  const { DATA_DIR: _, ...elsewhere } = env;
  const misled = await relay(['doctor', '--json'], { env: { ...elsewhere, DATA_DIR: t.testdir() } });
  t.match(
    (JSON.parse(misled.out) as Report).findings.find(({ id }) => id === 'version'),
    { status: 'warn', what: /runs with other settings: DATA_DIR is / },
    'DOCTOR-07',
  );
});

t.test('DOCTOR-02 without a service: what cannot be told is skipped, and nothing is touched', async (t) => {
  const dir = t.testdir();
  const { code, out } = await relay(['doctor', '--json'], {
    env: { DATA_DIR: join(dir, 'data'), PORT: nobody },
  });
  t.equal(code, 0);
  const { findings, well } = JSON.parse(out) as Report;
  t.ok(well);
  const statusOf = Object.fromEntries(findings.map(({ id, status }) => [id, status]));
  t.match(statusOf, {
    node: 'ok',
    'data-dir': 'ok',
    'nats-server': 'ok',
    inspircd: 'ok',
    'webhook-secret': 'skipped',
  });
  for (const id of ['service', 'log', 'streams', 'read-store', 'projections', 'delivery', 'consumers', 'irc'])
    t.equal(statusOf[id], 'skipped', id);
  t.same(await readdir(dir), []);
});

t.test('DOCTOR-02 a service that was started before and does not run', async (t) => {
  const DATA_DIR = t.testdir({ nats: { store: {} } });
  const { service } = await diagnose(serviceChecks, { DATA_DIR });
  t.match(service, { status: 'fail', what: /does not run/, mend: /relay start/ });
  const elsewhere = await diagnose(serviceChecks, { DATA_DIR, NATS_URL: 'nats://127.0.0.1:1' });
  t.match(elsewhere.service, { status: 'skipped' });
});

t.test('DOCTOR-02 the marketplace', async (t) => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    const isGood = request.headers.authorization === 'Bearer good';
    response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const EM_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/market`;
  const look = async (env: Record<string, string>) => (await diagnose(marketplaceChecks, env)).marketplace;
  t.match(await look({}), { status: 'ok', what: /EM_URL is empty/ });
  t.match(await look({ EM_URL, EM_API_KEY: 'good' }), { status: 'ok', what: /answers$/ });
  t.match(await look({ EM_URL, EM_API_KEY: 'bad' }), {
    status: 'fail',
    mend: /EM_API_KEY to a key that is good/,
  });
  t.match(await look({ EM_URL }), { status: 'fail', mend: /set EM_API_KEY/ });
  t.match(await look({ EM_URL: `http://127.0.0.1:${nobody}` }), {
    status: 'fail',
    what: /cannot be asked/,
    mend: /correct EM_URL/,
  });
  t.same(asked[0], '/market/api/v1/tasks?limit=1 Bearer good');
});

t.test('DOCTOR-03 settings', async (t) => {
  await t.test('that cannot be read', async (t) => {
    const { code, out, err } = await relay(['doctor'], { env: { PORT: 'abc', LOG_LEVEL: 'loud' } });
    t.equal(code, 1);
    t.match(out, /^fail +settings +PORT: must be a whole number from 0 to 65535, got 'abc'\n +-> correct it/);
    t.match(err, /2 of 2 checks failed/);
  });
  await t.test('with a name that is none', async (t) => {
    const env = { DATA_DIR: t.testdir(), PORT: nobody, EM_WEBHOK_SECRET: 'x' };
    const { code, out } = await run(t, ['src/cli.ts', 'doctor'], env).ended();
    t.equal(code, 0);
    t.match(
      out.join('\n'),
      /^warn +setting-names +EM_WEBHOK_SECRET is not a setting: did you mean EM_WEBHOOK_SECRET\?$/m,
    );
  });
  await t.test('that are risky', async (t) => {
    const found = await diagnose(settingChecks, { API_KEYS: 'ann:short', EM_WEBHOOK_SECRET: 'short' });
    t.match(found['setting-risks'], {
      status: 'warn',
      what: /API key of ann is shorter/,
      mend: /relay keys new ann/,
    });
    t.match(found['webhook-secret'], {
      status: 'warn',
      what: 'EM_WEBHOOK_SECRET is shorter than 32 characters',
    });
    const second = await diagnose(settingChecks, { EM_WEBHOOK_SECRET: `${'s'.repeat(32)},short` });
    t.match(second['webhook-secret'], { status: 'warn', what: /^secret 2 of EM_WEBHOOK_SECRET is shorter/ });
    const none = await diagnose(settingChecks, { NATS_URL: 'nats://127.0.0.1:1' });
    t.match(none['webhook-secret'], {
      status: 'fail',
      what: /no event is accepted/,
      mend: /EM_WEBHOOK_SECRET/,
    });
  });
});

t.test('DOCTOR-03 START-19 files that settings name', async (t) => {
  const model = { id: 'small', provider: 'p', base_url: 'https://api.example/v1', price_in: 1, price_out: 1 };
  const dir = t.testdir({
    good: 'ann:key\n',
    bad: 'ann:key\nsecret\n',
    paid: '[{}]',
    models: JSON.stringify([{ ...model, api_key_env: 'MODEL_KEY' }]),
  });
  const keys = async (name: string) =>
    (await diagnose(settingChecks, { API_KEYS_FILE: join(dir, name) }))['keys-file'];
  t.match(await keys('good'), { status: 'ok' });
  t.match(await keys('bad'), {
    status: 'fail',
    what: /^API_KEYS_FILE: Line 2 of \S+ is not a name:key pair$/,
    mend: /one that runs keeps the keys/,
  });
  t.match(await keys('absent'), { status: 'fail', what: /cannot be read \(ENOENT\)/ });
  for (const name of ['paid', 'absent']) {
    const { code, out } = await relay(['doctor'], { env: { PAID_CHANNELS: join(dir, name) } });
    t.equal(code, 1);
    t.match(out, /^fail +settings +PAID_CHANNELS: \S+ cannot be read|PAID_CHANNELS: \S+: entry 1: name/);
  }

  const modelsFile = { MODELS: join(dir, 'models') };
  const models = async (env: Record<string, string>) =>
    (await diagnose(settingChecks, { ...modelsFile, ...env }))['model-keys'];
  t.match(await models({}), {
    status: 'fail',
    what: 'MODELS: model small needs its key in MODEL_KEY, which is not set',
    mend: /^set that variable/,
  });
  t.match(await models({ MODEL_KEY: 'k' }), { status: 'ok' });

  const dataDir = join(dir, 'data');
  const app = createApp(
    readConfig({ DATA_DIR: dataDir, API_KEYS_FILE: join(dir, 'bad'), ...modelsFile }),
    pino({ level: 'silent' }),
  );
  await t.rejects(app, {
    name: 'ConfigError',
    message: /\n {2}API_KEYS_FILE: Line 2 of .*\n {2}MODELS: model small needs its key in MODEL_KEY/,
  });
  t.notOk(existsSync(dataDir), 'nothing was begun');
});

t.test('DOCTOR-03 START-09 a webhook secret that was lost', async (t) => {
  const dir = t.testdir({ nats: { store: {} } });
  const look = async (env = {}) =>
    (await diagnose(settingChecks, { DATA_DIR: dir, ...env }))['webhook-secret'];
  t.match(await look(), {
    status: 'warn',
    what: /has no webhook secret although there is an event log: the next start makes a new one/,
    mend: /put the file back from a copy, or set EM_WEBHOOK_SECRET/,
  });
  await loadSecrets(dir, () => {});
  t.match(await look(), {
    status: 'warn',
    what: /was lost and made again, \d{4}-\S+ \S+Z: .* are refused$/,
    mend: /put the old \S+secrets\.json back .* take remade_at out of the file$/,
  });
  t.match(await look({ EM_WEBHOOK_SECRET: 's'.repeat(40) }), { status: 'ok' }, 'nobody uses it');
  const file = join(dir, 'secrets.json');
  const { remade_at: _, ...kept } = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify(kept));
  t.match(await look(), { status: 'ok' });
});

t.test('DOCTOR-04 the machine', async (t) => {
  const look = (env: NodeJS.ProcessEnv, over = {}) => diagnose(machineChecks, env, over);
  const program = async (text: string) => {
    const file = join(t.testdir(), 'program');
    await writeFile(file, `#!/bin/sh\necho '${text}'\n`);
    await chmod(file, 0o755);
    return file;
  };

  await t.test('Node.js', async (t) => {
    const env = { DATA_DIR: t.testdir() };
    t.match((await look(env, { nodeVersion: '20.8.1' })).node, { status: 'fail', mend: /20\.9 or newer/ });
    t.match((await look(env, { nodeVersion: '22.1.0' })).node, { status: 'ok' });
  });

  await t.test('server programs', async (t) => {
    const old = await program('nats-server: v2.9.25');
    const env = { DATA_DIR: t.testdir() };
    const found = await look(env, {
      findNatsServer: () => findNatsServer([old]),
      findInspircd: () => findInspircd([join(t.testdirName, 'nowhere')]),
    });
    t.match(found['nats-server'], {
      status: 'fail',
      what: /no usable nats-server found .*v2\.9\.25, wanted is version 2\.10 or newer/,
      mend: /run scripts\/setup/,
    });
    t.match(found.inspircd, { status: 'fail', what: 'no usable inspircd found' });
  });

  await t.test('modules of InspIRCd', async (t) => {
    const home = t.testdir({
      sbin: {},
      lib: { inspircd: { modules: { 'm_cap.so': '', 'm_chanhistory.so': '' } } },
    });
    const findings = await look(
      { DATA_DIR: home },
      { findInspircd: () => ({ path: join(home, 'sbin', 'inspircd'), version: 'InspIRCd-3.15.0' }) },
    );
    t.match(findings.inspircd, {
      status: 'warn',
      what: /lacks the modules .*ircv3_echomessage, ircv3_labeledresponse/,
    });
  });

  await t.test(
    'a read store that was moved aside, and one that was open when the machine went down',
    async (t) => {
      const dir = t.testdir({ 'pg.damaged-20260102T030405Z': {}, pg: { 'relay-session': 'another boot' } });
      const { findings } = JSON.parse(
        (await relay(['doctor', '--json'], { env: { DATA_DIR: dir, PORT: nobody } })).out,
      ) as Report;
      t.match(
        findings.filter(({ id }) => id === 'store-files'),
        [
          { status: 'warn', what: /moved aside to \S+\/pg\.damaged-20260102T030405Z/, mend: /delete it/ },
          { status: 'warn', what: /machine went down while/, mend: /the next start replaces it/ },
        ],
      );
    },
  );

  await t.test('a data directory that takes no files', needsDisk, async (t) => {
    const { dir } = smallDisk(t, 4, 'ro');
    t.match((await look({ DATA_DIR: dir }))['data-dir'], {
      status: 'fail',
      what: /cannot be written \(EROFS\)/,
      mend: /^set DATA_DIR/,
    });
  });

  await t.test('a disk that is full', needsDisk, async (t) => {
    const { dir, fill } = smallDisk(t, 4);
    await fill(100_000);
    t.match(await look({ DATA_DIR: dir }), {
      'data-dir': { status: 'fail', what: /is full$/, mend: /^free some space/ },
      disk: { status: 'fail', what: /is full, .* are free/ },
    });
  });

  await t.test('a disk that is smaller than the streams may become', async (t) => {
    const dir = await temporaryDirectory(t);
    const tooMuch = String(1e15);
    const found = await look({ DATA_DIR: dir, STREAMS_MAX_BYTES: tooMuch });
    t.match(found.disk, { status: 'warn', what: /may grow by 1000\.0 TB/, mend: /STREAMS_MAX_BYTES/ });
  });
});

t.test('DOCTOR-07 the running service', async (t) => {
  await t.test('another program on its port', async (t) => {
    const server = createServer((_, response) => response.end('a web page'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    t.match((await diagnose(serviceChecks, {}, { url })).service, {
      status: 'fail',
      mend: /set PORT to another/,
    });
  });

  await t.test('a port that clients refuse to call', async (t) => {
    for (const port of ['6000', '6667', '10080']) {
      const { service, health } = await diagnose(serviceChecks, {}, { url: `http://127.0.0.1:${port}` });
      t.match(service, {
        status: 'fail',
        what: new RegExp(`^browsers and Node\\.js refuse to call http://127\\.0\\.0\\.1:${port}: `),
        mend: /^set PORT to another port/,
      });
      t.match(health, { status: 'skipped', what: /cannot be asked: browsers/ });
    }
  });

  await t.test('one whose payment facilitator is away', async (t) => {
    const nats = await startNats(t);
    const dir = await temporaryDirectory(t);
    const facilitator = `http://127.0.0.1:${await freePort()}`;
    const env = {
      DATA_DIR: dir,
      PORT: '0',
      NATS_URL: nats.url,
      ROLES: 'api,projections,services',
      PAID_CHANNELS: await channelsFile(t, [paidChannel()]),
      X402_PAY_TO: payTo,
      X402_FACILITATOR_URL: facilitator,
    };
    const app = await createApp(readConfig(env), pino({ level: 'silent' }));
    t.teardown(() => app.stop());
    const { health } = await diagnose(serviceChecks, env, { url: app.address });
    t.match(health, {
      status: 'warn',
      what: `turnstile is degraded, because the payment facilitator ${facilitator} does not answer as one`,
      mend: /^set X402_FACILITATOR_URL to a facilitator that answers/,
    });
  });

  await t.test('one whose log server is away', async (t) => {
    const nats = await startNats(t);
    const dir = await temporaryDirectory(t);
    await mkdir(join(dir, 'data'));
    const env = { DATA_DIR: join(dir, 'data'), PORT: '0', NATS_URL: nats.url, ROLES: 'api,projections' };
    const app = await createApp(readConfig(env), pino({ level: 'silent' }));
    t.teardown(() => app.stop());
    await nats.kill();
    const found = await diagnose(serviceChecks, env, { url: app.address });
    t.match(found, {
      service: { status: 'fail', what: /is not ready: / },
      health: { status: 'warn', what: /the service is degraded: bridge is / },
    });
    await nats.start();
  });
});
