import { type BotParts, createBot } from '../../src/app/bots/bot.js';
import { botNicks } from '../../src/config/bot-nicks.js';
import type { Config } from '../../src/config/config.js';
import { handsOf } from '../../workers/channels/hands.js';
import { channelService } from '../../workers/channels/index.js';
import { answerRequests } from '../../workers/core/rpc.js';

/** The channel bot where nothing else of it is played than its help for bots that are no operators. */
export function createHelping(config: Config, parts: BotParts) {
  const { log, logger } = parts;
  return createBot(config, parts, {
    name: 'keep-channels',
    nick: config.CHANNELSERV_NICK,
    realname: 'channel management',
    isOperator: true,
    work: (irc) => {
      const operations = { ...handsOf(() => irc.session(), botNicks(config)) };
      let answering: { stop(): Promise<void> } | undefined;
      return {
        start: () => {
          irc.start();
          answering = answerRequests({ log, logger, service: channelService, operations });
        },
        stop: async () => {
          await answering?.stop();
          await irc.stop();
        },
      };
    },
  }).lease;
}
