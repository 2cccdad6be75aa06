import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findInspircd, findNatsServer } from '../src/servers/binaries.js';
import { freePort } from '../src/servers/net.js';
import type { Bench, Row } from './support/bench.js';
import { median, milliseconds } from './support/figures.js';
import { temporaryFolder } from './support/servers.js';
import { startArgs } from './support/service.js';
import { eventually } from './support/wait.js';

const startBoundMs = 60_000;

/** From the command to readiness, where everything is set up and the data folder has been used before, against its servers alone. */
export async function start(t: Bench): Promise<Row[]> {
  const dir = join(await temporaryFolder(t), 'data');
  const [port, ircPort, natsPort] = [await freePort(), await freePort(), await freePort()];
  const environment = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    DATA_DIR: dir,
    PORT: String(port),
    IRC_EMBEDDED_PORT: String(ircPort),
    LOG_LEVEL: 'warn',
  };
  const parts = {
    dir,
    natsServer: findNatsServer().path,
    natsPort,
    inspircd: findInspircd().path,
    ircPort,
  };
  t.progress('setting up');
  execFileSync('npm', ['run', 'setup'], { stdio: 'ignore' }); // or the first start would build what has changed
  const byNpm = () => startAndStop('npm', ['start'], environment, port);
  const byNode = () => startAndStop(process.execPath, [...startArgs], environment, port);
  const figures = { npm: [] as number[], node: [] as number[], floor: [] as number[] };
  const rounds = t.size(5, 2);
  for (let round = 0; round <= rounds; round++) {
    t.progress(round === 0 ? 'the first start' : `round ${round} of ${rounds}`);
    const [npm, node, floor] = [await byNpm(), await byNode(), await startParts(t, parts)];
    if (round === 0) continue;
    figures.npm.push(npm);
    figures.node.push(node);
    figures.floor.push(floor);
  }
  const against = `its servers, its database and an empty HTTP server started by hand, all at once: ${milliseconds(median(figures.floor))}`;
  const row = (measured: string, ours: number[], goal: string): Row => ({
    measured,
    ours: milliseconds(median(ours)),
    against,
    ratio: median(ours.map((ms, round) => ms / figures.floor[round]!)),
    goal,
  });
  return [
    row('from `npm start` to ready, set up before', figures.npm, '≤ 1.5'),
    row('the same without npm', figures.node, ''),
  ];
}

/** Starts the service, and stops it when it is ready; resolves with the milliseconds between command and readiness. */
async function startAndStop(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  port: number,
): Promise<number> {
  const startedAt = performance.now();
  // a group of its own, so that the end reaches what npm started and not only npm
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`it ended with ${code}`);
  });
  ended.catch(() => {}); // it ends in any case
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/ready`)).ok;
  try {
    await Promise.race([eventually('it to be ready', isReady, startBoundMs), ended]);
    return performance.now() - startedAt;
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')}: ${(error as Error).message}\n${output.slice(-2_000)}`);
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      process.kill(-child.pid!, 'SIGTERM');
      await ended;
    }
    await groupEnded(child.pid!);
  }
}

async function groupEnded(pid: number): Promise<void> {
  await eventually(`process group ${pid} to end`, () => {
    try {
      process.kill(-pid, 0);
      return false;
    } catch {
      return true;
    }
  });
}

async function startParts(t: Bench, parts: object): Promise<number> {
  const startedAt = performance.now();
  const child: ChildProcess = fork('bench/floors/start.mjs', [JSON.stringify(parts)]);
  t.teardown(() => void child.kill());
  await once(child, 'message', { signal: AbortSignal.timeout(startBoundMs) });
  const ms = performance.now() - startedAt;
  const ended = once(child, 'exit');
  child.send('end');
  await ended;
  return ms;
}
