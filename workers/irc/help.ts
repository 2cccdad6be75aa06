import type { Logger } from 'pino';
import { Answering } from './answering.js';
import type { IrcConnection } from './connection.js';

/**
 * Has a bot answer `HELP`, sent to it alone, with what it is and where there is more to read. `other` answers every other
 * message that is sent to it alone: `undefined` for what somebody else answers.
 */
export function answerHelp(
  irc: IrcConnection,
  logger: Logger,
  lines: readonly string[],
  other: (text: string) => string | undefined = () => undefined,
): void {
  const answerTo = (text: string): readonly string[] => {
    if (/^\/?help\b/i.test(text)) return lines;
    const said = text === '' ? undefined : other(text);
    return said === undefined ? [] : [said];
  };
  new Answering({
    irc,
    logger,
    commandIn: (text, isPrivate) => (isPrivate && answerTo(text).length > 0 ? text : undefined),
    answer: async (_session, _line, text) => answerTo(text),
  }).start();
}
