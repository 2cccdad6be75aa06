import { spawn } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { backoff } from '../../streams/core/index.js';
import { freePort, isFree } from './net.js';
import { writePrivateFile } from './private-file.js';
import { endProcess, findRun, identify, isAlive, type ProcessIdentity } from './process.js';

/** How one kind of server is run. */
export interface ChildSpec {
  name: string;
  /** Holds `<name>.json` (the record) and `<name>.log` (its output); created if missing. */
  dir: string;
  /** Files there that it appends to by itself. */
  logs?: readonly string[];
  host: string;
  /** 0: any free port. That of the record is kept, so that clients find the server again. */
  port: number;
  /** The port belongs to another server, to which this one connects. */
  connects?: boolean;
  command: string;
  args(port: number): string[];
  /** The one argument in `args` that no other instance has. */
  ownArgument: string;
  /** Changes when a running server must be restarted, for example with its configuration. */
  fingerprint: string;
  answers(port: number): Promise<boolean>;
  /** Whether its output means that the start has failed although the process lives. */
  failed?(output: string, port: number): boolean;
  /** Called for each run that answers, with its output so far. */
  started?(output: string, run: ProcessIdentity): void;
  startTimeoutMs: number;
  stopGraceMs: number;
  /** Ends a first start that is under way: it rejects then. */
  signal?: AbortSignal;
  log: Logger;
}

/** A server that runs next to this process and outlives it unless it is stopped. */
export interface SupervisedChild {
  readonly port: number;
  /** The pid of the present run; changes with every restart. */
  readonly pid: number;
  /** Whether the run of an earlier process was taken over. */
  readonly adopted: boolean;
  /** Called when the server has died and answers again. */
  onRestarted(callback: (pid: number) => void): void;
  /** Ends the server and its supervision. Returns when the process is gone. */
  stop(): Promise<void>;
}

interface ChildRecord extends ProcessIdentity {
  port: number;
  fingerprint: string;
}

/** How long to wait after failures in a row. */
export const restarts = { first: 100, longest: 10_000 };
/** A server that lived this long has not failed to start: it is restarted at once. In milliseconds. */
const steadyAfterMs = 5_000;
const largestLog = 1_000_000;
const trimEveryMs = 60_000;

/**
 * Starts a server, or adopts the one that an earlier process left running, and restarts it when it dies.
 * Rejects when the first start fails, with the end of the server's output.
 */
export async function superviseChild(spec: ChildSpec): Promise<SupervisedChild> {
  mkdirSync(spec.dir, { recursive: true, mode: 0o700 });
  const callbacks: ((pid: number) => void)[] = [];
  const stopped = new AbortController();
  spec.signal?.addEventListener('abort', () => stopped.abort(), { once: true });
  const found = await takeOver(spec);
  let run = found.adopted ?? (await start(spec, await choosePort(spec, found.port), stopped.signal));
  spec.log.info(
    { server: spec.name, serverPid: run.pid, port: run.port, adopted: run === found.adopted },
    'server runs',
  );

  const trimming = setInterval(() => trimLogs(spec), trimEveryMs).unref();
  const supervision = (async () => {
    let failures = 0;
    let startedAt = Date.now();
    while (await diedBefore(stopped.signal, run)) {
      if (Date.now() - startedAt > steadyAfterMs) failures = 0;
      failures += 1;
      const backoffMs = backoff(failures, restarts);
      spec.log.warn(
        { server: spec.name, serverPid: run.pid, failures, backoffMs },
        'server has ended, restarting it',
      );
      try {
        await sleep(backoffMs, undefined, { signal: stopped.signal });
        run = await start(spec, run.port, stopped.signal);
      } catch (error) {
        if (!stopped.signal.aborted)
          spec.log.error({ server: spec.name, err: error }, 'server did not restart');
        startedAt = Date.now();
        continue;
      }
      startedAt = Date.now();
      spec.log.info({ server: spec.name, serverPid: run.pid, port: run.port }, 'server restarted');
      for (const callback of callbacks) callback(run.pid);
    }
  })();

  return {
    port: run.port,
    get pid() {
      return run.pid;
    },
    adopted: found.adopted !== undefined,
    onRestarted: (callback) => void callbacks.push(callback),
    async stop() {
      stopped.abort();
      clearInterval(trimming);
      await supervision;
      const how = await endProcess(run, spec.stopGraceMs);
      rmSync(recordFile(spec.dir, spec.name), { force: true });
      spec.log.info({ server: spec.name, serverPid: run.pid, how }, 'server stopped');
    },
  };
}

