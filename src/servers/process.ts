import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** One run of a program. A pid is reused; together with the start time it is unique. */
export interface ProcessIdentity {
  pid: number;
  startTime: string;
}

/** The identity of a running process; `undefined` if it does not exist or is only a zombie. */
export function identify(pid: number): ProcessIdentity | undefined {
  const startTime = process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

/** Whether exactly this run still lives; a zombie or another process with the pid does not count. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startTime === identity.startTime;
}

/** Ends a process: SIGTERM, and SIGKILL if it is still there after `graceMs`. Answers which one it took. */
export async function endProcess(
  identity: ProcessIdentity,
  graceMs: number,
): Promise<'terminated' | 'killed'> {
  signal(identity, 'SIGTERM');
  if (await hasEnded(identity, graceMs)) return 'terminated';
  signal(identity, 'SIGKILL');
  if (await hasEnded(identity, 5_000)) return 'killed';
  throw new Error(`process ${identity.pid} is still there 5 s after SIGKILL`);
}

/** Waits until a process has ended, for at most `timeoutMs`; false if it has not. */
export async function hasEnded(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isAlive(identity)) {
    if (Date.now() >= deadline) return false;
    await sleep(15);
  }
  return true;
}

/**
 * The process that runs `program` with `argument` among its arguments, found in /proc; `undefined` elsewhere.
 * Finds a server whose record was never written because its starter was killed in between.
 */
export function findRun(program: string, argument: string): ProcessIdentity | undefined {
  if (process.platform !== 'linux') return undefined;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [command, ...args] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (command === program && args.includes(argument)) return identify(Number(name));
    } catch {
      // It has ended while we looked.
    }
  }
  return undefined;
}

function signal(identity: ProcessIdentity, name: NodeJS.Signals): void {
  try {
    if (isAlive(identity)) process.kill(identity.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function startTimeFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startTimeFromPs(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}
