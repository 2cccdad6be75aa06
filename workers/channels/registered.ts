import { atMost } from '../../streams/core/clock.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold, isNick } from '../../streams/irc-grammar.js';
import type { IrcConnection } from '../irc/connection.js';
import { type IrcLine, textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';

const nickService = 'NickServ';
const answerMs = 2_000;

/** Asks the nick service since when accounts are registered, one after another: its answers do not say to what. */
export class Registrations {
  readonly #irc: Pick<IrcConnection, 'on' | 'off'>;
  readonly #lock = new KeyedLock();

  constructor(irc: Pick<IrcConnection, 'on' | 'off'>) {
    this.#irc = irc;
  }

  /** When an account was registered, in milliseconds; null if the nick service does not say. */
  async of(session: Session, account: string): Promise<number | null> {
    if (!isNick(account)) return null;
    return await this.#lock.run('', () => this.#ask(session, account));
  }

  async #ask(session: Session, account: string): Promise<number | null> {
    let resolve: (at: number | null) => void = () => {};
    const answered = new Promise<number | null>((give) => (resolve = give));
    let isTheirs = false;
    const see = (line: IrcLine): void => {
      if (line.command !== 'NOTICE' || casefold(line.nick) !== casefold(nickService)) return;
      const text = casefold(textOf(line).replace(/[\x02\x1f]/g, ''));
      // an answer that was given up before may still come
      if (text.split(/[\s()]+/).includes(casefold(account))) isTheirs = true;
      if (!isTheirs) return;
      const since = /^\s*registered\s*:\s*(.*?)\s*(?:\(|$)/.exec(text)?.[1];
      if (since !== undefined) resolve(Date.parse(since) || null);
      else if (/(?:isn['’]t|is not) registered/.test(text)) resolve(null);
    };
    this.#irc.on('line', see);
    try {
      const { error } = await session.ask('PRIVMSG', nickService, `INFO ${account}`);
      return error ? null : ((await atMost(answered, answerMs)) ?? null);
    } finally {
      this.#irc.off('line', see);
    }
  }
}
