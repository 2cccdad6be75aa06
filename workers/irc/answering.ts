import type { Logger } from 'pino';
import { atMost, clock } from '../../streams/core/clock.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold, cleanText, cutToBytes, isNick } from '../../streams/irc-grammar.js';
import { RateLimit } from './command-rate.js';
import type { IrcConnection } from './connection.js';
import type { IrcLine } from './line.js';
import type { Session } from './session.js';

/** What a bot answers. */
export interface AnsweringOptions {
  irc: IrcConnection;
  logger: Logger;
  /** The command in a line; `undefined` without one. `isPrivate`: the line was sent to the bot alone. */
  commandIn(text: string, isPrivate: boolean): string | undefined;
  /** The lines of the answer. */
  answer(session: Session, line: IrcLine, command: string): Promise<readonly string[]>;
}

/** Lines that wait for their answer, of all callers together. Beyond that, lines are not read. */
const mostWaiting = 500;
const stopBoundMs = 3_000;
/** Bytes of a line of an answer, so that it fits after any prefix. */
const answerBytes = 380;

/**
 * A bot that answers commands in notices to their senders. The commands of one nick are answered in order,
 * and not faster than `RateLimit` allows.
 */
export class Answering {
  readonly #options: AnsweringOptions;
  readonly #locks = new KeyedLock();
  readonly #rate = new RateLimit();
  readonly #waiting = new Set<Promise<void>>();

  constructor(options: AnsweringOptions) {
    this.#options = options;
  }

  start(): void {
    this.#options.irc.on('line', this.#receive);
  }

  /** Reads no more, and answers what is in hand. Bounded. */
  async stop(): Promise<void> {
    this.#options.irc.off('line', this.#receive);
    await atMost(Promise.all(this.#waiting), stopBoundMs);
  }

  readonly #receive = (line: IrcLine): void => {
    const { irc, commandIn } = this.#options;
    const session = irc.session();
    const [target = '', text = ''] = line.params;
    // a server's own lines have no nick; a CTCP is not a command
    if (line.command !== 'PRIVMSG' || !session || !isNick(line.nick) || text.startsWith('\x01')) return;
    const [nick, own] = [line.nick, session.nick].map(casefold);
    const command = nick === own ? undefined : commandIn(text.trim(), casefold(target) === own);
    if (command === undefined || this.#waiting.size >= mostWaiting) return;
    const verdict = this.#rate.take(nick!);
    if (verdict === 'drop') return;
    const work = this.#locks.run(nick!, async () => {
      const answer =
        verdict === 'go' ? await this.#answer(session, line, command) : ['Not so fast: wait a few seconds'];
      for (const text of answer) await say(session, line.nick, text);
    });
    this.#waiting.add(work);
    void work.finally(() => this.#waiting.delete(work));
  };

  async #answer(session: Session, line: IrcLine, command: string): Promise<readonly string[]> {
    const { logger, answer } = this.#options;
    const started = clock.elapsed();
    // only the word: what follows may be a credential
    const word = /^\/?([A-Za-z]{1,10})/.exec(command)?.[1]?.toUpperCase();
    try {
      const lines = await answer(session, line, command);
      logger.info({ nick: line.nick, command: word, ms: Math.round(clock.elapsed() - started) }, 'command');
      return lines;
    } catch (error) {
      logger.error({ nick: line.nick, command: word, err: error }, 'command failed');
      return ['Something went wrong: try again later'];
    }
  }
}

async function say(session: Session, nick: string, text: string): Promise<void> {
  // a sender who has left meanwhile, or lost us, gets no answer
  await session.command('NOTICE', nick, cutToBytes(cleanText(text), answerBytes)).catch(() => {});
}
