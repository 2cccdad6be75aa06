import type { Logger } from 'pino';
import type { Log } from '../../../streams/core/index.js';
import { createEnforcement } from '../../../workers/channels/index.js';
import { Lease } from '../../../workers/core/lease.js';
import { GuardChannels, guard } from '../../../workers/moderation/index.js';
import { botNicks } from '../../config/bot-nicks.js';
import type { Config } from '../../config/config.js';
import type { ReadModels } from '../../stores/read-models.js';
import type { Dependencies } from '../dependencies.js';

/** Makes the guardian ready to be held by one process at a time; `start()` of the lease begins to try. */
export function createGuard(
  config: Config,
  parts: Pick<Dependencies, 'holder'> & { log: Log; logger: Logger; readModels: ReadModels },
): Lease {
  const { log, logger, holder, readModels } = parts;
  return new Lease({
    log,
    logger,
    name: guard,
    holder,
    replicas: config.NATS_REPLICAS,
    begin: () =>
      new GuardChannels({
        log,
        logger,
        thresholds: config.GUARDIAN_THRESHOLDS,
        ignored: config.GUARDIAN_IGNORE_CHANNELS,
        bots: botNicks(config),
        enforce: createEnforcement(log),
        read: (query, after) => readModels.read('moderation', query, after),
      }),
  });
}
