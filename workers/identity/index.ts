import type { Logger } from 'pino';
import type { Read } from '../../projections/core/projection.js';
import { type IdentityLink, linkOfNick } from '../../projections/identity/queries.js';
import { personOf } from '../../streams/moderation/index.js';
import { Answering } from '../irc/answering.js';
import type { IrcConnection } from '../irc/connection.js';
import type { IrcLine } from '../irc/line.js';
import { isIdentified } from '../irc/nick-account.js';
import type { Session } from '../irc/session.js';
import { answerTo, type CommandContext, type OtherCommand } from './commands.js';
import type { IdentityRegistry } from './registry.js';

export type { ChallengeRecords } from './challenges.js';
export type { OtherCommand } from './commands.js';
export { type AgentIds, type Asking, IdentityRegistry, type IdentityRegistryOptions } from './registry.js';

/** What the worker works with. */
export interface IdentifyOptions {
  irc: IrcConnection;
  registry: IdentityRegistry;
  changes: CommandContext['changes'];
  attempts: CommandContext['attempts'];
  /** Reads the read model of links. */
  read: Read;
  /** Commands besides its own, by their words in capitals. */
  others: Readonly<Record<string, OtherCommand>>;
  logger: Logger;
}

/** The identity bot: answers private messages with the commands of the registry, each with one notice. */
export class Identify {
  readonly #irc: IrcConnection;
  readonly #answering: Answering;

  constructor({ irc, registry, changes, attempts, read, others, logger }: IdentifyOptions) {
    const context: CommandContext = {
      registry,
      changes,
      attempts,
      others,
      linkOf: (nick): Promise<IdentityLink | undefined> =>
        read((sql, schema) => linkOfNick(sql, schema, nick), registry.position),
    };
    this.#irc = irc;
    this.#answering = new Answering({
      irc,
      logger,
      commandIn: (text, isPrivate) => (isPrivate ? text : undefined),
      answer: async (session, line, text) => {
        const caller = {
          nick: line.nick,
          isIdentified: () => isIdentified(session, line),
          person: () => personOfLine(session, line),
        };
        return [await answerTo(caller, text, context)];
      },
    });
  }

  start(): void {
    this.#answering.start();
    this.#irc.start();
  }

  /** Reads no more, answers what is in hand and leaves the network. Bounded. */
  async stop(): Promise<void> {
    await this.#answering.stop();
    await this.#irc.stop();
  }
}

/** Who has sent a line: by account, else by host. Where servers put no accounts on messages, the nick service is asked. */
async function personOfLine(session: Session, line: IrcLine): Promise<string> {
  const { nick, hostname, tags } = line;
  const account = tags.account ?? ((await isIdentified(session, line)) ? nick : undefined);
  return personOf({ nick, host: hostname || undefined, account });
}
