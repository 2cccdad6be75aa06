import type { Logger } from 'pino';
import { atMost } from '../../streams/core/clock.js';
import { isExpected, type Log, type Recorded, Refusal } from '../../streams/core/index.js';
import { casefold, isChannel } from '../../streams/irc-grammar.js';
import { type RefusalCode, refusals } from '../../streams/refusals.js';
import {
  isEnd,
  type LineEnd,
  lineDecider,
  lineSubject,
  lineSubjects,
  lineToken,
  type RequestedLine,
  type SpeechFact,
  speech,
} from '../../streams/speech/index.js';
import type { Takeover } from '../core/fact-consumer.js';
import { done } from '../core/keyed-queue.js';
import { Reactor, type Verdict } from '../core/reactor.js';
import { refusedByNetwork } from '../irc/refused.js';
import type { Agents } from './agents.js';
import type { EndedKeys } from './ended-keys.js';
import { EndedLines } from './ended-lines.js';
import type { OwnLines } from './own-lines.js';
import type { SaidLine, SayRequest } from './requests.js';

/** What lines are said with. */
export interface LinesOptions {
  log: Log;
  logger: Logger;
  agents: Agents;
  keys: EndedKeys;
  /** Learns the msgids of lines that were shown. */
  own: OwnLines;
  /** How long a line may wait to be said, in milliseconds; a minute by default. */
  ttlMs?: number;
}

/** A line in hand. */
interface Line extends RequestedLine {
  at: Date;
  by: string;
  /** It may have been heard: a connection, or a process, was lost after it was sent. */
  inDoubt: boolean;
  /** How often others had had the lines when it was last known whether it is in doubt. */
  term: number;
  /** It was requested recently, and its key was checked. */
  isNew: boolean;
  /** No answer to it came in time on a live connection. */
  unconfirmed: boolean;
  /** What became of it, when that is known and not yet on record. */
  end?: LineEnd;
}

const actor = 'speak';
const usualTtlMs = 60_000;
/** How long the caller waits for the end of a line, in milliseconds. */
const answerMs = 8_000;
const maxInHand = 2_000;
const atOnce = 500;
/** Lines of one agent that wait to be said. */
const mostWaiting = 20;
const notSaid: Verdict = { is: 'wait', afterMs: 0 };
const action = (text: string) => `\x01ACTION ${text}\x01`;

/**
 * Says what agents ask for. A line is first recorded, then said on the agent's own connection, in the order
 * of each conversation. Then its end is recorded. A line that may have been heard is looked for in the
 * history of its channel before it is said again. A line to a nick alone is not said again, because nothing
 * tells whether it was heard.
 */
export class Lines {
  readonly #options: LinesOptions;
  readonly #reactor: Reactor<typeof speech, Line>;
  /** The callers that wait for the end of a line, by its subject. */
  readonly #waiting = new Map<string, Set<(end: LineEnd) => void>>();
  /** Callers of each nick who wait for the end of a line. */
  readonly #open = new Map<string, number>();
  /** The lines in hand of each nick: also those that nobody waits for any more. */
  readonly #inHand = new Map<string, Set<string>>();
  readonly #ended = new EndedLines();
  /** Up to this sequence facts may have been handed out before the last takeover, and up to the other one to others. */
  #head = 0;
  #doubtful = 0;
  /** How many takeovers found that others had had the lines meanwhile, also those in hand here. */
  #term = 0;

