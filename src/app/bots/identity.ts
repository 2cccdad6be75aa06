import { Identify, type IdentityRegistry, type OtherCommand } from '../../../workers/identity/index.js';
import type { Config } from '../../config/config.js';
import type { ReadModels } from '../../stores/read-models.js';
import { type BotHold, type BotParts, createBot } from './bot.js';

/** Makes the identity bot ready to be held. */
export function createIdentification(
  config: Config,
  parts: BotParts & {
    readModels: ReadModels;
    registry: IdentityRegistry;
    others: Readonly<Record<string, OtherCommand>>;
  },
): BotHold<Identify> {
  const { logger, readModels, registry, others } = parts;
  return createBot(config, parts, {
    name: 'identify',
    nick: config.MRSERV_NICK,
    realname: 'identity registry',
    work: (irc) =>
      new Identify({
        logger,
        irc,
        registry,
        others,
        read: (query, after) => readModels.read('identity_links', query, after),
      }),
  });
}
