import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { atMost } from '../../streams/core/clock.js';
import { isExpected, type Log, type Recorded, Refusal } from '../../streams/core/index.js';
import { casefold, isChannel } from '../../streams/irc-grammar.js';
import { type RefusalCode, refusals } from '../../streams/refusals.js';
import {
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
import { Reactor, type Verdict } from '../core/reactor.js';
import type { Agents } from './agents.js';
import { personOf } from './introduction.js';
import type { SaidLine, SayRequest } from './requests.js';

/** What lines are said with. */
export interface LinesOptions {
  log: Log;
  logger: Logger;
  agents: Agents;
  /** How long a line may wait to be said, in milliseconds; a minute by default. */
  ttlMs?: number;
}

/** A line in hand. */
interface Line extends RequestedLine {
  at: Date;
  by: string;
  /** It may have been heard: a connection, or a process, was lost behind it. */
  inDoubt: boolean;
  /** It was asked for a moment ago, and its key looked at. */
  isNew: boolean;
  /** No answer to it came in time on a connection that lives. */
  unconfirmed: boolean;
}

const actor = 'speak';
const usualTtlMs = 60_000;
/** How long who asked waits for the end of a line, in milliseconds. */
const answerMs = 8_000;
const maxInHand = 2_000;
const atOnce = 500;
/** Lines of one agent that wait to be said. */
const mostWaiting = 20;
const mostEnds = 5_000;
const action = (text: string) => `\x01ACTION ${text}\x01`;

/**
 * Says what agents ask for: recorded first, then said on the agent's own connection, in the order of each conversation,
 * and its end recorded. A line that was perhaps heard is looked for in the history of its channel before it is said again;
 * one to a nick alone is not said again, because nothing tells whether it was heard.
 */
export class Lines {
  readonly #options: LinesOptions;
  readonly #reactor: Reactor<typeof speech, Line>;
  /** Who waits for the end of a line, by its subject. */
  readonly #waiting = new Map<string, Set<(end: LineEnd) => void>>();
  /** Ends that may not be on record yet, by the subject of their line. */
  readonly #ends = new LRUCache<string, LineEnd>({ max: mostEnds });
  /** Lines of each nick that are not at their end, of those asked for here. */
  readonly #open = new Map<string, number>();
  /** What was in somebody's hands before: up to this sequence. */
  #head = 0;
  #isOurs = false;

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
      takeOver: async ({ head, ours }: Takeover) => {
        this.#head = head;
        this.#isOurs = ours;
      },
      plan: (fact) => this.#plan(fact),
      handle: (line) => this.#say(line),
    });
  }

  start(): void {
    this.#reactor.start();
  }

  /** Takes no more lines and lets those under way come to their end. Bounded. */
  async stop(): Promise<void> {
    await this.#reactor.stop();
  }

  /** Has a line said, and tells what became of it, or that it is still waiting. Throws its refusal. */
  async ask({ key, by, ...line }: SayRequest): Promise<SaidLine> {
    const { log } = this.#options;
    const { nick, person = personOf(`nick ${casefold(nick)}`) } = line;
    const id = lineToken(nick, key);
    const subject = lineSubject(nick, id);
    const open = this.#open.get(casefold(nick)) ?? 0;
    if (open >= mostWaiting)
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
      const end = state.end ?? this.#ends.get(subject) ?? (await atMost(ended.came, answerMs));
      return said(id, end);
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
    const wasInHands = seq <= this.#head && !this.#isOurs;
    if (wasInHands && (await this.#endOf(data))) return [];
    const item: Line = { ...data, at, by, inDoubt: wasInHands, isNew: !wasInHands, unconfirmed: false };
    return [{ key: `${casefold(data.nick)} ${casefold(data.to)}`, item }];
  }

  async #endOf({ nick, id }: RequestedLine): Promise<boolean> {
    const last = await this.#options.log.last(speech, lineSubject(nick, id));
    return last !== undefined && last.type !== 'line.requested';
  }

  async #say(line: Line): Promise<Verdict> {
    const { agents, log, ttlMs = usualTtlMs } = this.#options;
    const keyHasEnded = !line.isNew && (await agents.hasEnded(line.by));
    line.isNew = false;
    if (keyHasEnded || log.now().getTime() - line.at.getTime() > ttlMs)
      return this.#ended(line, { type: 'line.expired', data: { id: line.id, in_doubt: line.inDoubt } });
    const toChannel = isChannel(line.to);
    // nothing tells whether a private line was heard
    if (line.inDoubt && !toChannel)
      return this.#ended(line, { type: 'line.expired', data: { id: line.id, in_doubt: true } });
    try {
      const agent = await agents.ready(line);
      if (toChannel) await agents.join(agent, line.to, line.by);
      const room = toChannel ? await agent.enter(line.to, line.inDoubt) : undefined;
      if (line.inDoubt && room?.shown?.has(line.id)) return this.#shown(line, 'history', null);
      line.inDoubt = false;
      if (line.unconfirmed) return this.#refused(line, 'refused_by_network', 'The network does not answer');
      const session = await agent.session();
      const text = line.action ? action(line.text) : line.text;
      const outcome = await (toChannel
        ? session.say(line.to, text, line.id)
        : session.tell(line.to, text, line.id));
      switch (outcome.is) {
        case 'confirmed':
          return this.#shown(line, 'echo', outcome.msgid);
        case 'refused':
          return this.#refused(line, 'refused_by_network', `${outcome.code} ${outcome.error}`);
        case 'unconfirmed':
          line.inDoubt = true;
          line.unconfirmed = true;
          return { is: 'wait', afterMs: 0 };
        case 'lost':
          line.inDoubt = outcome.written;
          return { is: 'wait', afterMs: 0 };
      }
    } catch (error) {
      if (isExpected(error) && error.kind === 'refusal')
        return this.#refused(line, error.code, error.message);
      throw error;
    }
  }

  #shown(line: Line, via: 'echo' | 'history', msgid: string | null): Verdict {
    return this.#ended(line, { type: 'line.shown', data: { id: line.id, via, msgid } });
  }

  #refused(line: Line, code: string, error: string): Verdict {
    return this.#ended(line, { type: 'line.refused', data: { id: line.id, code, error } });
  }

  #ended(line: Line, fact: LineEnd): Verdict {
    const subject = lineSubject(line.nick, line.id);
    this.#ends.set(subject, fact);
    for (const give of this.#waiting.get(subject) ?? []) give(fact);
    return { is: 'done', fact: { stream: speech, subject, fact, by: actor } };
  }
}

function said(id: string, end: LineEnd | undefined): SaidLine {
  if (!end) return { id, is: 'pending' };
  switch (end.type) {
    case 'line.shown':
      return { id, is: 'shown', msgid: end.data.msgid };
    case 'line.expired':
      return { id, is: 'expired', in_doubt: end.data.in_doubt };
    case 'line.refused':
      throw refusalOf(end.data);
  }
}

const refusalOf = ({ code, error }: { code: string; error: string }): Refusal =>
  new Refusal(code in refusals ? (code as RefusalCode) : 'refused_by_network', error);
