import type { Logger } from 'pino';
import type { Read } from '../../projections/core/projection.js';
import { type IdentityLink, linkOfNick } from '../../projections/identity/queries.js';
import { atMost, clock } from '../../streams/core/clock.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold, cleanText, cutToBytes, isNick } from '../../streams/irc-grammar.js';
import type { IrcConnection } from '../irc/connection.js';
import type { IrcLine } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { isIdentified } from './caller.js';
import { answerTo, type CommandContext } from './commands.js';
import { RateLimit } from './rate-limit.js';
import type { IdentityRegistry } from './registry.js';

export { type AgentIds, type Asking, IdentityRegistry, type IdentityRegistryOptions } from './registry.js';

/** What the worker works with. */
export interface IdentifyOptions {
  irc: IrcConnection;
  registry: IdentityRegistry;
  /** Of links. */
  read: Read;
  logger: Logger;
}

/** Lines that wait for their answer, of all callers together; what comes beyond it is not read. */
const mostWaiting = 500;
const stopBoundMs = 3_000;
/** Of an answer, so that it fits one line behind any prefix. */
const answerBytes = 380;

/**
 * The identity bot: answers private messages with the commands of the registry, each with one notice. The lines of
 * one nick are answered in their order.
 */
export class Identify {
  readonly #options: IdentifyOptions;
  readonly #locks = new KeyedLock();
  readonly #rate = new RateLimit();
  readonly #waiting = new Set<Promise<void>>();
  readonly #context: CommandContext;

  constructor(options: IdentifyOptions) {
    const { registry, read } = options;
    this.#options = options;
    this.#context = {
      registry,
      linkOf: (nick): Promise<IdentityLink | undefined> =>
        read((sql, schema) => linkOfNick(sql, schema, nick), registry.position),
    };
  }

  start(): void {
    const { irc } = this.#options;
    irc.on('line', (line) => this.#receive(line));
    irc.start();
  }

  /** Reads no more, answers what is in hand and leaves the network. Bounded. */
  async stop(): Promise<void> {
    const { irc } = this.#options;
    irc.removeAllListeners('line');
    await atMost(Promise.all(this.#waiting), stopBoundMs);
    await irc.stop();
  }

  #receive(line: IrcLine): void {
    const session = this.#options.irc.session();
    const [target = '', text = ''] = line.params;
    // a server's own lines have no nick; a CTCP is no command
    if (line.command !== 'PRIVMSG' || !session || !isNick(line.nick) || text.startsWith('\x01')) return;
    if (casefold(target) !== casefold(session.nick) || casefold(line.nick) === casefold(session.nick)) return;
    if (this.#waiting.size >= mostWaiting) return;
    const nick = casefold(line.nick);
    const verdict = this.#rate.take(nick, clock.now());
    if (verdict === 'drop') return;
    const work = this.#locks.run(nick, () =>
      verdict === 'go'
        ? this.#answer(session, line, text)
        : this.#say(session, line.nick, 'Not so fast: wait some seconds'),
    );
    this.#waiting.add(work);
    void work.finally(() => this.#waiting.delete(work));
  }

  async #answer(session: Session, line: IrcLine, text: string): Promise<void> {
    const { logger } = this.#options;
    const caller = { nick: line.nick, isIdentified: () => isIdentified(session, line) };
    const started = clock.elapsed();
    const word = /^\s*([A-Za-z]{1,10})/.exec(text)?.[1]?.toUpperCase();
    try {
      await this.#say(session, line.nick, await answerTo(caller, text, this.#context));
      logger.info({ nick: line.nick, command: word, ms: Math.round(clock.elapsed() - started) }, 'command');
    } catch (error) {
      logger.error({ nick: line.nick, command: word, err: error }, 'command failed');
      await this.#say(session, line.nick, 'Something went wrong: try again later');
    }
  }

  async #say(session: Session, nick: string, text: string): Promise<void> {
    // whoever has left meanwhile, and whoever lost us, gets no answer
    await session.command('NOTICE', nick, cutToBytes(cleanText(text), answerBytes)).catch(() => {});
  }
}
