import { type StdioOptions, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { errorView } from '../../src/cli/service/logger.js';
import { ownServerPort } from '../../src/cli/service/own-servers.js';
import { startNatsServer } from '../../src/servers/nats-server.js';
import { storedSecrets } from '../../src/servers/secrets.js';
import { Unavailable } from '../../streams/core/index.js';
import { startNats } from '../support/nats.js';
import { nodeArgs, programFile } from '../support/programs.js';
import { needsDisk, smallDisk } from '../support/small-disk.js';
import { run, separateEnvironment } from './service-process.js';
import { relay } from './terminal.js';

const runs = (line: string) => line.includes('"the service runs"');

async function dataDirectory(t: { teardown(fn: () => unknown): void }): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'relay-start-'));
  t.teardown(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}

/** The command lines of all programs on this machine that others can see, where they can be read. */
function commandLines(): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [readFileSync(`/proc/${name}/cmdline`, 'utf8')];
      } catch {
        return []; // it has ended while we looked
      }
    });
}

t.test('a configuration that cannot be used ends it with exit code 2', async (t) => {
  const { code, out, err } = await run(t, ['src/main.ts'], {
    PORT: 'eighty',
    EM_WEBHOOK_SCHEMES: 'x',
  }).ended();
  t.equal(code, 2);
  t.same(out, []);
  t.match(err, /^relay: The configuration cannot be used:\n {2}PORT: .*\n {2}EM_WEBHOOK_SCHEMES: /);
  t.notMatch(err, /\n\s+at /);
});

t.test('START-01 a data directory that cannot be made', async (t) => {
  const place = process.platform === 'linux' ? '/proc/relay' : '/dev/null/relay';
  const { code, err } = await run(t, ['src/main.ts'], { DATA_DIR: place, PORT: '0' }).ended();
  t.equal(code, 1);
  t.match(err, /^relay: the data directory \S+ cannot be [^\n]*: set DATA_DIR to a folder[^\n]*\n$/);
});

t.test('START-02 a full disk', needsDisk, async (t) => {
  const disk = smallDisk(t, 4);
  await disk.fill(200_000);
  const { code, err } = await run(t, ['src/main.ts'], { DATA_DIR: disk.dir, PORT: '0' }).ended();
  t.equal(code, 1);
  t.match(err, /^relay: the disk of the data directory \S+ is full: free some space[^\n]*\n$/);
});

t.test('START-15 what a service waits for that runs already', async (t) => {
  const nats = await startNats(t);
  const service = run(t, ['src/main.ts'], {
    ...(await separateEnvironment(await dataDirectory(t))),
    NATS_URL: nats.url,
    ROLES: 'api,services,projections',
  });
  await service.line(runs);
  await nats.kill();
  const reason = await service.line((line) => line.includes('"not ready yet"'));
  t.match(JSON.parse(reason), { level: 30, reason: 'the event log is not connected' });
  await nats.start();
  await service.line((line) => line.includes('"msg":"ready"'));
  service.child.kill();
  t.match(await service.ended(), { code: 0, err: '' });
});

t.test('START-07 a log server that wants other credentials, and what is shown of ours', async (t) => {
  const server = await startNatsServer({ dataDir: await dataDirectory(t), log: pino({ level: 'silent' }) });
  t.teardown(() => server.stop());
  const NATS_URL = `nats://relay:p@ss-${'x'.repeat(20)}@127.0.0.1:${server.port}`;
  const { code, out, err } = await run(t, ['src/main.ts'], {
    ...(await separateEnvironment(await dataDirectory(t))),
    NATS_URL,
    LOG_LEVEL: 'trace',
  }).ended();
  t.equal(code, 1);
  t.equal(
    err,
    `relay: the log server at nats://127.0.0.1:${server.port} wants other credentials (NATS_URL)\n`,
  );
  t.notMatch(out.join('\n'), 'ss-xxx');
});

