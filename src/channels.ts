import type { Logger } from 'pino';
import type { Log } from '../streams/core/index.js';
import { Lease } from '../workers/core/lease.js';
import { IrcConnection } from '../workers/irc/connection.js';
import { KeepChannels } from '../workers/keep-channels/index.js';
import type { Config } from './config.js';
import type { ReadModels } from './read-models.js';
import type { IrcState } from './services/irc-state.js';
import type { Surroundings } from './surroundings.js';

/** What the channel bot works with. */
export interface ChannelKeepingParts extends Pick<Surroundings, 'ircUrl' | 'secrets' | 'holder'> {
  log: Log;
  logger: Logger;
  readModels: ReadModels;
}

const hourMs = 3_600_000;

/** Makes the channel bot ready to be held by one process at a time; `start()` of the lease begins to try. */
export function createChannelKeeping(config: Config, parts: ChannelKeepingParts): Lease {
  const { log, logger, ircUrl, secrets, holder, readModels } = parts;
  let irc: IrcConnection | undefined;

  function begin() {
    const connection = new IrcConnection({
      url: ircUrl,
      nick: config.CHANNELSERV_NICK,
      realname: 'channel management',
      ...(secrets.ircServerPassword ? { password: secrets.ircServerPassword } : {}),
      ...(secrets.ircOper ? { oper: secrets.ircOper } : {}),
      // channels are many and commands short: less would leave the server waiting
      bytesInFlight: 16_384,
      log: logger,
    });
    const keeper = new KeepChannels({
      log,
      logger,
      irc: connection,
      read: (query, after) => readModels.read('channel_directory', query, after),
      bots: [config.EM_NICK, config.BRIDGE_NICK],
      limits: {
        creations: config.CHANNEL_CREATIONS_PER_HOUR,
        deletions: config.CHANNEL_DELETIONS_PER_HOUR,
        memberOperations: config.MEMBER_OPERATIONS_PER_HOUR,
      },
      lifetimes: {
        deleteAfterMs: config.DELETE_AFTER_DAYS * 24 * hourMs,
        geographicIdleMs: config.GEO_INACTIVITY_DAYS * 24 * hourMs,
        endedTaskMs: config.ARCHIVE_GRACE_HOURS * hourMs,
      },
    });
    irc = connection;
    keeper.start();
    return {
      stop: async () => {
        await keeper.stop();
        irc = undefined;
      },
    };
  }

  return new Lease({
    log,
    logger,
    name: 'keep-channels',
    holder,
    replicas: config.NATS_REPLICAS,
    begin,
    state: (): IrcState => {
      const offline = { connected: false, oper: false, nick: config.CHANNELSERV_NICK };
      const { connected, oper, nick } = irc?.status() ?? offline;
      return { connected, oper, nick };
    },
  });
}
