import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { nodeArgs } from '../support/programs.js';

/** Another process that runs `hold.ts`, and what it has said: the server's pid and port. */
export interface Holder {
  child: ChildProcess;
  pid: number;
  port: number;
  /** Kills it the way a crash does and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts a process that holds what it is told to and waits until it does. */
export async function startHolder(t: { teardown(fn: () => unknown): void }, what: string, dataDir: string) {
  const child = spawn(process.execPath, nodeArgs('test/servers/hold.ts', what, dataDir), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, TMPDIR: tmpdir() },
  });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  t.teardown(kill);
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, kill, ...JSON.parse(line) } as Holder;
  }
  throw new Error(`the holder of ${what} ended before it held anything`);
}