/** The recorded run if it can be kept. Otherwise it is ended, because two on one directory destroy it. */
async function takeOver(spec: ChildSpec): Promise<{ adopted?: ChildRecord; port?: number }> {
  const record = readRecord(spec.dir, spec.name);
  const old = record && isAlive(record) ? record : findRun(spec.command, spec.ownArgument);
  if (old === undefined) return { ...(record && { port: record.port }) };
  if (
    old === record &&
    record.fingerprint === spec.fingerprint &&
    (!spec.port || spec.port === record.port)
  ) {
    if ((await spec.answers(record.port)) || (await spec.answers(record.port))) return { adopted: record };
  }
  spec.log.warn(
    { server: spec.name, serverPid: old.pid },
    'a server left from before cannot be kept, ending it',
  );
  await endProcess(old, spec.stopGraceMs);
  return { ...(record && { port: record.port }) };
}

async function start(spec: ChildSpec, port: number, stopped: AbortSignal): Promise<ChildRecord> {
  if (!spec.connects && !(await isFree(port, spec.host)))
    throw new Error(`${spec.name} cannot start: port ${port} of ${spec.host} is in use by another program`);
  const { file, from, descriptor } = openLog(spec);
  const child = spawn(spec.command, spec.args(port), {
    cwd: spec.dir,
    detached: true,
    stdio: ['ignore', descriptor, descriptor],
  });
  closeSync(descriptor);
  child.unref();
  const spawnError = new Promise<never>((_, reject) => child.once('error', reject));
  spawnError.catch(() => {});
  const identity = child.pid === undefined ? await spawnError : identify(child.pid);
  const output = () => readFileSync(file, 'utf8').slice(from);
  if (identity === undefined) throw new Error(`${spec.name} ended while starting: ${lastLines(output())}`);
  const record = { ...identity, port, fingerprint: spec.fingerprint };
  try {
    writeRecord(spec, record);
  } catch (error) {
    await endProcess(record, spec.stopGraceMs); // nobody would find it again
    throw error;
  }

  const deadline = Date.now() + spec.startTimeoutMs;
  for (;;) {
    const answered = await spec.answers(port);
    if (!isAlive(record)) throw new Error(`${spec.name} ended while starting: ${lastLines(output())}`);
    const failed = spec.failed?.(output(), port);
    if (answered && !failed) {
      spec.started?.(output(), record);
      return record;
    }
    if (failed || stopped.aborted || Date.now() > deadline) {
      await endProcess(record, spec.stopGraceMs);
      const what = failed ? `cannot have port ${port}` : `did not answer on port ${port}`;
      throw new Error(`${spec.name} ${what}: ${lastLines(output())}`);
    }
    await sleep(10);
  }
}

async function choosePort(spec: ChildSpec, recorded: number | undefined): Promise<number> {
  if (spec.port !== 0) return spec.port;
  if (recorded !== undefined && (await isFree(recorded, spec.host))) return recorded;
  return freePort(spec.host);
}

/** True when the run ends first, false when supervision is stopped first. */
async function diedBefore(stopped: AbortSignal, run: ChildRecord): Promise<boolean> {
  while (!stopped.aborted) {
    if (!isAlive(run)) return true;
    await sleep(200, undefined, { signal: stopped }).catch(() => {});
  }
  return false;
}

function openLog(spec: ChildSpec) {
  const file = join(spec.dir, `${spec.name}.log`);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > largestLog) renameSync(file, `${file}.1`);
  return { file, from: size > largestLog ? 0 : size, descriptor: openSync(file, 'a', 0o600) };
}

/**
 * Keeps the output of a long-running server from filling the disk. Its files are appended to, so they may be cut.
 */
export function trimLogs({
  name,
  dir,
  logs = [],
  log,
}: Pick<ChildSpec, 'name' | 'dir' | 'logs' | 'log'>): void {
  for (const file of [`${name}.log`, ...logs].map((one) => join(dir, one))) {
    try {
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= largestLog) continue;
      copyFileSync(file, `${file}.1`);
      truncateSync(file);
    } catch (error) {
      log.warn({ server: name, file, err: error }, 'the output of a server could not be cut');
    }
  }
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-8).join('\n') || '(no output)';
}

/** The run of a server that was started in a folder, if it still lives. */
export function recordedRun(dir: string, name: string): ProcessIdentity | undefined {
  const record = readRecord(dir, name);
  return record && isAlive(record) ? record : undefined;
}

const recordFile = (dir: string, name: string) => join(dir, `${name}.json`);

function readRecord(dir: string, name: string): ChildRecord | undefined {
  try {
    return JSON.parse(readFileSync(recordFile(dir, name), 'utf8')) as ChildRecord;
  } catch {
    // No record, or one cut off by a crash: the process is then found by its argument.
    return undefined;
  }
}

function writeRecord(spec: ChildSpec, record: ChildRecord): void {
  writePrivateFile(recordFile(spec.dir, spec.name), JSON.stringify(record));
}
