import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareDataDir } from './data-dir.js';

const prefix = 'lock-';
const attempts = 4;
// The longest address of a unix socket is 107 bytes on Linux and 103 elsewhere.
const longestAddress = 103;

/**
 * Claims a data directory for this process, making it where it is missing, and returns the function that gives it
 * back. Rejects when another process has it, naming that process, or when it cannot be written. The claim is a listening unix socket in the directory, so it ends with
 * its holder however that ends.
 */
export async function lockDataDir(dir: string): Promise<() => Promise<void>> {
  const path = resolve(dir);
  await prepareDataDir(path);
  const place = await addressable(path);
  try {
    for (let attempt = 1; ; attempt += 1) {
      const claim = await announce(path, place.address);
      const { living, dead } = await otherClaims(path, place.address, claim.name);
      if (living === undefined) {
        // Only who holds the directory tidies up: one that looks dead may be about to listen, and will see us.
        for (const name of dead) await rm(join(path, name), { force: true });
        return async () => {
          await withdraw(path, claim);
          await place.close();
        };
      }
      await withdraw(path, claim);
      if (attempt === attempts) throw new Error(refusal(path, living));
      // Two that start at the same moment see each other: both step back and try again.
      await sleep(20 + Math.random() * 100);
    }
  } catch (error) {
    await place.close();
    throw error;
  }
}

interface Claim {
  name: string;
  server: Server;
}

// First announce, then look: of two that do so at the same time at least one sees the other.
async function announce(path: string, address: string): Promise<Claim> {
  const name = `${prefix}${process.pid}-${randomBytes(3).toString('hex')}`;
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new Error(
          `cannot lock the data directory ${path}: put DATA_DIR on a local file system that this user may write to`,
          {
            cause: error,
          },
        ),
      ),
    );
    server.listen(`${address}/${name}`, resolve);
  });
  server.unref();
  return { name, server };
}

async function otherClaims(path: string, address: string, own: string) {
  const names = (await readdir(path)).filter((name) => name.startsWith(prefix) && name !== own);
  const alive = await Promise.all(names.map((name) => listens(`${address}/${name}`)));
  return { living: names.find((_, i) => alive[i]), dead: names.filter((_, i) => !alive[i]) };
}

function listens(address: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    socket.once('connect', () => resolve(true)).once('connect', () => socket.destroy());
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false);
      // A full backlog is a holder that is busy.
      else if (error.code === 'EAGAIN') resolve(true);
      else reject(error);
    });
  });
}

async function withdraw(path: string, { name, server }: Claim): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
  await rm(join(path, name), { force: true });
}

function refusal(path: string, claim: string): string {
  const pid = /^lock-(\d+)/.exec(claim)?.[1];
  return (
    `the data directory ${path} is in use by process ${pid}: stop that one first (kill ${pid}), ` +
    'or give this one another DATA_DIR'
  );
}

/** A way to name files in the directory that is short enough for a socket's address. */
async function addressable(path: string): Promise<{ address: string; close(): Promise<void> }> {
  if (Buffer.byteLength(`${path}/${prefix}4194304-000000`) <= longestAddress)
    return { address: path, close: async () => {} };
  if (process.platform !== 'linux')
    throw new Error(`the path of the data directory is too long to be locked: shorten DATA_DIR (${path})`);
  const handle: FileHandle = await open(path, 'r');
  return { address: `/proc/self/fd/${handle.fd}`, close: () => handle.close() };
}
