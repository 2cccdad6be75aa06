import { allFloors } from '../../../projections/floor/queries.js';
import { isSilenced } from '../../../projections/moderation/running.js';
import { TellFloors, type TellFloorsOptions } from '../../../workers/floor/index.js';
import { AddressGroups, type AddressGroupsOptions } from '../../../workers/groups/index.js';
import { answerHelp } from '../../../workers/irc/help.js';
import { GatewayHosts, tellIdentified } from '../../../workers/moderation/index.js';
import { greetNewcomers, RecordIrc, type RecordingObserver } from '../../../workers/network/index.js';
import { botNicks } from '../../config/bot-nicks.js';
import type { Config } from '../../config/config.js';
import type { ReadModels } from '../../stores/read-models.js';
import { type BotHold, type BotParts, createBot } from './bot.js';
import { gatewayHostsOf } from './gateway-hosts.js';
import { rulesOf } from './rules-file.js';

/** What the bridge's bot answers with, besides what it records. */
export interface AnsweringParts extends Pick<AddressGroupsOptions, 'among'> {
  readModels: ReadModels;
}

/** Makes the bridge's bot and what it records ready to be held; without `answers` it says nothing in channels. */
export function createRecording(
  config: Config,
  parts: BotParts & { observe?: RecordingObserver; answers?: AnsweringParts },
): BotHold<RecordIrc> {
  const { log, logger, observe, answers } = parts;
  const rules = rulesOf(config, logger);
  return createBot(config, parts, {
    name: 'record-irc',
    nick: config.BRIDGE_NICK,
    realname: 'bridge',
    work: (irc) => {
      answerHelp(irc, logger, [
        `I am the bridge: I record what is said and done in the channels where I am, and show ${rules ? 'the rules to whoever joins' : 'it over the API'}.`,
        'In a channel, @translate addresses everybody there who can translate, by the directory; @translate+2 those of level 2 and more. With a question mark after it I say if nobody can.',
        '/floor in a channel asks for your turn to speak, /floor done passes it on, /floor status says whose it is. Clients that keep /floor for themselves say !floor.',
        `I take no other messages. To read the record: ${config.PUBLIC_URL}/irc/channels. What programs can do here: ${config.PUBLIC_URL}/skill.md`,
      ]);
      // it is in channels where the channel bot is not
      tellIdentified(irc, { log, logger });
      if (rules) greetNewcomers(irc, { logger, rules, bots: botNicks(config) });
      return new RecordIrc({
        log,
        irc,
        channels: config.IRC_CHANNELS,
        logger,
        ...(observe ? { observe } : {}),
      });
    },
    beside: (rooms, irc) => {
      if (!answers) return [];
      const told = { log, logger, irc, rooms };
      const floors: TellFloorsOptions['floors'] = (after) =>
        answers.readModels.readAt('floors', allFloors, after);
      return [addressGroups(config, { ...told, ...answers }), new TellFloors({ ...told, floors })];
    },
  });
}

/** Who is meant by the groups that lines address. */
function addressGroups(
  config: Config,
  { readModels, ...parts }: Omit<AddressGroupsOptions, 'bots' | 'thresholds' | 'isSilenced'> & AnsweringParts,
): AddressGroups {
  const gateway = new GatewayHosts({ gatewayHosts: gatewayHostsOf(readModels), logger: parts.logger });
  return new AddressGroups({
    ...parts,
    bots: botNicks(config),
    thresholds: config.GUARDIAN_THRESHOLDS,
    isSilenced: async (seen) => {
      const others = await gateway.othersOf(seen);
      const now = parts.log.now();
      return await readModels.read('moderation', (sql, schema) => isSilenced(sql, schema, seen, others, now));
    },
  });
}
