import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findNatsServer } from '../../src/servers/binaries.js';
import { startNats, storesGroups } from '../support/nats.js';
import type { Fault } from './fault.js';
import { storedEvents } from './stored.js';

/** The disk of the log server is full, and has room again. */
export const diskFull: Fault = {
  name: 'disk-full',
  what: 'disk of nats-server full, then free again',
  long: { times: 5, events: 2_000 },
  short: { times: 1, events: 200 },
  impossible: () => (canMount() ? undefined : 'this user cannot mount a small file system'),
  stage: () => ({ prepareStore: mountSmall }),
  run: async (stage, size) => {
    const { load } = stage;
    const store = join(stage.log.dir, 'store');
    const ballast = join(store, 'ballast');
    stage.t.teardown(async () => {
      await stage.log.kill();
      execFileSync('umount', [store]);
    });
    const recoveries: number[] = [];
    await stage.strikes(size, async () => {
      fill(store, ballast);
      const fullAt = performance.now();
      // what is accepted now still found room in a file that was there already
      await load.answered(30, ({ status, at }) => status === 503 && at > fullAt);
      rmSync(ballast);
      // a newer one stores nothing more until it is restarted, which the service does where it is its own
      if (storesGroups(findNatsServer())) {
        await stage.log.kill('SIGTERM');
        await stage.log.start();
      }
      const freeAt = performance.now();
      await load.answered(1, ({ status, at }) => status < 300 && at > freeAt);
      recoveries.push(performance.now() - freeAt);
    });
    stage.notes.acceptsAgainMs = Math.round(Math.max(...recoveries));
  },
};

/** The store is copied file by file while it is written, as a backup or a power failure would leave it. */
export const tornCopy: Fault = {
  name: 'torn-copy',
  what: 'nats-server started on a copy of the store taken while it is written',
  long: { times: 20, events: 5_000 },
  short: { times: 1, events: 200 },
  run: async (stage, size) => {
    const { load } = stage;
    const other = await startNats(stage.t, { sync: 'always' });
    await stage.strikes(size, async () => {
      await other.kill();
      rmSync(join(other.dir, 'store'), { recursive: true, force: true });
      const acknowledged = [...load.events.keys()];
      cpSync(join(stage.log.dir, 'store'), join(other.dir, 'store'), { recursive: true });
      await other.start();
      const found = await storedEvents(other.url);
      const missing = acknowledged.filter((id) => !found.has(id));
      stage.expect(
        missing.length === 0,
        `${missing.length} of ${acknowledged.length} acknowledged events are not in the copy`,
      );
    });
  },
};

const smallBytes = 96 * 2 ** 20;

async function mountSmall(store: string): Promise<void> {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${smallBytes}`, 'tmpfs', store]);
}

function canMount(): boolean {
  const dir = mkdtempSync(join(tmpdir(), 'relay-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dir], { stdio: 'ignore' });
    execFileSync('umount', [dir]);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(dir);
  }
}

/** Takes all the room there is. */
function fill(store: string, ballast: string): void {
  for (const chunk of [2 ** 20, 2 ** 12]) {
    try {
      for (;;) {
        const { bavail, bsize } = statfsSync(store);
        if (bavail * bsize < chunk) break;
        writeFileSync(ballast, Buffer.alloc(chunk), { flag: 'a' });
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}
