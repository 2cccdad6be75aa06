import type { Logger } from 'pino';
import { boundedCache, type Log } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { readAddressLine } from '../../streams/groups/index.js';
import { casefold, cleanText, cutToBytes, isChannel, isNick, namesNick } from '../../streams/irc-grammar.js';
import { personOf } from '../../streams/moderation/index.js';
import { inboxSubjects, type ReceivedMessage, inbox as stream } from '../../streams/speech/index.js';
import { Recorder } from '../core/record.js';
import { RateLimit } from '../irc/command-rate.js';
import { type IrcLine, replyTag } from '../irc/line.js';
import type { Agent } from './agent.js';
import type { OwnLines } from './own-lines.js';

const mostBytes = 500;
/**
 * What one person may say to an agent at once, and after how many milliseconds one message more. So whatever nicks the person
 * has, the messages of others stay in the inbox for minutes.
 */
const ofPerson = { burst: 60, everyMs: 1_000 };
/** Messages that wait for the log at most. */
const mostWaiting = 5_000;

/**
 * Records what is said to an agent: private messages, lines of channels that name it or answer it, invitations, and its
 * removal from a channel. If one nick, or one person under several, writes faster than a person reads, only the beginning
 * is recorded.
 */
export class Inbox {
  readonly #logger: Logger;
  readonly #own: OwnLines;
  readonly #rate = new RateLimit();
  readonly #ofPerson = new RateLimit(ofPerson);
  readonly #stop = new AbortController();
  readonly #recorder: Recorder;
  /** What is said to one agent is recorded in the order in which it was heard. */
  readonly #locks = new KeyedLock();
  /** Nick of the bot that says who is meant by a group. */
  readonly #bridge: string;
  /** Lines with a group in them that were heard lately, by channel and msgid. */
  readonly #calls = boundedCache<string, Omit<ReceivedMessage, 'is' | 'group'>>(mostCalls);
  #waiting = 0;

  constructor(log: Log, logger: Logger, bridge: string, own: OwnLines) {
    this.#logger = logger;
    this.#bridge = casefold(bridge);
    this.#own = own;
    this.#recorder = new Recorder(log, logger, this.#stop.signal);
  }

  /** A log that is away is not waited for any more. */
  stop(): void {
    this.#stop.abort();
  }

  /** Takes one line that an agent hears. */
  take({ nick, person }: Agent, line: IrcLine): void {
    const named = this.#namedIn(line);
    const take = (message: ReceivedMessage | undefined) =>
      message && this.#mayBeHeard(nick, message, line) && this.#record(nick, { ...message, person });
    if (named) take(this.#called(nick, line, named));
    else if (answerOf(line) === undefined) take(messageIn(nick, line));
    else this.#own.whenKnown(() => take(messageIn(nick, line, this.#own)));
  }

  /** Whether a message is recorded, or its sender writes too fast. */
  #mayBeHeard(nick: string, { from }: ReceivedMessage, line: IrcLine): boolean {
    const to = casefold(nick);
    let came = this.#rate.take(`${to} ${casefold(from)}`);
    const person = personIn(line);
    if (came === 'go' && person !== undefined) came = this.#ofPerson.take(`${to} ${person}`);
    if (came === 'tell')
      this.#logger.warn(
        { nick, from },
        'messages to an agent are not recorded: their sender writes too fast',
      );
    return came === 'go';
  }

  #record(nick: string, message: ReceivedMessage): void {
    if (this.#waiting >= mostWaiting) {
      this.#logger.error({ nick, from: message.from }, 'a message to an agent was not recorded');
      return;
    }
    this.#waiting += 1;
    const fact = { type: 'message.received' as const, data: message };
    const recorded = { stream, subject: inboxSubjects(nick).now, fact, by: 'gateway' };
    // a fact that is tried again must not come after the next one
    const work = this.#locks.run(casefold(nick), () => this.#recorder.record(recorded));
    const failed = (err: unknown) =>
      this.#logger.error({ nick, from: message.from, err }, 'a message to an agent was not recorded');
    void work.catch(failed).finally(() => (this.#waiting -= 1));
  }

  /** Who is meant by a group, where the bridge says so in this line. A line that may address one is remembered. */
  #namedIn({ nick, command, params, tags }: IrcLine): Named | undefined {
    const [channel = '', text = ''] = params;
    if (command !== 'PRIVMSG' || !isChannel(channel) || tags.batch !== undefined) return undefined;
    if (casefold(nick) === this.#bridge) return readAddressLine(text);
    const { msgid, account = null } = tags;
    const said = saidIn(text);
    if (msgid !== undefined && said?.includes('@'))
      this.#calls.set(keyOf(channel, msgid), { from: nick, account, channel, text: said, msgid });
    return undefined;
  }

  /** The line that addresses an agent as one of a group; the line of the bridge, where that one was not heard. */
  #called(nick: string, line: IrcLine, { groups: group, nicks }: Named): ReceivedMessage | undefined {
    if (!nicks.some((one) => casefold(one) === casefold(nick))) return undefined;
    const [channel = '', text = ''] = line.params;
    const call = this.#calls.get(keyOf(channel, line.tags[replyTag] ?? ''));
    if (!call) return { ...messageOf(line, 'mention', channel, text), group };
    // a line that names it by its nick too is in its inbox already
    if (namesNick(casefold(call.text), casefold(nick))) return undefined;
    return { is: 'mention', ...call, text: cutToBytes(cleanText(call.text), mostBytes), group };
  }
}

