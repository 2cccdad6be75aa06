import { type FileHandle, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { identify, isAlive } from '../../servers/process.js';
import { Failed } from '../core/failure.js';

/** A process names its lock in two steps: for so long, in milliseconds, an empty one is looked at again. */
const namingMs = 500;
const lookEveryMs = 20;

/**
 * Keeps other exports away from a file that exists, and answers what lets them in again. The lock is a file next to
 * it, which names its process. Throws `Failed` while another process has it, and when it cannot be made.
 */
export async function lockExport(path: string): Promise<() => Promise<void>> {
  const lock = `${await realpath(path)}.lock`;
  for (;;) {
    const handle = await create(lock);
    if (handle) {
      await sign(lock, handle);
      return () => rm(lock, { force: true });
    }
    const signature = await signatureIn(lock);
    if (signature !== undefined) await requireDead(path, lock, signature);
  }
}

/** Makes the lock; `undefined` if there is one. */
async function create(lock: string): Promise<FileHandle | undefined> {
  try {
    return await open(lock, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw unwritable(lock, error as Error);
  }
}

async function sign(lock: string, handle: FileHandle): Promise<void> {
  const startTime = identify(process.pid)?.startTime ?? '-';
  try {
    await handle.writeFile(`relay export: process ${process.pid} of ${hostname()}, begun at ${startTime}\n`);
  } catch (error) {
    await rm(lock, { force: true });
    throw unwritable(lock, error as Error);
  } finally {
    await handle.close();
  }
}

/** What a lock says; `undefined` if it is gone. */
async function signatureIn(lock: string): Promise<string | undefined> {
  for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
    const text = await readFile(lock, 'latin1').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw unwritable(lock, error);
    });
    if (text !== '' || waitedMs >= namingMs) return text;
    await delay(lookEveryMs);
  }
}

/**
 * Removes a lock whose process is no more. Throws `Failed` for any other file: of a process elsewhere nobody knows
 * here whether it runs, and a file with such a name may be somebody's own.
 */
async function requireDead(path: string, lock: string, signature: string): Promise<void> {
  const [, pid, host, startTime] =
    /^relay export: process (\d+) of (\S+), begun at (.+)\n$/.exec(signature) ?? [];
  if (pid === undefined || startTime === undefined)
    throw new Failed(
      `${lock} is in the way: it is no lock of an export`,
      'export_locked',
      'Name another file. If no export runs into this one, you may remove that.',
    );
  const holder = host === hostname() ? `process ${pid}` : `process ${pid} of ${host}`;
  if (host !== hostname() || isAlive({ pid: Number(pid), startTime }))
    throw new Failed(
      `${holder} exports into ${path} (${lock})`,
      'export_locked',
      `Wait until it has ended, or name another file. If that process is no more, remove ${lock}.`,
    );
  await removeDead(lock, signature);
}

/** Two may find the same dead process: one must not remove the lock that the other has made since. */
async function removeDead(lock: string, signature: string): Promise<void> {
  const aside = `${lock}.${process.pid}`;
  try {
    await rename(lock, aside);
    if ((await readFile(aside, 'latin1')) === signature) await rm(aside);
    else await rename(aside, lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unwritable(lock, error as Error);
  }
}

function unwritable(lock: string, { message }: Error): Failed {
  return new Failed(
    `${lock} cannot be written, which keeps a second export away: ${message}`,
    'file_unwritable',
  );
}
