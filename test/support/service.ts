import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveReadStore, webhookSecret } from './app.js';
import { eventually } from './eventually.js';
import type { TestIrcd } from './ircd.js';
import type { TestNats } from './nats.js';
import { freePort } from './ports.js';
import { endWithThisProcess, type Teardown } from './server-process.js';
import { startArgs } from './start-command.js';

/** So much of the log is shown of a test that failed, in characters. */
const logShown = 20_000;

// how this process has code compiled, which changes what a start costs and nothing else
const engineOptions = process.execArgv.filter((option) => /^--(wasm|liftoff|interrupt)/.test(option));

/** The service as operators run it: its own process, from the build, to be killed and started again. */
export interface TestService {
  readonly url: string;
  readonly dir: string;
  readonly pid: number;
  start(): Promise<void>;
  kill(signal?: NodeJS.Signals): Promise<number | null>;
  /** What it logged so far. */
  log(): string;
}

/** Starts the built service against given servers, or its own embedded ones where none are given. */
export async function startService(
  t: Teardown,
  servers: { nats?: Pick<TestNats, 'url'>; ircd?: TestIrcd; ircUrl?: string },
  environment: Record<string, string> = {},
): Promise<TestService> {
  const dir = await mkdtemp(join(tmpdir(), 'relay-service-'));
  const port = await freePort();
  const logFile = join(dir, 'service.log');
  const { nats, ircd, ircUrl = ircd?.url } = servers;
  let child: ChildProcess | undefined;
  giveReadStore(join(dir, 'data'), environment);

  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    DATA_DIR: join(dir, 'data'),
    PORT: String(port),
    LOG_LEVEL: 'debug',
    EM_WEBHOOK_SECRET: webhookSecret,
    STREAMS_MAX_BYTES: '500000000',
    RULES_FILE: 'none',
    ...(nats ? { NATS_URL: nats.url } : {}),
    ...(ircUrl
      ? { IRC_URL: ircUrl }
      : { IRC_EMBEDDED_PORT: String(await freePort()), NICK_REGISTER_AFTER_SECONDS: '0' }),
    ...(ircd
      ? {
          IRC_OPER_NAME: ircd.operName,
          IRC_OPER_PASSWORD: ircd.operPassword,
          IRC_SERVER_PASSWORD: ircd.serverPassword,
        }
      : {}),
    ...environment,
  };

  const service: TestService = {
    url: `http://127.0.0.1:${port}`,
    dir,
    get pid() {
      return child?.pid ?? 0;
    },
    async start() {
      child = spawn(process.execPath, [...engineOptions, ...startArgs], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      endWithThisProcess(child);
      const log = createWriteStream(logFile, { flags: 'a' });
      child.stdout?.pipe(log, { end: false });
      child.stderr?.pipe(log, { end: false });
      const started = child;
      await eventually('the service to be ready', async () => {
        if (started.exitCode !== null)
          throw new Error(`it ended with ${started.exitCode}: ${service.log().slice(-2_000)}`);
        return (await fetch(`${service.url}/ready`)).ok;
      });
    },
    async kill(signal = 'SIGKILL') {
      if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
      return child.exitCode;
    },
    log: () => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : ''),
  };

  t.teardown(async () => {
    if (t.passing?.() === false) t.comment?.(service.log().slice(-logShown));
    // embedded servers outlive a killed service: one that starts again adopts them and takes them along
    const orphans = (!nats || !ircUrl) && child?.exitCode === null && child.signalCode !== null;
    if (orphans) await service.start();
    await service.kill('SIGTERM');
    await rm(dir, { recursive: true, force: true });
  });
  await service.start();
  return service;
}
