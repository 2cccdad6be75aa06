import type { Logger } from 'pino';
import type { Log } from '../../../streams/core/index.js';
import { Lease } from '../../../workers/core/lease.js';
import { Deliberate } from '../../../workers/deliberation/index.js';
import type { Config } from '../../config/config.js';
import type { Dependencies } from '../dependencies.js';

/** Makes the running of queries ready to be held by one process at a time; `start()` of the lease begins to try. */
export function createDeliberation(
  config: Config,
  { log, logger, holder }: Pick<Dependencies, 'holder'> & { log: Log; logger: Logger },
): Lease {
  return new Lease({
    log,
    logger,
    name: 'deliberate',
    holder,
    replicas: config.NATS_REPLICAS,
    begin: () =>
      new Deliberate({
        log,
        logger,
        models: config.MODELS,
        callTimeoutMs: config.DELIBERATION_CALL_TIMEOUT_MS,
      }),
  });
}
