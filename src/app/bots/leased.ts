import type { Logger } from 'pino';
import type { Log } from '../../../streams/core/index.js';
import { type Holding, Lease, type Term } from '../../../workers/core/lease.js';
import type { Config } from '../../config/config.js';

/** Makes a worker ready to be held by one process at a time; `start()` of the lease, which has this name, begins to try. */
export function leased(
  config: Config,
  { log, logger, holder }: { log: Log; logger: Logger; holder: string },
  name: string,
  begin: (term: Term) => Holding,
): Lease {
  return new Lease({ log, logger, name, holder, replicas: config.NATS_REPLICAS, begin });
}
