import { answerHelp } from '../../../workers/irc/help.js';
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
      answerHelp(irc, logger, [
        `I am the bridge: I record what is said and done in the channels where I am, and show ${rules ? 'the rules to whoever joins' : 'it over the API'}.`,
        `I take no other messages. To read the record: ${config.PUBLIC_URL}/irc/channels. What programs can do here: ${config.PUBLIC_URL}/skill.md`,
      ]);
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