t.test('START-20 a signal during the start', async (t) => {
  const dataDir = await dataDirectory(t);
  const service = run(t, ['src/main.ts'], await separateEnvironment(dataDir));
  await service.line((line) => line.includes('"server runs"'));
  service.child.kill('SIGINT');
  await service.line((line) => line.includes('stopping as soon as what was begun is up'));
  const { code, out, err } = await service.ended();
  t.match({ code, err }, { code: 0, err: '' });
  t.match(JSON.parse(out.at(-1)!), { msg: 'stopped' });
  t.notMatch(out.join('\n'), 'Server listening', 'the rest is not started');
  t.equal(ownServerPort(dataDir, 'nats'), undefined);
  t.equal(ownServerPort(dataDir, 'irc'), undefined);
});

t.test('the life of the service', async (t) => {
  const dataDir = await dataDirectory(t);
  const env = await separateEnvironment(dataDir);
  const crash = 'data:text/javascript,process.once("SIGUSR2",()=>{throw new Error("boom")})';

  const first = run(t, ['--import', crash, 'src/main.ts'], { ...env, EM_WEBHOK_SECRET: 'x' });
  const line = JSON.parse(await first.line(runs));
  t.ok(
    first.out.some((said) =>
      said.includes('EM_WEBHOK_SECRET is not a setting: did you mean EM_WEBHOOK_SECRET?'),
    ),
    'START-04',
  );
  t.match(line, {
    api: `http://127.0.0.1:${env.PORT}`,
    irc: `irc://127.0.0.1:${env.IRC_EMBEDDED_PORT}`,
    nats: /^nats:\/\/127\.0\.0\.1:\d+$/,
    data: dataDir,
    try: `DATA_DIR=${dataDir} bin/relay emit task.published --url http://127.0.0.1:${env.PORT}`,
  });
  t.match(await relay(['emit', 'task.expired', '--id', 'first'], { env }), {
    code: 0,
    out: /^accepted {2}first\n {2}#bounties\n/,
  });

  await t.test('START-08 what is not up yet is no warning, and what is expected has no stack', async (t) => {
    await first.line((said) => said.includes('"channels reconciled"'), 30_000);
    await first.line((said) => said.includes('"moderation_v'), 30_000);
    const warnings = first.out.map((said) => JSON.parse(said)).filter(({ level }) => level >= 40);
    t.same(
      warnings.map(({ msg, err }) => [msg, err?.message]).filter(([, problem]) => problem !== undefined),
      [],
    );
    t.same(errorView(new Unavailable({ code: 'x_building', status: 503 }, 'It is being built', 1)), {
      type: 'Unavailable',
      code: 'x_building',
      message: 'It is being built',
    });
    t.match(errorView(new TypeError('a bug')), { type: 'TypeError', message: 'a bug', stack: /start\.test/ });
  });

  await t.test('START-12 what was generated is neither shown nor on a command line', async (t) => {
    const password = (await readFile(join(dataDir, 'nats', 'password'), 'utf8')).trim();
    const stored = Object.values(await storedSecrets(dataDir)).filter((secret) => secret.length > 20);
    t.equal(stored.length, 5);
    const api = `http://127.0.0.1:${env.PORT}`;
    const paths = ['/ops/service', '/ops/streams', '/metrics', '/health', '/ready', '/bridge/health'];
    const answers = await Promise.all(paths.map(async (path) => (await fetch(`${api}${path}`)).text()));
    t.match(answers[0], /"nats":"nats:\/\/127\.0\.0\.1:\d+"/);
    const shown = [...answers, ...first.out, ...commandLines()].join('\n');
    for (const secret of [password, ...stored]) t.notMatch(shown, secret);
    t.match(await relay(['streams'], { env }), { code: 0, out: /^MARKET /m }, 'commands know it');
  });

  await t.test('a second one on the same data directory', async (t) => {
    const { code, err } = await run(t, ['src/main.ts'], env).ended();
    t.equal(code, 1);
    t.equal(err.trim().split('\n').length, 1, err);
    t.match(err, `relay: the data directory ${dataDir} is in use by process ${first.child.pid}: `);
  });

  await t.test('START-05 a second one on the same port', async (t) => {
    const otherDir = await dataDirectory(t);
    const elsewhere = { ...(await separateEnvironment(otherDir)), PORT: env.PORT! };
    const { code, err } = await run(t, ['src/main.ts'], elsewhere).ended();
    t.equal(code, 1);
    t.match(
      err,
      new RegExp(`^relay: port ${env.PORT} of 127\\.0\\.0\\.1 is in use by another program: .*$`, 'm'),
    );
    t.notMatch(err, /\n\s+at /, 'without a stack');
    t.same(await readdir(otherDir), [], 'it has not begun anything');
  });

  await t.test('a bug ends it with a line in the log and exit code 1', async (t) => {
    first.child.kill('SIGUSR2');
    const { code, out } = await first.ended();
    t.equal(code, 1);
    t.match(JSON.parse(out.at(-1)!), { level: 60, err: { message: 'boom', stack: String } });
    t.type(ownServerPort(dataDir, 'nats'), 'number', 'its servers wait to be adopted');
  });

  await t.test('the next one goes on, and SIGTERM stops all of it in order', async (t) => {
    const next = run(t, ['src/cli.ts', 'start'], env);
    await next.line(runs);
    t.match(await relay(['emit', 'task.expired', '--id', 'first'], { env }), {
      code: 0,
      out: /^already_processed {2}first/,
    });
    next.child.kill('SIGTERM');
    const { code, signal, out } = await next.ended();
    t.same({ code, signal }, { code: 0, signal: null });
    t.match(JSON.parse(out.at(-1)!), { msg: 'stopped' });
    t.equal(ownServerPort(dataDir, 'nats'), undefined);
    t.equal(ownServerPort(dataDir, 'irc'), undefined);
  });
});

