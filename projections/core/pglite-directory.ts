import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** Makes an empty database in a directory that does not exist yet, and leaves it closed. */
export type MakeDatabase = (directory: string) => Promise<void>;

const pgliteHome = dirname(dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite')));
const sessionFile = 'relay-session';
/** Counts the ways in which we have made templates: one that was made in another way is not used. */
const templateForm = 2;

/** Whether a directory exists and is not empty. */
export async function isThere(directory: string): Promise<boolean> {
  return (await readdir(directory).catch(() => [])).length > 0;
}

/**
 * A directory with an empty database to copy from: making one takes seconds, copying one a fraction. It is
 * made when the first store is opened, and kept next to the npm packages. `undefined` when that place is not
 * writable.
 */
export async function findTemplate(make: MakeDatabase): Promise<string | undefined> {
  const template = templatePath();
  if (await isThere(template)) return template;
  try {
    await mkdir(dirname(template), { recursive: true });
    const workshop = await mkdtemp(join(dirname(template), 'making-'));
    try {
      await make(join(workshop, 'pg'));
      // fails when another process was faster, and then its template is as good
      await rename(join(workshop, 'pg'), template).catch(() => {});
    } finally {
      await rm(workshop, { recursive: true, force: true });
    }
    return (await isThere(template)) ? template : undefined;
  } catch {
    return undefined;
  }
}

/** Moves a directory out of the way and returns the new path. Only the last moved directory is kept. */
export async function moveAside(directory: string, now: Date): Promise<string> {
  const prefix = `${basename(directory)}.damaged-`;
  for (const name of await readdir(dirname(directory))) {
    if (name.startsWith(prefix)) await rm(join(dirname(directory), name), { recursive: true, force: true });
  }
  const target = join(dirname(directory), `${prefix}${now.toISOString().replace(/[-:]|\.\d+/g, '')}`);
  await rename(directory, target);
  return target;
}

/** Removes the remains of a database that could not be made. */
export async function removeRemains(directory: string): Promise<void> {
  for (const path of [directory, `${directory}.new`]) await rm(path, { recursive: true, force: true });
}

/** Undoes `moveAside`. */
export async function moveBack(aside: string, directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await rename(aside, directory);
}

/**
 * Whether the files of a database can be trusted. They cannot if it was open when the machine went down:
 * PGlite does not sync them, so they can hold anything. (After a killed process they are whole: the kernel
 * still wrote them.)
 */
export async function isSound(directory: string): Promise<boolean> {
  const before = await readFile(join(directory, sessionFile), 'utf8').catch(() => undefined);
  return before === undefined || before === (await bootId());
}

/**
 * A segment of PGlite's write-ahead log and a little more, in bytes: with less free space it can neither open
 * nor continue.
 */
const leastRoom = 20 * 1024 * 1024;

/** Whether the disk of a database has so little room that an error says nothing about its files. */
export async function isDiskFull(directory: string): Promise<boolean> {
  const disk = await statfs(dirname(directory)).catch(() => undefined);
  return disk !== undefined && disk.bavail * disk.bsize < leastRoom;
}

/** Marks a database as open. */
export async function beginSession(directory: string): Promise<void> {
  await writeFile(join(directory, sessionFile), await bootId());
}

/** Marks a database as closed properly. */
export async function endSession(directory: string): Promise<void> {
  await rm(join(directory, sessionFile), { force: true });
}

function templatePath(): string {
  const { version } = JSON.parse(readFileSync(join(pgliteHome, 'package.json'), 'utf8')) as {
    version: string;
  };
  return join(dirname(dirname(pgliteHome)), '.cache', 'relay', `pglite-${version}-${templateForm}`);
}

/** Changes with each boot of the machine, if the system tells. */
async function bootId(): Promise<string> {
  return await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
}
