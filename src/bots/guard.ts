import type { Logger } from 'pino';
import type { Log } from '../../streams/core/index.js';
import { Lease } from '../../workers/core/lease.js';
import { GuardChannels, guard } from '../../workers/guard-channels/index.js';
import { createEnforcement } from '../../workers/keep-channels/index.js';
import type { Config } from '../config.js';
import type { ReadModels } from '../read-models.js';
import type { Surroundings } from '../surroundings.js';
import { botNicks } from './nicks.js';

/** Makes the guardian ready to be held by one process at a time; `start()` of the lease begins to try. */
export function createGuard(
  config: Config,
  parts: Pick<Surroundings, 'holder'> & { log: Log; logger: Logger; readModels: ReadModels },
): Lease {
  const { log, logger, holder, readModels } = parts;
  return new Lease({
    log,
    logger,
    name: guard,
    holder,
    replicas: config.NATS_REPLICAS,
    begin: () => {
      const worker = new GuardChannels({
        log,
        logger,
        thresholds: config.GUARDIAN_THRESHOLDS,
        ignored: config.GUARDIAN_IGNORE_CHANNELS,
        bots: botNicks(config),
        enforce: createEnforcement(log),
        read: (query, after) => readModels.read('moderation', query, after),
      });
      worker.start();
      return worker;
    },
  });
}
