import type { Logger } from 'pino';
import type { Log } from '../streams/core/index.js';
import { Lease } from '../workers/core/lease.js';
import { DeliverToIrc, type DeliverToIrcOptions } from '../workers/deliver-to-irc/index.js';
import type { OpenChannel } from '../workers/deliver-to-irc/rooms.js';
import { IrcConnection, type IrcStatus } from '../workers/irc/connection.js';
import type { Channels } from '../workers/keep-channels/index.js';
import type { Config } from './config.js';
import type { IrcState } from './services/irc-state.js';
import type { Surroundings } from './surroundings.js';

/** The marketplace bot and its deliveries: one process has them at a time, the others stand by. */
export interface DeliveryHold {
  lease: Lease;
  /** How they stand where this process has them; `undefined` where it has not. */
  held(): { irc: IrcStatus; eventsInHand: number } | undefined;
}

/** What the bot and its deliveries work with. */
export interface DeliveryParts
  extends Pick<Surroundings, 'ircUrl' | 'secrets' | 'holder'>,
    Pick<DeliverToIrcOptions, 'limits' | 'observe'> {
  log: Log;
  logger: Logger;
  channels: Channels;
}

/** Makes the bot and its deliveries ready to be held; `lease.start()` begins to try. */
export function createDelivery(config: Config, parts: DeliveryParts): DeliveryHold {
  const { log, logger, ircUrl, secrets, holder, limits, observe, channels } = parts;
  const openChannel: OpenChannel = (name, type) =>
    channels.create(
      { name, type, modes: '+nt', topic: '', invite_list: [], metadata: {}, cause: 'automation' },
      { by: 'deliver-to-irc' },
    );
  let held: { irc: IrcConnection; worker: DeliverToIrc } | undefined;

  function begin() {
    const irc = new IrcConnection({
      url: ircUrl,
      nick: config.EM_NICK,
      realname: 'task marketplace',
      ...(secrets.ircServerPassword ? { password: secrets.ircServerPassword } : {}),
      ...(secrets.ircOper ? { oper: secrets.ircOper } : {}),
      log: logger,
    });
    const worker = new DeliverToIrc({
      ...{ log, irc, limits, logger, openChannel },
      ...(observe ? { observe } : {}),
    });
    held = { irc, worker };
    worker.start();
    return {
      stop: async () => {
        await worker.stop();
        held = undefined;
      },
    };
  }

  const lease = new Lease({
    log,
    logger,
    name: 'deliver-to-irc',
    holder,
    replicas: config.NATS_REPLICAS,
    begin,
    state: (): IrcState => {
      const offline = { connected: false, oper: false, nick: config.EM_NICK };
      const { connected, oper, nick } = held?.irc.status() ?? offline;
      return { connected, oper, nick };
    },
  });
  return {
    lease,
    held: () => held && { irc: held.irc.status(), eventsInHand: held.worker.inHand },
  };
}
