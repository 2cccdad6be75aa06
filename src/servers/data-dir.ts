import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** The free space that every part needs at its start, in bytes. */
const bytesToStart = 1024 * 1024;

/**
 * Makes a data directory if it does not exist, and checks that it is writable. Rejects with what the operator
 * can do.
 */
export async function prepareDataDir(dir: string): Promise<void> {
  const path = resolve(dir);
  try {
    await makeFolder(path);
    await tryWriting(path);
  } catch (error) {
    throw new Error(problemOf(path, error as NodeJS.ErrnoException), { cause: error });
  }
}

/**
 * One folder after the other: Node's own recursive mkdir never returns where no folders can be made, as in
 * /proc.
 */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    await makeFolder(dirname(path));
    await makeFolder(path);
  }
}

async function tryWriting(path: string): Promise<void> {
  const file = join(path, `write-test-${randomBytes(6).toString('hex')}`);
  try {
    await writeFile(file, Buffer.alloc(bytesToStart));
  } finally {
    await rm(file, { force: true });
  }
}

function problemOf(path: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return `the disk of the data directory ${path} is full: free some space, or set DATA_DIR to a folder on another disk`;
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return `the data directory ${path} cannot be made, a file is in the way: set DATA_DIR to a folder`;
  return `the data directory ${path} cannot be written (${code ?? message}): set DATA_DIR to a folder that this user may write to`;
}
