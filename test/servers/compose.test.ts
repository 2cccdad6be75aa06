import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { connect } from 'nats';
import t from 'tap';
import { parse } from 'yaml';
import { nickServiceAnswers } from '../../src/servers/anope.js';
import { findNatsServer } from '../../src/servers/binaries.js';
import { natsAnswers } from '../../src/servers/nats-server.js';
import { withoutAnope } from '../support/anope.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { nodeArgs } from '../support/programs.js';
import { endWithThisProcess, startServerProcess, type Teardown } from '../support/server-process.js';
import { temporaryDirectory } from '../support/sql.js';

interface Service {
  command?: string[];
  environment?: Record<string, string>;
}
const { services } = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as {
  services: Record<string, Service>;
};

/** A folder as `scripts/compose-env` leaves it, and the password of the log servers in it. */
function setUp(dir: string): string {
  mkdirSync(join(dir, 'scripts'));
  cpSync('scripts/compose-env', join(dir, 'scripts/compose-env'));
  execFileSync(join(dir, 'scripts/compose-env'));
  const [, password = ''] = /^NATS_PASSWORD=(\w{32,})$/m.exec(readFileSync(join(dir, '.env'), 'utf8')) ?? [];
  return password;
}

/** A log server with the command line that it has in its container; others are found on this machine. */
async function startLogServer(
  t: Teardown,
  name: string,
  password: string,
  ports: { routes: number[]; monitor?: number },
) {
  const { command = [], environment = {} } = services[name]!;
  const conf = await temporaryDirectory(t);
  const monitor = ports.monitor ?? (await freePort());
  const route = ports.routes[Number(name.at(-1)) - 1] ?? 0;
  for (const file of ['nats.conf', 'nats.compose.conf', 'nats.compose-cluster.conf'])
    writeFileSync(
      join(conf, file),
      // where it listens is what is looked at here, and the usual port may be taken
      readFileSync(file, 'utf8')
        .replace(':8222"', `:${monitor}"`)
        .replace('0.0.0.0:6222', `127.0.0.1:${route}`),
    );
  const portOf = (_: string, n: string) => `127.0.0.1:${ports.routes[Number(n) - 1]}`;
  const env = Object.entries(environment).map(([variable, value]) => [
    variable,
    value.replace(/\$\{NATS_PASSWORD[^}]*\}/g, password).replace(/nats-(\d):6222/, portOf),
  ]);
  return await startServerProcess(t, {
    name,
    command: findNatsServer().path,
    choosePort: freePort,
    env: Object.fromEntries(env),
    args: (dir, port) => [
      ...command
        .slice(1)
        .map((word) => word.replace(/^--config=.*\//, `--config=${conf}/`))
        .map((word) => word.replace(/^--store_dir=.*/, `--store_dir=${join(dir, 'store')}`))
        .map((word) => word.replace('0.0.0.0', '127.0.0.1')),
      `--port=${port}`,
    ],
    answers: natsAnswers,
  });
}

t.test('START-11 log servers in containers serve nobody without the password either', async (t) => {
  const dir = t.testdir();
  const password = setUp(dir);
  t.ok(password, 'it is made');
  t.equal(statSync(join(dir, '.env')).mode & 0o777, 0o600);
  const monitor = await freePort();
  const { port } = await startLogServer(t, 'nats', password, { routes: [], monitor });
  t.ok((await fetch(`http://127.0.0.1:${monitor}/healthz`)).ok, 'the health check of the container');
  await t.rejects(fetch(`http://127.0.0.2:${monitor}/healthz`), 'other addresses have no monitoring port');
  for (const { command = [] } of Object.values(services))
    t.notMatch(command.join(' '), /--http_port|-m /, 'which would listen where --addr says');
  for (const { command = [] } of Object.values(services))
    t.notMatch(command.join(' '), /PASSWORD/, 'which others on the machine would read');
  const routes = await Promise.all([freePort(), freePort(), freePort()]);
  const names = ['nats-1', 'nats-2', 'nats-3'];
  const cluster = await Promise.all(names.map((name) => startLogServer(t, name, password, { routes })));
  for (const at of [port, ...cluster.map((one) => one.port)]) {
    const servers = `127.0.0.1:${at}`;
    await t.rejects(connect({ servers }), { code: 'AUTHORIZATION_VIOLATION' });
    const connection = await connect({ servers, user: 'relay', pass: password, timeout: 10_000 });
    t.teardown(() => connection.close());
    if (at === port) continue;
    await eventually('the cluster', async () => (await connection.jetstreamManager()).getAccountInfo());
  }
  for (const [name, { environment }] of Object.entries(services)) {
    const addresses = environment?.NATS_URL?.split(',') ?? [];
    for (const address of addresses)
      t.match(address, /^nats:\/\/relay:\$\{NATS_PASSWORD\}@nats(-\d)?:4222$/, name);
  }
});

t.test('START-11 the container of the IRC server has the nick service', { skip: withoutAnope }, async (t) => {
  t.match(readFileSync('Dockerfile', 'utf8'), /AS inspircd\n(?:(?!FROM).*\n)*.*install.* anope /);
  const { environment = {} } = services.inspircd!;
  const port = await freePort();
  const given = (value: string) => value.replace(/\$\{\w+:-([^}]*)\}/, '$1').replace(/\$\{.*\}/, 'secret');
  const child = spawn(process.execPath, nodeArgs('src/servers/run-inspircd.ts'), {
    env: {
      PATH: process.env.PATH,
      ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, given(value)])),
      DATA_DIR: await temporaryDirectory(t),
      HOST: '127.0.0.1',
      IRC_EMBEDDED_PORT: String(port),
      LOG_LEVEL: 'silent',
    },
    stdio: 'inherit',
  });
  endWithThisProcess(child);
  await eventually('NickServ to answer', () => nickServiceAnswers({ port, password: 'secret' }));
  child.kill();
  t.same(await once(child, 'exit'), [0, null], 'both end with it');
  t.notOk(await nickServiceAnswers({ port, password: 'secret' }, 500));
});

t.test('no dependency reports home when this is installed', async (t) => {
  const require = createRequire(import.meta.url);
  const { processDependencyTreeOutput } = require(resolve('node_modules/@scarf/scarf/report.js'));
  const scarf = { name: '@scarf/scarf', version: '1.4.0', path: resolve('node_modules/@scarf/scarf') };
  const parent = { name: 'swagger-ui-dist', version: '5.0.0', dependencies: { [scarf.name]: scarf } };
  const own = JSON.parse(readFileSync('package.json', 'utf8'));
  const asked = async (root: object) =>
    await new Promise((found, refused) => {
      const tree = { ...root, path: resolve('.'), dependencies: { [parent.name]: parent } };
      processDependencyTreeOutput(found, refused)(null, JSON.stringify(tree));
    });
  await t.rejects(asked(own), { message: /disabled/ });
  t.match(await asked({ ...own, scarfSettings: undefined }), { parent: { name: parent.name } }, 'it would');
});