t.test('signals', async (t) => {
  const program = `
    import { runProcess } from './${programFile('src/cli/core/process.ts')}';
    await runProcess(async (terminal, stop) => {
      stop.addEventListener('abort', () => terminal.out('asked to stop'));
      setInterval(() => {}, 1000);
      terminal.out('ready');
      await new Promise(() => {});
    });`;
  const slow = run(t, ['--input-type=module', '--eval', program]);
  await slow.line((line) => line === 'ready');
  slow.child.kill('SIGINT');
  await slow.line((line) => line === 'asked to stop');
  slow.child.kill('SIGINT'); // npm passes on what the terminal has sent already
  await delay(700);
  t.equal(slow.child.exitCode, null, 'one key press is one request');
  slow.child.kill('SIGINT');
  t.match(await slow.ended(), { code: 130, out: ['ready', 'asked to stop'] });
});

t.test('START-17 a reader that has seen enough is no error', async (t) => {
  const program = run(t, ['src/cli.ts', 'help']);
  program.child.stdout!.destroy();
  t.match(await program.ended(), { code: 0, err: '' });
});

const noDevice = { skip: existsSync('/dev/full') ? false : 'needs /dev/full' };

t.test('START-17 an output that is lost', noDevice, async (t) => {
  const toFull = (...args: string[]) => {
    const full = openSync('/dev/full', 'w');
    const stdio: StdioOptions = ['ignore', full, 'pipe'];
    const { status, stderr } = spawnSync(process.execPath, nodeArgs(...args), { stdio, encoding: 'utf8' });
    closeSync(full);
    return { status, stderr };
  };
  const told =
    /^relay: the output could not be written, and is not whole: .*ENOSPC.* run the command again\.\n$/;
  t.match(toFull('src/cli.ts', 'help'), { status: 1, stderr: told });
  const { status, stderr } = toFull('src/cli.ts', 'help', '--json');
  t.match({ status, ...JSON.parse(stderr) }, { status: 1, code: 'output_lost', hint: String });
  t.match(toFull('src/cli.ts', 'nothing'), { status: 2, stderr: /there is no command "nothing"/ });

  // one that takes the end of its output for a reader that has seen enough, and one that has ended before
  const body = (lines: string) => `
    import { runProcess } from './${programFile('src/cli/core/process.ts')}';
    await runProcess(async (terminal, stop) => { ${lines} return 0; });`;
  const stopped = "terminal.out('one'); await new Promise((seen) => stop.addEventListener('abort', seen));";
  for (const lines of [stopped, "setTimeout(() => terminal.out('late'), 50);"])
    t.match(toFull('--input-type=module', '--eval', body(lines)), { status: 1, stderr: told }, lines);
});
