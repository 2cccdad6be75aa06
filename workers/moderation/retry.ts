import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isExpected, type Log } from '../../streams/core/index.js';

const pausesMs = { first: 100, longest: 5_000 };

/** Does something that must not get lost, again and again while the log cannot be reached, until the signal aborts. */
export async function untilDone(
  work: () => Promise<void>,
  { log, logger, signal }: { log: Log; logger: Logger; signal: AbortSignal },
): Promise<void> {
  for (let pauseMs = pausesMs.first; !signal.aborted; pauseMs = Math.min(pauseMs * 2, pausesMs.longest)) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isExpected(error) || log.connected) logger.warn({ err: error }, 'incident cannot be recorded yet');
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}
