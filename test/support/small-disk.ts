import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  const dir = mkdtempSync(join(tmpdir(), 'relay-disk-'));
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

function mayMount(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    unmount(mount('size=1m'));
    return true;
  } catch {
    return false;
  }
}
