import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identify } from '../../src/servers/process.js';
import type { Teardown } from './server-process.js';

/** A disk of its own for one test. */
export interface SmallDisk {
  readonly dir: string;
  /** Fills it up to so many free bytes. */
  fill(leave: number): Promise<void>;
  /** Removes what it was filled with. */
  clear(): Promise<void>;
}

/** For tests that need a disk: to be skipped, with the reason, where this process may not mount one. */
export const needsDisk = { skip: mayMount() ? false : 'needs a process that may mount a disk' };

/** Mounts an empty disk of so many megabytes in memory. */
export function smallDisk(t: Teardown, megabytes: number, mode: 'rw' | 'ro' = 'rw'): SmallDisk {
  const dir = mount(`size=${megabytes}m,${mode}`);
  t.teardown(() => unmount(dir));
  const filler = join(dir, 'filler');
  return {
    dir,
    async fill(leave) {
      const { bavail, bsize } = await statfs(dir);
      await writeFile(filler, Buffer.alloc(Math.max(0, bavail * bsize - leave)), { flag: 'a' });
    },
    clear: () => rm(filler, { force: true }),
  };
}

function mount(options: string): string {
  removeOrphans();
  const dir = mkdtempSync(join(tmpdir(), `relay-disk-${process.pid}-`));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir], { stdio: 'ignore' });
    return dir;
  } catch (error) {
    rmdirSync(dir);
    throw error;
  }
}

function unmount(dir: string): void {
  execFileSync('umount', ['--lazy', dir]);
  rmdirSync(dir);
}

/** A process that is killed unmounts nothing: the disks of those that are no more are removed. */
function removeOrphans(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = /^relay-disk-(\d+)-/.exec(name)?.[1];
    if (owner === undefined || identify(Number(owner))) continue;
    const dir = join(tmpdir(), name);
    for (const step of [
      () => execFileSync('umount', ['--lazy', dir], { stdio: 'ignore' }),
      () => rmdirSync(dir),
    ]) {
      try {
        step();
      } catch {
        // it was never mounted, or another process is at it
      }
    }
  }
}

function mayMount(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    unmount(mount('size=1m'));
    return true;
  } catch {
    return false;
  }
}
