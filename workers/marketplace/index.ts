import type { Logger } from 'pino';
import { Answering } from '../irc/answering.js';
import type { IrcConnection } from '../irc/connection.js';
import { isIdentified } from '../irc/nick-account.js';
import { type Asker, answerToTaskCommand, type TaskCommandContext, taskCommandIn } from './commands.js';

export { type Claimant, readTask, type Task, type TaskMarket } from './tasks.js';

/** What task commands are answered with. */
export interface TaskCommandsOptions extends TaskCommandContext {
  /** The link of a nick (casefolded) with a wallet. */
  linkOf(nick: string): ReturnType<Asker['link']>;
  logger: Logger;
}

/**
 * Has the marketplace bot take `/tasks`, `/status`, `/claim` and `/help`, as private messages and as lines of its
 * channels, and answer each in private.
 */
export function takeTaskCommands(irc: IrcConnection, options: TaskCommandsOptions): void {
  const { logger, linkOf } = options;
  new Answering({
    irc,
    logger,
    commandIn: taskCommandIn,
    answer: async (session, line, command) => {
      const { nick } = line;
      const asker = {
        nick,
        isIdentified: () => isIdentified(session, line),
        link: () => linkOf(nick),
      };
      return await answerToTaskCommand(asker, command, options);
    },
  }).start();
}