  constructor(options: LinesOptions) {
    const { log, logger } = options;
    this.#options = options;
    this.#reactor = new Reactor({
      log,
      logger,
      maxInHand,
      atOnce,
      stream: speech,
      durable: actor,
      filter: lineSubjects,
      takeOver: async ({ head, ours, doubtful }: Takeover) => {
        this.#head = head;
        this.#doubtful = doubtful;
        if (!ours) this.#term += 1;
      },
      plan: (fact) => this.#plan(fact),
      handle: (line) => this.#handle(line),
    });
  }

  start(): void {
    this.#reactor.start();
  }

  /** Takes no more lines and lets those under way finish. Bounded. */
  async stop(): Promise<void> {
    await this.#reactor.stop();
  }

  /** Says a line. Answers what became of it, or that it is still waiting. Throws its refusal. */
  async ask({ key, by, ...line }: SayRequest): Promise<SaidLine> {
    const { log, agents } = this.#options;
    const { nick } = line;
    const person = line.person ?? (await agents.personOf(nick));
    const id = lineToken(nick, key);
    const subject = lineSubject(nick, id);
    const open = this.#open.get(casefold(nick)) ?? 0;
    if (open >= mostWaiting || !this.#mayWait(nick, id))
      throw new Refusal('rate_limited', `${mostWaiting} lines of ${nick} wait to be said`, { retryAfter: 5 });
    this.#count(nick, 1);
    const ended = this.#ending(subject);
    try {
      const { state } = await log.handle(
        speech,
        lineDecider,
        { is: 'ask', line: { ...line, id, person } },
        { by },
      );
      return said(id, state.end ?? (await atMost(ended.came, answerMs)));
    } finally {
      ended.forget();
      this.#count(nick, -1);
    }
  }

  #count(nick: string, by: number): void {
    const key = casefold(nick);
    const open = (this.#open.get(key) ?? 0) + by;
    if (open > 0) this.#open.set(key, open);
    else this.#open.delete(key);
  }

  /** Whether one more line of a nick may wait to be said. One that is in hand already is no more. */
  #mayWait(nick: string, id: string): boolean {
    const inHand = this.#inHand.get(casefold(nick));
    return !inHand || inHand.size < mostWaiting || inHand.has(id);
  }

  #take({ nick, id }: RequestedLine): void {
    const key = casefold(nick);
    const inHand = this.#inHand.get(key) ?? new Set();
    this.#inHand.set(key, inHand.add(id));
  }

  #letGo({ nick, id }: RequestedLine): void {
    const key = casefold(nick);
    const inHand = this.#inHand.get(key);
    inHand?.delete(id);
    if (inHand?.size === 0) this.#inHand.delete(key);
  }

  #ending(subject: string) {
    let give: (end: LineEnd) => void = () => {};
    const came = new Promise<LineEnd>((resolve) => (give = resolve));
    const waiting = this.#waiting.get(subject) ?? new Set();
    this.#waiting.set(subject, waiting.add(give));
    return {
      came,
      forget: () => {
        waiting.delete(give);
        if (waiting.size === 0) this.#waiting.delete(subject);
      },
    };
  }

  async #plan(fact: Recorded<SpeechFact>) {
    if (fact.type !== 'line.requested') return [];
    const { data, seq, at, by } = fact;
    // what came to its end before a takeover is handed out once more
    const isAgain = seq <= this.#head;
    if (isAgain && (this.#ended.has(data.id) || (await this.#endOf(data)))) return [];
    this.#take(data);
    const inDoubt = seq <= this.#doubtful;
    const item: Line = { ...data, at, by, inDoubt, term: this.#term, isNew: !isAgain, unconfirmed: false };
    return [{ key: `${casefold(data.nick)} ${casefold(data.to)}`, item }];
  }

  async #endOf({ nick, id }: RequestedLine): Promise<LineEnd | undefined> {
    const last = await this.#options.log.last(speech, lineSubject(nick, id));
    return last && isEnd(last) ? ({ type: last.type, data: last.data } as LineEnd) : undefined;
  }

  async #handle(line: Line): Promise<Verdict> {
    const came = line.end ?? (await this.#say(line));
    if ('is' in came) return came;
    // known from here on: a log that is away has it recorded again, not said again
    line.end = came;
    const { nick } = line;
    const command = { is: 'end' as const, nick, end: came };
    const { state } = await this.#options.log.handle(speech, lineDecider, command, { by: actor });
    this.#ended.add(line.id);
    this.#letGo(line);
    for (const give of this.#waiting.get(lineSubject(nick, line.id)) ?? []) give(state.end ?? came);
    return done;
  }

  /** One try: what became of the line, or when to try again. */
  async #say(line: Line): Promise<LineEnd | Verdict> {
    const { agents, keys, own, log, ttlMs = usualTtlMs } = this.#options;
    // another process may have the lines, and say later ones than this
    await this.#reactor.whenReading();
    if (this.#reactor.stopping.aborted) return notSaid;
    if (line.term !== this.#term) line.inDoubt = true;
    line.term = this.#term;
    const { id, inDoubt } = line;
    const keyHasEnded = !line.isNew && (await keys.has(line.by));
    line.isNew = false;
    const toChannel = isChannel(line.to);
    const isInTime = () => log.now().getTime() - line.at.getTime() <= ttlMs;
    // nothing tells whether a private line was heard
    if (keyHasEnded || !isInTime() || (inDoubt && !toChannel)) return expired(id, inDoubt);
    try {
      const agent = await agents.ready(line, line.at);
      if (toChannel) await agents.moves.join(agent, line.to, line.by, isInTime);
      if (!isInTime()) return expired(id, inDoubt);
      const room = toChannel ? await agent.enter(line.to) : undefined;
      // also where no doubt is known of here: a process that had the agent before may have said it
      if (room?.shown?.has(id)) return shown(id, 'history', null);
      // the process that had the line before can say nothing more now, but may have recorded an end
      const end = inDoubt ? await this.#endOf(line) : undefined;
      if (end) return end;
      if (inDoubt && room?.shown === null) return expired(id, inDoubt);
      if (line.unconfirmed) return refused(id, 'refused_by_network', 'The network does not answer');
      const session = room?.session ?? (await agent.session());
      if (!this.#reactor.reading || line.term !== this.#term) return notSaid;
      // the ways into a session and a channel may be long
      if (!isInTime()) return expired(id, inDoubt);
      line.inDoubt = false;
      const text = line.action ? action(line.text) : line.text;
      const reply = line.reply_to?.msgid ?? undefined;
      const outcome = await (toChannel
        ? session.say(line.to, text, id, reply)
        : session.tell(line.to, text, id, reply));
      const isUnanswered = line.reply_to !== undefined && (reply === undefined || !session.carriesReplies);
      switch (outcome.is) {
        case 'confirmed':
          if (outcome.msgid !== null) own.add(line.nick, outcome.msgid);
          return shown(id, 'echo', outcome.msgid, isUnanswered);
        case 'refused':
          return refused(id, 'refused_by_network', `${outcome.code} ${outcome.error}`);
        case 'unconfirmed':
          line.inDoubt = true;
          line.unconfirmed = true;
          return { is: 'wait', afterMs: 0 };
        case 'lost':
          line.inDoubt = outcome.written;
          return { is: 'wait', afterMs: 0 };
      }
    } catch (error) {
      if (isExpected(error) && error.kind === 'refusal') return refused(id, error.code, error.message);
      throw error;
    }
  }
}

const shown = (id: string, via: 'echo' | 'history', msgid: string | null, isUnanswered = false): LineEnd => ({
  type: 'line.shown',
  data: { id, via, msgid, ...(isUnanswered ? { unanswered: true } : {}) },
});

const expired = (id: string, in_doubt: boolean): LineEnd => ({
  type: 'line.expired',
  data: { id, in_doubt },
});

const refused = (id: string, code: string, error: string): LineEnd => ({
  type: 'line.refused',
  data: { id, code, error },
});

function said(id: string, end: LineEnd | undefined): SaidLine {
  if (!end) return { id, is: 'pending' };
  switch (end.type) {
    case 'line.shown':
      return { id, is: 'shown', msgid: end.data.msgid, unanswered: end.data.unanswered };
    case 'line.expired':
      return { id, is: 'expired', in_doubt: end.data.in_doubt };
    case 'line.refused':
      throw refusalOf(end.data);
  }
}

/** The refusal that is on record, with what to do about it. */
function refusalOf({ code, error }: { code: string; error: string }): Refusal {
  if (code === 'refused_by_network' || !(code in refusals)) return refusedByNetwork(error);
  // a line to a channel is the only one that is refused so
  return new Refusal(code === 'not_found' ? 'channel_not_found' : (code as RefusalCode), error);
}
