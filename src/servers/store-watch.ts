import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { backoff } from '../../streams/core/index.js';
import type { SupervisedChild } from './child.js';
import { healthRequest } from './nats-credentials.js';
import { probe } from './net.js';
import { endProcess, identify } from './process.js';

/** Whether our own nats-server can store. */
export interface StoreWatch {
  /** Why it stores nothing more at present, in words; `undefined` while it does. */
  readonly trouble: string | undefined;
  /** How often it was restarted because of that, since this process began. */
  readonly restarts: number;
  /** Ends the watch. */
  stop(): Promise<void>;
}

const lookEveryMs = 1_000;
const answerMs = 2_000;
const stopGraceMs = 5_000;
/** Pauses before the next restart, in milliseconds, when the last one did not help for long. */
const pauses = { first: 2_000, longest: 60_000 };
const helpedAfterMs = 60_000;
/**
 * With less free space on the disk than this, in bytes, a restarted server would fail again at its first
 * write.
 */
const roomBytes = 2 ** 20;

/**
 * Restarts a nats-server that stores nothing more. A newer one (seen with 2.15.1) answers no append to a
 * stream any more once it could not write there. That lasts as long as it runs, even when the disk has room
 * again; its own health says so. It is ended as soon as there is room, and its supervision restarts it.
 */
export function watchStore(options: {
  server: SupervisedChild;
  store: string;
  password: string;
  log: Logger;
}): StoreWatch {
  const { server, store, password, log } = options;
  const stopped = new AbortController();
  let trouble: string | undefined;
  let restarts = 0;

  const watching = (async () => {
    let inRow = 0;
    let restartedAt = Number.NEGATIVE_INFINITY;
    let nextAt = 0;
    for (;;) {
      await sleep(lookEveryMs, undefined, { signal: stopped.signal, ref: false }).catch(() => {});
      if (stopped.signal.aborted) return;
      const run = identify(server.pid);
      const health = await askHealth(server.port, password);
      if (health === undefined || run === undefined) continue; // it is being started, or too busy to say
      const before = trouble;
      trouble = await troubleOf(health, store);
      if (trouble === undefined || trouble === fullDisk) {
        if (trouble !== before)
          log.warn({ server: 'nats-server' }, trouble ?? 'the event log can store again');
        continue;
      }
      const now = performance.now();
      if (now < nextAt) continue;
      inRow = now - restartedAt > helpedAfterMs ? 1 : inRow + 1;
      restartedAt = now;
      nextAt = now + backoff(inRow, pauses);
      restarts += 1;
      log.warn(
        { server: 'nats-server', serverPid: run.pid, restarts, reason: health },
        'the event log stores nothing more after a write error, restarting it',
      );
      await endProcess(run, stopGraceMs).catch((err) => log.error({ err }, 'the event log did not end'));
    }
  })();

  return {
    get trouble() {
      return trouble;
    },
    get restarts() {
      return restarts;
    },
    async stop() {
      stopped.abort();
      await watching;
    },
  };
}

const fullDisk = 'the disk of the event log is full';

async function troubleOf(health: string, store: string): Promise<string | undefined> {
  if (!/ write error: /.test(health)) return undefined;
  // a disk that has failed may not tell
  const room = await statfs(store).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => undefined,
  );
  return room !== undefined && room < roomBytes
    ? fullDisk
    : 'the event log stores nothing more after a write error and is being restarted';
}

/** A nats-server's health report, as JSON; `undefined` if it does not answer. */
async function askHealth(port: number, password: string): Promise<string | undefined> {
  let health: string | undefined;
  await probe({ port }, answerMs, (socket, settle) => {
    let seen = '';
    socket.once('connect', () => socket.write(healthRequest(password)));
    socket.on('data', (bytes) => {
      seen += bytes.toString('utf8');
      health = /\r\nMSG [^\r\n]*\r\n([^\r\n]*)\r\n/.exec(seen)?.[1];
      if (health !== undefined || seen.length > 65_536) settle(true);
    });
  });
  return health;
}
