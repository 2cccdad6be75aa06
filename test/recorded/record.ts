import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import { IrcViewer } from '../../src/cli/demo/irc-viewer.js';
import { openDemoPayments } from '../../src/cli/demo/payments-setup.js';
import { ownLogUrl } from '../../src/cli/service/own-servers.js';
import { nickServiceNick } from '../../src/servers/anope-config.js';
import { untilKept } from '../channels/stage.js';
import { modelsFile } from '../deliberation/stage.js';
import { postEvent, sampleEvent } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startIrcd } from '../support/ircd.js';
import { startMarketplace } from '../support/marketplace.js';
import { startProvider } from '../support/model-provider.js';
import { freePort } from '../support/ports.js';
import { startNetwork } from '../verification/oembed.js';
import { answersTo, filesIn, reading } from './answers.js';
import { deadLetters, history, paths } from './history.js';

/** How long an event of the recording may wait for the network, in milliseconds. */
const shortLifeMs = 15_000;
const run = promisify(execFile);

/** A built service of another checkout, on one data folder. */
class Recorded {
  readonly #dist: string;
  readonly #environment: Record<string, string>;
  #child: ChildProcess | undefined;

  constructor(checkout: string, environment: Record<string, string>) {
    this.#dist = join(checkout, 'dist', 'src');
    this.#environment = { PATH: process.env.PATH ?? '', ...environment };
  }

  /** Starts it with more settings, and waits until it is ready. Answers its address. */
  async start(settings: Record<string, string>): Promise<string> {
    const PORT = String(await freePort());
    const env: Record<string, string> = { ...this.#environment, ...settings, PORT };
    const child = spawn(process.execPath, [join(this.#dist, 'main.js')], {
      env,
      stdio: ['ignore', 'pipe', 2],
    });
    child.stdout!.pipe(createWriteStream(`${env.DATA_DIR}.log`, { flags: 'a' }));
    this.#child = child;
    const url = `http://127.0.0.1:${PORT}`;
    await eventually('the service', async () => (await fetch(`${url}/ready`)).ok);
    return url;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  /** Runs its command line. */
  async relay(args: string[], settings: Record<string, string> = {}): Promise<void> {
    await run(process.execPath, [join(this.#dist, 'cli.js'), ...args], {
      env: { ...this.#environment, ...settings },
    });
  }
}

const [checkout, folder] = process.argv.slice(2);
if (!checkout || !folder) throw new Error('usage: tsx test/recorded/record.ts <built checkout> <folder>');
const endings: (() => unknown)[] = [];
const t = { teardown: (ending: () => unknown) => void endings.unshift(ending) };
const dir = await mkdtemp(join(tmpdir(), 'relay-recording-'));
t.teardown(() => rm(dir, { recursive: true, force: true }));

try {
  const dataDir = join(dir, 'data');
  const service = new Recorded(resolve(checkout), {
    DATA_DIR: dataDir,
    EM_WEBHOOK_SECRET: reading.EM_WEBHOOK_SECRET,
    STREAMS_MAX_BYTES: reading.STREAMS_MAX_BYTES,
    LOG_LEVEL: 'warn',
  });
  t.teardown(() => service.stop());
  await mkdir(dataDir);

  // an event that nobody comes to show in time
  await postEvent(await service.start({ ...reading }), sampleEvent('evt-late'));
  await service.stop();
  await delay(shortLifeMs);

  // a bot without an operator's rights, who is kept out
  const ircd = await startIrcd(t);
  const url = await service.start({
    IRC_URL: ircd.url,
    IRC_SERVER_PASSWORD: ircd.serverPassword,
    EVENT_RETRY_MS: '50',
    EVENT_TTL_MS: String(shortLifeMs),
  });
  await deadLetters(url, ircd);
  await service.stop();

  // the whole, with servers of its own
  const [marketplace, network, provider] = await Promise.all([
    startMarketplace(t),
    startNetwork(t),
    startProvider(t),
  ]);
  const payments = await openDemoPayments(dir);
  if ('why' in payments) console.warn(`without payments: ${payments.why}`);
  else t.teardown(payments.close);
  const ircPort = String(await freePort());
  const irc = `irc://127.0.0.1:${ircPort}`;
  const own = await service.start({
    IRC_EMBEDDED_PORT: ircPort,
    MODELS: await modelsFile(t, provider.url),
    EM_URL: marketplace.url,
    SOCIAL_OEMBED_URL: network.url,
    CERT_HOSTS: reading.CERT_HOSTS,
    EM_IDENTITY_WEBHOOK_URL: marketplace.url,
    EM_IDENTITY_WEBHOOK_SECRET: 'c0ffee'.repeat(10),
    ...('why' in payments ? {} : payments.settings),
  });
  await untilKept(own);
  const viewer = await IrcViewer.connect(irc, 'waits', () => {});
  await eventually('the nick service', () => viewer.isThere(nickServiceNick)).catch(console.warn);
  viewer.close();
  await service.relay(['demo', '--yes'], { PORT: new URL(own).port });
  const natsUrl = ownLogUrl(dataDir)!;
  const told = await history(own, {
    irc,
    natsUrl,
    network,
    payments: 'why' in payments ? undefined : payments,
  });
  await delay(2_000); // what follows from it by itself
  await service.stop();

  const files = filesIn(folder);
  await mkdir(folder, { recursive: true });
  const answers = await answersTo(await service.start({ ...reading }), [...paths, ...told]);
  await service.stop();
  await writeFile(files.answers, `${JSON.stringify(answers, null, 2)}\n`);
  await service.relay(['export', '--out', join(dir, 'export.jsonl')]);
  const options = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0'];
  // the rest belongs to the servers, which write it again
  await run('tar', [
    '-C',
    dataDir,
    ...options,
    '-cf',
    join(dir, 'data.tar'),
    'nats/store',
    'pg',
    'secrets.json',
  ]);
  for (const [from, to] of [
    ['export.jsonl', files.log],
    ['data.tar', files.data],
  ] as const) {
    const { BROTLI_PARAM_LARGE_WINDOW, BROTLI_PARAM_LGWIN, BROTLI_PARAM_QUALITY } = constants;
    const params = { [BROTLI_PARAM_LARGE_WINDOW]: 1, [BROTLI_PARAM_LGWIN]: 28, [BROTLI_PARAM_QUALITY]: 10 };
    const packed = brotliCompressSync(await readFile(join(dir, from)), { params });
    await writeFile(to, packed);
    console.log(`${to}: ${packed.length} bytes`);
  }
} finally {
  for (const ending of endings) await ending();
}
