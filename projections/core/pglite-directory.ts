import { readFileSync } from 'node:fs';
import { constants, cp, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** Makes an empty database in a directory that does not exist yet, and leaves it closed. */
export type MakeDatabase = (directory: string) => Promise<void>;

const pgliteHome = dirname(dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite')));
const sessionFile = 'relay-session';

/**
 * Puts an empty database where there is none. Making one takes seconds, copying one a fraction: the first one
 * ever made is kept beside the npm packages as the template of all others.
 */
export async function provideDatabase(directory: string, make: MakeDatabase): Promise<void> {
  if (await isThere(directory)) return;
  const fresh = `${directory}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(dirname(directory), { recursive: true });
  const template = await provideTemplate(make).catch(() => undefined); // installed read-only
  if (template) await cp(template, fresh, { recursive: true, mode: constants.COPYFILE_FICLONE });
  else await make(fresh);
  await rename(fresh, directory);
}

/** Removes the template, so that the next database is made anew. */
export async function forgetTemplate(): Promise<void> {
  await rm(await templatePath(), { recursive: true, force: true });
}

/** Moves a directory out of the way and returns where to; of several that were moved only the last one is kept. */
export async function moveAside(directory: string, now: Date): Promise<string> {
  const prefix = `${basename(directory)}.damaged-`;
  for (const name of await readdir(dirname(directory))) {
    if (name.startsWith(prefix)) await rm(join(dirname(directory), name), { recursive: true, force: true });
  }
  const target = join(dirname(directory), `${prefix}${now.toISOString().replace(/[-:]|\.\d+/g, '')}`);
  await rename(directory, target);
  return target;
}

/**
 * Marks a database as open. `false` when it was open as the machine went down: PGlite does not sync its files,
 * so after that they can be anything. (After a killed process they are whole: the kernel still wrote them.)
 */
export async function beginSession(directory: string): Promise<boolean> {
  const file = join(directory, sessionFile);
  const before = await readFile(file, 'utf8').catch(() => undefined);
  const boot = await bootId();
  if (before !== undefined && before !== boot) return false;
  await writeFile(file, boot);
  return true;
}

/** Marks a database as closed in good order. */
export async function endSession(directory: string): Promise<void> {
  await rm(join(directory, sessionFile), { force: true });
}

async function provideTemplate(make: MakeDatabase): Promise<string> {
  const template = await templatePath();
  if (await isThere(template)) return template;
  await mkdir(dirname(template), { recursive: true });
  const workshop = await mkdtemp(join(dirname(template), 'making-'));
  try {
    await make(join(workshop, 'pg'));
    // fails when another process was faster, and then its template is as good
    await rename(join(workshop, 'pg'), template).catch(() => {});
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
  return template;
}

async function templatePath(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(pgliteHome, 'package.json'), 'utf8')) as { version: string };
  return join(dirname(dirname(pgliteHome)), '.cache', 'relay', `pglite-${version}`);
}

async function isThere(directory: string): Promise<boolean> {
  return (await readdir(directory).catch(() => [])).length > 0;
}

/** Changes with each start of the machine, where the system tells. */
async function bootId(): Promise<string> {
  return await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
}
