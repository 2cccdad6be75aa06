import { attemptLimit } from '../../../streams/identity/index.js';
import { Identify, type IdentityRegistry, type OtherCommand } from '../../../workers/identity/index.js';
import type { Config } from '../../config/config.js';
import type { ReadModels } from '../../stores/read-models.js';
import { SharedCounts } from '../../stores/shared-counts.js';
import { hourlyCounts } from '../hourly-counts.js';
import { type BotHold, type BotParts, createBot } from './bot.js';

/** So often a nick links and unlinks in an hour. */
const linkChanges = 20;

/** Makes the identity bot ready to be held. */
export function createIdentification(
  config: Config,
  parts: BotParts & {
    readModels: ReadModels;
    registry: IdentityRegistry;
    others: Readonly<Record<string, OtherCommand>>;
  },
): BotHold<Identify> {
  const { log, logger, readModels, registry, others } = parts;
  const attempts = (name: string, description: string) =>
    new SharedCounts({
      log,
      replicas: config.NATS_REPLICAS,
      name,
      description,
      most: attemptLimit.count,
      windowMs: attemptLimit.inMs,
    });
  return createBot(config, parts, {
    name: 'identify',
    nick: config.MRSERV_NICK,
    realname: 'identity registry',
    work: (irc) =>
      new Identify({
        logger,
        irc,
        registry,
        changes: hourlyCounts(config, log, {
          name: 'RELAY_LINK_CHANGES',
          description: 'Links that were made and ended over IRC in the last hour, by nick.',
          most: linkChanges,
        }),
        attempts: {
          challenges: attempts('RELAY_VERIFY_REQUESTS', 'Challenges asked for over IRC, by person.'),
          signatures: attempts('RELAY_VERIFY_FAILURES', 'Wrong signatures sent over IRC, by person.'),
        },
        others,
        read: (query, after) => readModels.read('identity_links', query, after),
      }),
  });
}
