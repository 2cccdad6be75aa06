import { greetNewcomers, RecordIrc, type RecordingObserver } from '../../../workers/network/index.js';
import { botNicks } from '../../config/bot-nicks.js';
import type { Config } from '../../config/config.js';
import { type BotHold, type BotParts, createBot } from './bot.js';
import { rulesOf } from './rules-file.js';

/** Makes the bridge's bot and what it records ready to be held. */
export function createRecording(
  config: Config,
  parts: BotParts & { observe?: RecordingObserver },
): BotHold<RecordIrc> {
  const { log, logger, observe } = parts;
  const rules = rulesOf(config, logger);
  return createBot(config, parts, {
    name: 'record-irc',
    nick: config.BRIDGE_NICK,
    realname: 'bridge',
    work: (irc) => {
      if (rules) greetNewcomers(irc, { logger, rules, bots: botNicks(config) });
      return new RecordIrc({
        log,
        irc,
        channels: config.IRC_CHANNELS,
        logger,
        ...(observe ? { observe } : {}),
      });
    },
  });
}
