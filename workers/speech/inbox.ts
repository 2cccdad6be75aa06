import type { Logger } from 'pino';
import { clock } from '../../streams/core/clock.js';
import type { Log } from '../../streams/core/index.js';
import { casefold, cleanText, cutToBytes, isChannel, isNick, namesNick } from '../../streams/irc-grammar.js';
import { inboxSubjects, type ReceivedMessage, inbox as stream } from '../../streams/speech/index.js';
import { Recorder } from '../core/record.js';
import { RateLimit } from '../irc/command-rate.js';
import type { IrcLine } from '../irc/line.js';
import type { Agent } from './agent.js';

const mostBytes = 500;
/** Messages that wait for the log at most. */
const mostWaiting = 5_000;

/**
 * Records what is said to an agent: private messages, lines of channels that name it, invitations, and its
 * removal from a channel. If one sender writes faster than a person reads, only the beginning is recorded.
 */
export class Inbox {
  readonly #logger: Logger;
  readonly #rate = new RateLimit();
  readonly #stop = new AbortController();
  readonly #recorder: Recorder;
  #waiting = 0;

  constructor(log: Log, logger: Logger) {
    this.#logger = logger;
    this.#recorder = new Recorder(log, logger, this.#stop.signal);
  }

  /** A log that is away is not waited for any more. */
  stop(): void {
    this.#stop.abort();
  }

  /** Takes one line that an agent hears. */
  take({ nick }: Agent, line: IrcLine): void {
    const message = messageIn(nick, line);
    if (!message) return;
    const pair = `${casefold(nick)} ${casefold(message.from)}`;
    if (this.#rate.take(pair, clock.now()) !== 'go') return;
    if (this.#waiting >= mostWaiting) {
      this.#logger.error({ nick, from: message.from }, 'a message to an agent was not recorded');
      return;
    }
    this.#waiting += 1;
    const fact = { type: 'message.received' as const, data: message };
    const work = this.#recorder.record({ stream, subject: inboxSubjects(nick).now, fact, by: 'gateway' });
    void work.finally(() => (this.#waiting -= 1));
  }
}

/** The message of a line to an agent, if it is one. */
export function messageIn(nick: string, line: IrcLine): ReceivedMessage | undefined {
  const { nick: from, params, tags, command } = line;
  const [first = '', second = '', third = ''] = params;
  if (!isNick(from) || casefold(from) === casefold(nick) || tags.batch !== undefined) return undefined;
  const told = (is: ReceivedMessage['is'], channel: string | null, text: string): ReceivedMessage => ({
    is,
    from,
    account: tags.account ?? null,
    channel,
    text: cutToBytes(cleanText(text), mostBytes),
    msgid: tags.msgid ?? null,
  });
  switch (command) {
    case 'PRIVMSG': {
      const action = /^\x01ACTION (.*?)\x01?$/.exec(second)?.[1];
      // other lines with this mark are questions to a program, not to an agent
      if (action === undefined && second.startsWith('\x01')) return undefined;
      const text = action ?? second;
      if (casefold(first) === casefold(nick)) return told('private', null, text);
      return isChannel(first) && namesNick(casefold(text), casefold(nick))
        ? told('mention', first, text)
        : undefined;
    }
    case 'NOTICE':
      return casefold(first) === casefold(nick) ? told('private', null, second) : undefined;
    case 'INVITE':
      return casefold(first) === casefold(nick) ? told('invite', second, '') : undefined;
    case 'KICK':
      return casefold(second) === casefold(nick) ? told('kick', first, third) : undefined;
  }
  return undefined;
}
