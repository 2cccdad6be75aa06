import type { Logger } from 'pino';
import type { Log } from '../../streams/core/index.js';
import { isNick } from '../../streams/irc-grammar.js';
import { answerRequests, request } from '../core/rpc.js';
import type { IrcConnection } from '../irc/connection.js';

/** Somebody who has identified with the nick service, or, without an account, has logged out. */
export interface Identified {
  nick: string;
  host: string;
  account?: string;
}

/** Name under which the guard hears of it. */
const guardService = 'guardian';
const answerMs = 5_000;

/**
 * Has a bot tell the guard who identifies or logs out in its channels. Nobody waits for it: what is missed is seen at their next
 * line.
 */
export function tellIdentified(irc: IrcConnection, { log, logger }: { log: Log; logger: Logger }): void {
  irc.on('line', ({ command, nick, ident, hostname, params: [account = '*'] }) => {
    if (command !== 'ACCOUNT' || !isNick(nick)) return;
    const identified: Identified = {
      nick,
      host: `${ident}@${hostname}`,
      ...(account === '*' ? {} : { account }),
    };
    request({ log, name: guardService, timeoutMs: answerMs }, 'identified', identified).catch(
      (err: unknown) =>
        logger.debug({ nick, err }, 'the guard does not hear who has identified or logged out'),
    );
  });
}

/** Hears who identifies or logs out, until `stop`. */
export class HearIdentified {
  readonly #options: { log: Log; logger: Logger };
  readonly #heard: (seen: Identified) => Promise<unknown>;
  #answering: { stop(): Promise<void> } | undefined;

  constructor(options: { log: Log; logger: Logger }, heard: (seen: Identified) => Promise<unknown>) {
    this.#options = options;
    this.#heard = heard;
  }

  start(): void {
    const identified = async (seen: Identified) => {
      await this.#heard(seen);
      return {};
    };
    this.#answering = answerRequests({ ...this.#options, service: guardService, operations: { identified } });
  }

  async stop(): Promise<void> {
    await this.#answering?.stop();
  }
}
