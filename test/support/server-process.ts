import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hangMs } from './eventually.js';

/** What the servers for tests have in common; `start` after `kill` uses the same port and folder. */
export interface ServerProcess {
  readonly port: number;
  readonly dir: string;
  /** The pid of the present run. */
  readonly pid: number;
  /** Ends it (SIGKILL by default) and waits until it is gone; the folder stays. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Freezes it: the sockets stay open and nothing answers. */
  pause(): void;
  resume(): void;
  /** Starts it again and waits until it answers. */
  start(): Promise<void>;
  /** Ends it and removes the folder. The test's teardown does this anyway. */
  stop(): Promise<void>;
}

/** The part of tap's test object that is used here; benchmarks have only the first. */
export interface Teardown {
  teardown(fn: () => unknown): void;
  passing?(): boolean;
  comment?(...args: unknown[]): void;
}

/**
 * A killed test process runs no teardown. Its end ends the input of a shell, which then ends the servers that are
 * left. There is one for all of them: each start of a program stops a large process for some 15 ms.
 */
const watch = `servers=
while read -r did pid; do
  others=
  for one in $servers; do [ "$one" = "$pid" ] || others="$others $one"; done
  servers=$others
  [ "$did" = started ] && servers="$servers $pid"
done
[ -z "$servers" ] || kill -KILL $servers`;
let watcher: Socket | undefined;

/** Ends a server with this process, however that ends. */
export function endWithThisProcess(server: ChildProcess): void {
  if (server.pid === undefined) return; // it did not start
  watcher ??= startWatcher();
  const tell = (did: 'started' | 'ended') => watcher?.write(`${did} ${server.pid}\n`);
  tell('started');
  server.once('exit', () => tell('ended'));
}

function startWatcher(): Socket {
  const shell = spawn('sh', ['-c', watch], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.unref();
  const input = shell.stdin as Socket;
  input.unref();
  return input;
}

/**
 * A stop reaches a busy process thread by thread. Until the last thread has stopped, the process may still
 * answer.
 */
function waitUntilStopped(pid: number | undefined): void {
  const tasks = `/proc/${pid}/task`;
  const isStopped = (task: string) =>
    / [tT] /.test(readFileSync(`${tasks}/${task}/stat`, 'utf8').split(')').at(-1)!);
  for (const deadline = Date.now() + hangMs; Date.now() < deadline; ) {
    if (!existsSync(tasks) || readdirSync(tasks).every(isStopped)) return;
  }
}

/** Runs a real server in its own folder for as long as the test lasts. */
export async function startServerProcess(
  t: Teardown,
  spec: {
    name: string;
    command: string;
    choosePort(): Promise<number>;
    args(dir: string, port: number): string[];
    answers(port: number): Promise<boolean>;
    /** More variables of its environment. */
    env?: Record<string, string>;
    failure?: RegExp;
  },
): Promise<ServerProcess> {
  const dir = await mkdtemp(join(tmpdir(), `relay-${spec.name}-`));
  const logFile = join(dir, `${spec.name}.out`);
  let port = await spec.choosePort();
  let child: ChildProcess | undefined;

  async function start() {
    if (child) throw new Error(`${spec.name} runs already`);
    const descriptor = openSync(logFile, 'w');
    const run = spawn(spec.command, spec.args(dir, port), {
      cwd: dir,
      env: { ...process.env, ...spec.env },
      stdio: ['ignore', descriptor, descriptor],
    });
    closeSync(descriptor);
    child = run;
    endWithThisProcess(run);
    run.once('exit', () => {
      if (child === run) child = undefined;
    });
    const deadline = Date.now() + hangMs;
    while (!(await spec.answers(port)) || spec.failure?.test(readFileSync(logFile, 'utf8'))) {
      const output = readFileSync(logFile, 'utf8');
      if (child !== run || spec.failure?.test(output) || Date.now() > deadline) {
        await kill();
        throw new Error(`${spec.name} did not start on port ${port}:\n${output}`);
      }
      await sleep(5);
    }
  }

  async function kill(signal: NodeJS.Signals = 'SIGKILL') {
    const run = child;
    if (!run) return;
    const gone = new Promise((resolve) => run.once('exit', resolve));
    run.kill(signal);
    if (signal !== 'SIGKILL') setTimeout(() => run.kill('SIGKILL'), hangMs).unref();
    await gone;
  }

  async function stop() {
    await kill();
    await rm(dir, { recursive: true, force: true });
  }

  t.teardown(stop);
  // Another test may have taken the port since it was found free.
  await start().catch(async () => {
    port = await spec.choosePort();
    await start();
  });
  return {
    get port() {
      return port;
    },
    dir,
    get pid() {
      if (child?.pid === undefined) throw new Error(`${spec.name} does not run`);
      return child.pid;
    },
    kill,
    pause: () => {
      child?.kill('SIGSTOP');
      waitUntilStopped(child?.pid);
    },
    resume: () => void child?.kill('SIGCONT'),
    start,
    stop,
  };
}
