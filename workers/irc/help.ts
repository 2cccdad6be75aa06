import type { Logger } from 'pino';
import { Answering } from './answering.js';
import type { IrcConnection } from './connection.js';

/** Has a bot answer `HELP`, sent to it alone, with what it is and where there is more to read. */
export function answerHelp(irc: IrcConnection, logger: Logger, lines: readonly string[]): void {
  new Answering({
    irc,
    logger,
    commandIn: (text, isPrivate) => (isPrivate && /^\/?help\b/i.test(text) ? text : undefined),
    answer: async () => lines,
  }).start();
}