type Named = NonNullable<ReturnType<typeof readAddressLine>>;
/** Lines with a group that are remembered. */
const mostCalls = 1_000;

const keyOf = (channel: string, msgid: string) => `${casefold(channel)} ${msgid}`;

/** Who is held responsible for a line, whatever nicks they have; nobody on this machine, where many share one host. */
function personIn({ nick, hostname, tags: { account } }: IrcLine): string | undefined {
  if (account === undefined && (hostname === '' || /^127\.|^::1$|^localhost$/.test(hostname)))
    return undefined;
  return personOf({ nick, host: hostname, account });
}

/** What a line says; `undefined` for other lines with this mark: they are questions to a program, not to an agent. */
function saidIn(text: string): string | undefined {
  return /^\x01ACTION (.*?)\x01?$/.exec(text)?.[1] ?? (text.startsWith('\x01') ? undefined : text);
}

function messageOf(
  { nick, hostname, tags }: IrcLine,
  is: ReceivedMessage['is'],
  channel: string | null,
  text: string,
): ReceivedMessage {
  return {
    is,
    from: nick || hostname,
    account: tags.account ?? null,
    channel,
    text: cutToBytes(cleanText(text), mostBytes),
    msgid: tags.msgid ?? null,
  };
}

/** The msgid of the line that a line answers, by the word of its speaker. */
const answerOf = ({ tags }: IrcLine): string | undefined => tags[replyTag] ?? tags['+reply'];

/** The message of a line to an agent, if it is one. `ownLines` tells whether a line that is answered is the agent's. */
function messageIn(
  nick: string,
  line: IrcLine,
  ownLines?: Pick<OwnLines, 'has'>,
): ReceivedMessage | undefined {
  const { nick: from, params, tags, command } = line;
  const [first = '', second = '', third = ''] = params;
  if (casefold(from) === casefold(nick) || tags.batch !== undefined) return undefined;
  // what operators have done to somebody, the server does
  if (!isNick(from) && command !== 'KICK') return undefined;
  const answered = answerOf(line);
  const own = answered !== undefined && ownLines?.has(nick, answered) ? { reply_to: answered } : {};
  const told = (is: ReceivedMessage['is'], channel: string | null, text: string): ReceivedMessage => ({
    ...messageOf(line, is, channel, text),
    ...own,
  });
  switch (command) {
    case 'PRIVMSG': {
      const text = saidIn(second);
      if (text === undefined) return undefined;
      if (casefold(first) === casefold(nick)) return told('private', null, text);
      const isMeant = 'reply_to' in own || namesNick(casefold(text), casefold(nick));
      return isChannel(first) && isMeant ? told('mention', first, text) : undefined;
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
