import type { Logger } from 'pino';
import type { Log } from '../../../streams/core/index.js';
import { Screening } from '../../../streams/moderation/index.js';
import { AutomateChannels } from '../../../workers/channels/automation/index.js';
import type { Channels } from '../../../workers/channels/index.js';
import { Lease } from '../../../workers/core/lease.js';
import type { Config } from '../../config/config.js';
import type { Dependencies } from '../dependencies.js';

const actor = 'automate-channels';

/** Makes the channel automation ready to be held by one process at a time; `start()` of the lease begins to try. */
export function createAutomation(
  config: Config,
  parts: Pick<Dependencies, 'holder'> & { log: Log; logger: Logger; channels: Channels },
): Lease {
  const { log, logger, holder, channels } = parts;
  return new Lease({
    log,
    logger,
    name: actor,
    holder,
    replicas: config.NATS_REPLICAS,
    begin: () =>
      new AutomateChannels({
        log,
        logger,
        eventBot: config.EM_NICK,
        screen: new Screening(config.GUARDIAN_THRESHOLDS).screen,
        channels,
      }),
  });
}
