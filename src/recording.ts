import type { Logger } from 'pino';
import type { Log } from '../streams/core/index.js';
import { Lease } from '../workers/core/lease.js';
import { IrcConnection } from '../workers/irc/index.js';
import { RecordIrc } from '../workers/record-irc/index.js';
import type { Config } from './config.js';
import type { RecorderState } from './services/irc-state.js';
import type { Surroundings } from './surroundings.js';

/** Makes the bridge's bot and what it records ready to be held by one process at a time; `start()` begins to try. */
export function createRecording(
  config: Config,
  parts: Pick<Surroundings, 'ircUrl' | 'secrets' | 'holder'> & { log: Log; logger: Logger },
): Lease {
  const { log, logger, ircUrl, secrets, holder } = parts;
  let irc: IrcConnection | undefined;

  function begin() {
    irc = new IrcConnection({
      url: ircUrl,
      nick: config.BRIDGE_NICK,
      realname: 'bridge',
      ...(secrets.ircServerPassword ? { password: secrets.ircServerPassword } : {}),
      ...(secrets.ircOper ? { oper: secrets.ircOper } : {}),
      log: logger,
    });
    const recorder = new RecordIrc({ log, irc, channels: config.IRC_CHANNELS, logger });
    recorder.start();
    return {
      stop: async () => {
        await recorder.stop();
        irc = undefined;
      },
    };
  }

  return new Lease({
    log,
    logger,
    name: 'record-irc',
    holder,
    replicas: config.NATS_REPLICAS,
    begin,
    state: (): RecorderState => {
      const offline = { connected: false, oper: false, nick: config.BRIDGE_NICK, since: null };
      const { connected, oper, nick, since } = irc?.status() ?? offline;
      return { connected, oper, nick, since: since?.getTime() ?? null };
    },
  });
}
