import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { freePort } from '../support/ports.js';
import { nodeArgs } from '../support/programs.js';

/** How a process ended, and what it has printed. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string[];
  err: string;
}

/** A program of this repository in a process of its own. */
export interface Program {
  child: ChildProcess;
  out: string[];
  /** The first line that satisfies, printed before or within `ms`; rejects when the program ends without it. */
  line(satisfies: (line: string) => boolean, ms?: number): Promise<string>;
  /** How it ended, within `ms`. */
  ended(ms?: number): Promise<Ended>;
}

/** Runs node with arguments and an environment that has of the caller's only where to find programs and to put files; killed at the end of the test. */
export function run(
  t: { teardown(fn: () => unknown): void },
  args: string[],
  env: Record<string, string> = {},
): Program {
  const child = spawn(process.execPath, nodeArgs(...args), {
    env: { PATH: process.env.PATH, TMPDIR: tmpdir(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out: string[] = [];
  const checks = new Set<() => void>();
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    out.push(line);
    for (const check of [...checks]) check();
  });
  let end: Ended | undefined;
  child.once('close', (code, signal) => {
    end = { code, signal, out, err };
    for (const check of [...checks]) check();
  });
  t.teardown(() => child.kill('SIGKILL'));

  function until<T>(what: string, ms: number, look: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (value: T | undefined, reason?: string) => {
        if (value === undefined && reason === undefined) return;
        clearTimeout(timer);
        checks.delete(check);
        if (value !== undefined) resolve(value);
        else reject(new Error(`${args.join(' ')}: ${reason}\n${out.join('\n')}\n${err}`));
      };
      const check = () => {
        const value = look();
        settle(value, value === undefined && end ? `ended without ${what}` : undefined);
      };
      const timer = setTimeout(() => settle(undefined, `waited ${ms} ms for ${what}`), ms);
      checks.add(check);
      check();
    });
  }

  return {
    child,
    out,
    line: (satisfies, ms = 120_000) => until(`a line for ${satisfies}`, ms, () => out.find(satisfies)),
    ended: (ms = 120_000) => until('its end', ms, () => end),
  };
}

/** An environment of a service that shares nothing with others on this machine. */
export async function separateEnvironment(dataDir: string): Promise<Record<string, string>> {
  return {
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
    IRC_EMBEDDED_PORT: String(await freePort()),
    NICK_REGISTER_AFTER_SECONDS: '0',
  };
}
