import type { Logger } from 'pino';
import type { Log } from '../../../streams/core/index.js';
import { createHands } from '../../../workers/channels/index.js';
import { Lease } from '../../../workers/core/lease.js';
import { IrcConnection, type IrcConnectionOptions } from '../../../workers/irc/connection.js';
import type { NetworkSize } from '../../../workers/irc/index.js';
import type { Dial } from '../../../workers/irc/transport.js';
import type { Config } from '../../config/config.js';
import type { RecorderState } from '../../operations/core/health.js';
import type { Dependencies } from '../dependencies.js';

/** What every bot is made from. */
export interface BotParts extends Pick<Dependencies, 'ircUrl' | 'secrets' | 'holder'> {
  log: Log;
  logger: Logger;
  /** Makes the connection to the network; TCP where it is not given. */
  dial?: Dial;
}

/** A bot on the network and the work it does: one process has them at a time, the others stand by. */
export interface BotHold<Worker> {
  lease: Lease;
  /** The connection and the work of the bot, while this process has the lease; otherwise `undefined`. */
  held(): { irc: IrcConnection; worker: Worker } | undefined;
}

/** What a bot does; `trouble` is what keeps a connected bot from doing it, in words. */
interface BotWork {
  start(): void;
  stop(): Promise<void>;
  readonly trouble?: string | null;
  /** How large the network is, as far as it asks. */
  readonly network?: NetworkSize | undefined;
}

/**
 * Prepares a bot and its work. It does not connect yet: `lease.start()` begins to ask for the lease. When this process
 * gets the lease, the bot connects and its work starts. When the lease ends, both stop.
 */
export function createBot<Worker extends BotWork>(
  config: Config,
  { log, logger, ircUrl, secrets, holder, dial }: BotParts,
  bot: {
    /** The name of the lease that decides which process runs the bot. */
    name: string;
    /** The nick that it wants. */
    nick: string;
    /** What WHOIS shows as its real name. */
    realname: string;
    /** Whether it is the one that is an IRC operator. It does for the others what only operators can do. */
    isOperator?: true;
    /** Options of its connection, over those that all bots have. */
    connection?: Partial<IrcConnectionOptions>;
    /** Makes its main work on a connection. It is called once for each time that this process gets the lease. */
    work(irc: IrcConnection): Worker;
    /** More work that starts after the main work, and stops before it. */
    beside?(worker: Worker, irc: IrcConnection): readonly Pick<BotWork, 'start' | 'stop'>[];
  },
): BotHold<Worker> {
  const { ircOper: oper } = secrets;
  const power = bot.isOperator ? (oper ? { oper } : {}) : { hands: createHands(log) };
  let held: { irc: IrcConnection; worker: Worker } | undefined;

  function begin() {
    const irc = new IrcConnection({
      url: ircUrl,
      nick: bot.nick,
      realname: bot.realname,
      ...(secrets.ircServerPassword ? { password: secrets.ircServerPassword } : {}),
      ...power,
      ...bot.connection,
      ...(dial ? { dial } : {}),
      log: logger,
    });
    const worker = bot.work(irc);
    held = { irc, worker };
    const beside = bot.beside?.(worker, irc) ?? [];
    worker.start();
    for (const one of beside) one.start();
    return {
      stop: async () => {
        await Promise.all(beside.map((one) => one.stop()));
        await worker.stop();
        held = undefined;
      },
    };
  }

  const state = (): RecorderState => {
    const offline = { connected: false, oper: false, nick: bot.nick, since: null, lastError: null };
    const { connected, oper, nick, since, lastError } = held?.irc.status() ?? offline;
    const named = nick === bot.nick ? null : `has to wait as ${nick}: its nick cannot be taken`;
    const trouble = connected ? (named ?? held?.worker.trouble ?? null) : (lastError ?? 'not connected yet');
    const network = held?.worker.network ?? null;
    return { connected, oper, nick, since: since?.getTime() ?? null, trouble, network };
  };
  const { NATS_REPLICAS: replicas } = config;
  return {
    lease: new Lease({ log, logger, name: bot.name, holder, replicas, begin, state }),
    held: () => held,
  };
}
