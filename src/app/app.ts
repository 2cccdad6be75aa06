import pTimeout, { TimeoutError } from 'p-timeout';
import type { Logger } from 'pino';
import { type Config, unusable } from '../config/config.js';
import { bootWarnings, startProblems } from '../config/warnings.js';
import type { Assembly } from './assembly.js';
import { type Closing, openDependencies } from './dependencies.js';

/** The running service. */
export interface App extends Assembly {
  /** Ends everything in order, within bounds: faces first, our own servers last. */
  stop(): Promise<void>;
}

/**
 * Puts the service together from its configuration and starts it. Throws when a part cannot be started, and the reason
 * of `interrupt` when that comes before the servers are up, with nothing left running.
 */
export async function createApp(config: Config, logger: Logger, interrupt?: AbortSignal): Promise<App> {
  const startedAt = new Date();
  const closing: Closing[] = [];
  const stop = () => closeAll(closing, logger);
  const problems = startProblems(config);
  if (problems.length > 0) throw unusable(problems);
  for (const warning of bootWarnings(config)) logger.warn(warning);
  try {
    const { opened } = await openDependencies(config, logger, closing);
    // most of the code is loaded while the servers come up: either takes half of a start
    const loading = import('./assembly.js');
    loading.catch(() => {}); // told below, when the servers can be ended
    const dependencies = await opened;
    const { assemble } = await loading;
    // a server that has begun to start can only be ended once it is there: this is the first moment
    interrupt?.throwIfAborted();
    return { ...(await assemble(config, logger, { startedAt, dependencies, closing })), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** How long each part may take to stop, in milliseconds. */
const closeBoundMs = 8_000;

/** Closes in the reverse order of opening; one part that hangs does not keep the others from ending. */
async function closeAll(closing: Closing[], logger: Logger): Promise<void> {
  for (let part = closing.pop(); part; part = closing.pop()) {
    const { name, close } = part;
    const started = Date.now();
    try {
      await pTimeout(close(), { milliseconds: closeBoundMs });
      logger.debug({ part: name, ms: Date.now() - started }, 'part stopped');
    } catch (error) {
      if (error instanceof TimeoutError) logger.warn({ part: name }, 'part did not stop in time');
      else logger.error({ part: name, err: error }, 'part did not stop cleanly');
    }
  }
}
