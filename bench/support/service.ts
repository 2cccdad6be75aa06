import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../src/servers/net.js';
import type { Bench } from './bench.js';
import { webhookSecret } from './events.js';
import { type Ircd, temporaryFolder } from './servers.js';
import { eventually } from './wait.js';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };

/** A start takes a second or two, and longer on a machine that is busy. */
const startBoundMs = 60_000;

/** What `npm start` gives to node. */
export const startArgs: readonly string[] = scripts.start.replace(/^exec node /, '').split(' ');

/** The built service, in a process of its own. */
export interface Service {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the built service on the given servers and waits until it is ready. Without `ircd` it finds no network. */
export async function startService(
  t: Bench,
  { nats, ircd }: { nats: { url: string }; ircd?: Ircd },
  environment: Record<string, string> = {},
): Promise<Service> {
  const dir = await temporaryFolder(t);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = join(dir, 'service.log');
  const output = openSync(logFile, 'a');
  const child = spawn(process.execPath, startArgs, {
    env: {
      PATH: process.env.PATH,
      DATA_DIR: join(dir, 'data'),
      PORT: String(port),
      LOG_LEVEL: 'info',
      EM_WEBHOOK_SECRET: webhookSecret,
      STREAMS_MAX_BYTES: '500000000',
      NATS_URL: nats.url,
      ...(ircd ? settingsFor(ircd) : { IRC_URL: 'irc://127.0.0.1:1' }),
      ...environment,
    },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const stop = () => end(child);
  t.teardown(stop);
  await eventually(
    `the service to be ready (${logFile})`,
    async () => {
      if (child.exitCode !== null) throw new Error(readFileSync(logFile, 'utf8').slice(-2_000));
      return (await fetch(`${url}/ready`)).ok;
    },
    startBoundMs,
  );
  return { url, pid: child.pid!, stop };
}

/** Resident memory of a process in MB: now, or the most that it ever had. */
export function residentMb(pid: number, what: 'now' | 'most' = 'now'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = what === 'now' ? 'VmRSS' : 'VmHWM';
  return (Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1_024) / 1e6;
}

/** Settings of a service that is to use an IRC server. */
export const settingsFor = (ircd: Ircd): Record<string, string> => ({
  IRC_URL: ircd.url,
  IRC_OPER_NAME: ircd.operName,
  IRC_OPER_PASSWORD: ircd.operPassword,
  IRC_SERVER_PASSWORD: ircd.serverPassword,
  IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
});

/** A floor of `bench/floors` that serves HTTP in a process of its own. */
export interface Floor {
  readonly url: string;
  readonly pid: number;
}

/** Starts a floor with its arguments. `bodies` are sent to it first, where it answers what it is given. */
export async function startFloor(
  t: Bench,
  name: string,
  { args = [], bodies }: { args?: string[]; bodies?: string[] } = {},
): Promise<Floor> {
  const child = fork(`bench/floors/${name}.ts`, args, { execArgv: ['--import', 'tsx'] });
  t.teardown(() => end(child));
  if (bodies) {
    await once(child, 'message');
    child.send(bodies);
  }
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return { url, pid: child.pid! };
}

/** Ends a process with SIGTERM and waits until it is gone. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}
