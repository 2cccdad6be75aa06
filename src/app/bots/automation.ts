import type { Logger } from 'pino';
import type { Log } from '../../../streams/core/index.js';
import { Screening } from '../../../streams/moderation/index.js';
import { AutomateChannels } from '../../../workers/channels/automation/index.js';
import type { Channels } from '../../../workers/channels/index.js';
import type { Lease } from '../../../workers/core/lease.js';
import type { Config } from '../../config/config.js';
import type { Dependencies } from '../dependencies.js';
import { leased } from './leased.js';

/** Makes the channel automation ready to be held by one process at a time; `start()` of the lease begins to try. */
export function createAutomation(
  config: Config,
  parts: Pick<Dependencies, 'holder'> & { log: Log; logger: Logger; channels: Channels },
): Lease {
  const { log, logger, channels } = parts;
  const eventBot = config.EM_NICK;
  const { screen } = new Screening(config.GUARDIAN_THRESHOLDS);
  const begin = () => new AutomateChannels({ log, logger, eventBot, screen, channels });
  return leased(config, parts, 'automate-channels', begin);
}
