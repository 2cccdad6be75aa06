import type { Sql } from '../../../projections/core/sql.js';
import { linkOfNick } from '../../../projections/identity/queries.js';
import { masksInForce } from '../../../projections/moderation/running.js';
import { hasAccounts } from '../../../projections/network/queries.js';
import { within } from '../../../streams/core/clock.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { moderation } from '../../../streams/moderation/index.js';
import { type ChannelsObserver, KeepChannels } from '../../../workers/channels/index.js';
import { answerHelp } from '../../../workers/irc/help.js';
import { takeAppeals, tellIdentified } from '../../../workers/moderation/index.js';
import type { Config } from '../../config/config.js';
import type { ReadModels } from '../../stores/read-models.js';
import { SharedHours } from '../../stores/shared-hours.js';
import type { Dependencies } from '../dependencies.js';
import { type BotHold, type BotParts, createBot } from './bot.js';

const hourMs = 3_600_000;

/** Makes the channel bot and the channels it keeps ready to be held. */
export function createChannelKeeping(
  config: Config,
  parts: BotParts &
    Pick<Dependencies, 'hasNickService'> & { readModels: ReadModels; observe?: ChannelsObserver },
): BotHold<KeepChannels> {
  const { log, logger, readModels, hasNickService, observe } = parts;
  return createBot(config, parts, {
    name: 'keep-channels',
    nick: config.CHANNELSERV_NICK,
    realname: 'channel management',
    isOperator: true,
    // channels are many and commands short: less would leave the server waiting
    connection: { bytesInFlight: 16_384 },
    work: (irc) => {
      takeAppeals(irc, { log, logger });
      tellIdentified(irc, { log, logger });
      const more = `Channels are made and changed over the API: ${config.PUBLIC_URL}/skill.md`;
      const lines = [
        'I keep the managed channels. I warn, mute and remove people when the guardian has found them at fault.',
        `${appealUsage}, sent to me: an operator looks at that incident again. ${more}`,
      ];
      answerHelp(irc, logger, lines, answerToOther);
      return new KeepChannels({
        log,
        logger,
        irc,
        ...(observe ? { observe } : {}),
        read: (query, after) => readModels.readAt('channel_directory', query, after),
        linkOf: (nick) => readModels.read('identity_links', (sql, schema) => linkOfNick(sql, schema, nick)),
        hasAccounts: async () => hasNickService || (await readModels.read('irc_network', hasAccounts)),
        bots: [config.EM_NICK, config.BRIDGE_NICK],
        masksIn: (channel) => readMasks(parts, channel),
        helped: [config.EM_NICK, config.BRIDGE_NICK, config.MRSERV_NICK],
        reserved: config.IRC_CHANNELS,
        limits: {
          creations: config.CHANNEL_CREATIONS_PER_HOUR,
          deletions: config.CHANNEL_DELETIONS_PER_HOUR,
          memberOperations: config.MEMBER_OPERATIONS_PER_HOUR,
        },
        hours: new SharedHours({ log, replicas: config.NATS_REPLICAS, name: 'RELAY_CHANNEL_HOURS' }),
        lifetimes: {
          deleteAfterMs: config.DELETE_AFTER_DAYS * 24 * hourMs,
          geographicIdleMs: config.GEO_INACTIVITY_DAYS * 24 * hourMs,
          endedTaskMs: config.ARCHIVE_GRACE_HOURS * hourMs,
        },
      });
    },
  });
}

const appealUsage = 'APPEAL <number> <reason>';

/** The answer to what is no command; `undefined` for an appeal with a number, which moderation answers. */
function answerToOther(text: string): string | undefined {
  if (/^appeal\s+#?\d{1,15}(?:[\s,:]|$)/i.test(text)) return undefined;
  return /^\/?appeal\b/i.test(text)
    ? `${appealUsage}: the number is that of the incident, which the notice about it names`
    : `I do not know that command: ${appealUsage} | HELP`;
}

/** How long a room waits for what moderation has recorded of it, in milliseconds. */
const masksMs = 3_000;

/** The masks that moderation has set in a channel, as of now. `undefined` when that is not known in time. */
async function readMasks(
  { log, readModels, logger }: Pick<BotParts, 'log' | 'logger'> & { readModels: ReadModels },
  channel: string,
): Promise<string[] | undefined> {
  const read = async () => {
    const after = { stream: moderation.name, seq: await log.head(moderation) };
    const query = (sql: Sql, schema: string) => masksInForce(sql, schema, casefold(channel));
    return await readModels.readAt('moderation', query, after);
  };
  try {
    return await within(read(), masksMs);
  } catch (err) {
    logger.warn({ err, channel }, 'masks of moderation cannot be read now');
    return undefined;
  }
}
