import { rmSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Creates a temporary folder and removes it afterwards, at the latest when the process ends. Folders that a
 * killed process of the same kind has left there are removed first.
 */
export async function withScratch<T>(kind: string, work: (directory: string) => Promise<T>): Promise<T> {
  // process ids belong to one host; a container that shares the temporary folders has its own name
  const prefix = `relay-${kind}-${hostname()}-`;
  await removeLeft(prefix);
  const directory = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
  // somebody who sends a second signal does not wait for the end of a command: the folder must go then too
  const atExit = () => removeAtExit(directory);
  process.once('exit', atExit);
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
    process.off('exit', atExit);
  }
}

/**
 * Threads may still write there. Tries a few times, and leaves the rest to the next run rather than change
 * the exit code.
 */
function removeAtExit(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  } catch {}
}

async function removeLeft(prefix: string): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const [, pid] = (name.startsWith(prefix) && /^(\d+)-\w{6}$/.exec(name.slice(prefix.length))) || [];
    // a folder of somebody else stays: it cannot be removed from here
    if (pid !== undefined && !isRunning(Number(pid)))
      await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {});
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
