import { rmSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Lends a folder among the temporary ones and removes it afterwards, at the latest when the process ends. What a killed
 * process of the same kind has left there is removed first.
 */
export async function withScratch<T>(kind: string, work: (directory: string) => Promise<T>): Promise<T> {
  // process ids are of one host; a container that shares the temporary folders has a name of its own
  const prefix = `relay-${kind}-${hostname()}-`;
  await removeLeft(prefix);
  const directory = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
  // whoever does not wait for the end of a command, and sends a second signal, leaves nothing behind either
  const atExit = () => removeAtExit(directory);
  process.once('exit', atExit);
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
    process.off('exit', atExit);
  }
}

/** Threads may still write there: tries a few times, and leaves the rest to the next one rather than change the exit code. */
function removeAtExit(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  } catch {}
}

async function removeLeft(prefix: string): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const [, pid] = (name.startsWith(prefix) && /^(\d+)-\w{6}$/.exec(name.slice(prefix.length))) || [];
    // what belongs to somebody else stays: there is nothing to be done about it here
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
