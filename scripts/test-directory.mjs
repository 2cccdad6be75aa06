import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'relay-tests-';

/**
 * A directory for what a run of the tests stores, which goes when this process ends. It is in memory where there is
 * room: on a disk, the tests of databases wait for it more than they compute. `TMPDIR` decides otherwise.
 */
export function testDirectory() {
  const parent = !process.env.TMPDIR && isRoomy('/dev/shm') ? '/dev/shm' : tmpdir();
  removeOrphans(parent);
  const directory = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  chmodSync(directory, 0o755); // PostgreSQL runs as another user
  process.once('exit', () => remove(directory));
  return directory;
}

/** Whether there are four gigabytes free, and programs may be run from there. */
function isRoomy(directory) {
  try {
    const { bavail, bsize } = statfsSync(directory);
    const [, , , options] = mounts().find(([, path]) => path === directory) ?? [];
    return bavail * bsize >= 4 * 1024 ** 3 && !options?.split(',').includes('noexec');
  } catch {
    return false;
  }
}

/** A run that was killed left its directory. */
function removeOrphans(parent) {
  for (const name of readdirSync(parent)) {
    const [, owner] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (owner && !isAlive(Number(owner))) remove(join(parent, name));
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function remove(directory) {
  try {
    // the small disks of tests that were killed
    for (const [, path] of mounts()) if (path.startsWith(directory)) spawnSync('umount', ['--lazy', path]);
    rmSync(directory, { recursive: true, force: true });
  } catch (error) {
    console.error(`${directory} is left: ${error.message}`);
  }
}

function mounts() {
  try {
    return readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([, path]) => path);
  } catch {
    return [];
  }
}
