import { boundedCache } from '../core/index.js';
import { casefold, namesNick } from '../irc-grammar.js';
import { isQuick, isSteady, type PacedLine } from './pace.js';

/** What an incident of a loop has instead of ids of rules. */
export const loopPattern = 'loop';

/** A line as the loop guard sees it. */
export interface LoopLine extends PacedLine {
  nick: string;
}

/** Programs that answer each other: their next action, and the last line of each. */
export interface Loop<Line> {
  level: 'WARN' | 'MUTE';
  last: Line[];
}

/** A line of a channel, and what is known of it. */
interface Spoken<Line> {
  line: Line;
  /** Place in its channel. */
  seq: number;
  nick: string;
  text: string;
  /** Index of the line that it answers: the last one of somebody else that names its speaker. */
  answers: number | undefined;
  /** It came too soon after that line for a person to have typed it. */
  quick: boolean;
  /** Its speaker was warned for it. */
  warned: boolean;
  /** Its speaker was muted for it: counting starts again after it. */
  over: boolean;
}

/** Channels that are followed. Beyond that, the one that was silent for longest is forgotten. */
const mostChannels = 1_000;
/** Lines of a channel that are remembered. */
const remembered = 40;
/** Nicks are looked for in so many characters of a line. */
const mostRead = 400;
/** More programs than this are a crowd. */
const mostInRing = 4;
/** After so many lines, programs that name each other are warned and muted. */
const named = { warn: 6, mute: 8 };
/** After so many lines, programs that only take turns are warned and muted. */
const turns = { warn: 8, mute: 10 };
/** If lines come within this time, programs are muted instead of warned: nobody could heed a warning. */
const headlongMs = 750;
/** When programs that answer each other are dealt with, for texts that tell them. */
export const loopTerms = { named, turns, headlongMs } as const;
/** Quick lines that prove that an unmarked speaker is a program: to be warned, and to be muted. */
const proof = { warn: 2, mute: 3 };

/**
 * Finds programs that answer each other without a person among them, in the lines of channels. It uses the
 * lines alone, so the same lines always give the same verdicts. Bounded in memory.
 */
export class LoopWatch<Line extends LoopLine> {
  readonly #rooms = boundedCache<string, Room<Line>>(mostChannels);

  /** Takes note of a line, and answers the loop if it is one line too many. */
  see(channel: string, line: Line): Loop<Line> | undefined {
    const key = casefold(channel);
    const room = this.#rooms.get(key) ?? new Room<Line>();
    this.#rooms.set(key, room);
    const spoken = room.add(line);
    return verdict(room.exchange(spoken), named, headlongMs) ?? verdict(room.turns(), turns);
  }
}

/** The last lines of a channel. */
class Room<Line extends LoopLine> {
  #lines: Spoken<Line>[] = [];
  #next = 0;

  add(line: Line): Spoken<Line> {
    const nick = casefold(line.nick);
    const answered = this.#lines.findLast((one) => one.nick !== nick && namesNick(one.text, nick));
    const own = this.#lines.findLast((one) => one.nick === nick);
    const spoken = {
      line,
      nick,
      seq: this.#next++,
      text: casefold(line.text.slice(0, mostRead)),
      answers: answered?.seq,
      quick: answered ? isQuick(line, answered.line, own?.line) : false,
      warned: false,
      over: false,
    };
    this.#lines.push(spoken);
    if (this.#lines.length > remembered) this.#lines.shift();
    return spoken;
  }

  /**
   * The chain of quick answers up to this line, since a person last spoke to one of them. Each line answers
   * the one before.
   */
  exchange(last: Spoken<Line>): Spoken<Line>[] {
    const chain = [last];
    const nicks = new Set([last.nick]);
    for (let one = last; one.quick; ) {
      const before = this.#at(one.answers!);
      if (!before || before.over || nicks.add(before.nick).size > mostInRing) break;
      chain.unshift(before);
      one = before;
    }
    // whoever only began it is not in it
    const [first] = chain;
    if (!first!.quick && !chain.slice(1).some(({ nick }) => nick === first!.nick)) chain.shift();
    if (chain.length < named.warn) return chain;
    const members = new Set(chain.map(({ nick }) => nick));
    const asked = this.#lines.findLast(
      (one) => !one.line.bot && !one.quick && [...members].some((nick) => namesNick(one.text, nick)),
    );
    return asked ? chain.filter(({ seq }) => seq >= asked.seq) : chain;
  }

  /**
   * The lines up to the last one in which the same two to four, all marked as programs, take steady turns.
   */
  turns(): Spoken<Line>[] {
    const lines = this.#lines.slice(-turns.mute);
    const end = lines.length - 1;
    const period = end - lines.findLastIndex(({ nick }, index) => index < end && nick === lines[end]!.nick);
    if (period < 2 || period > Math.min(end, mostInRing)) return [];
    let from = lines.length;
    while (
      from > 0 &&
      lines[from - 1]!.line.bot &&
      !lines[from - 1]!.over &&
      (from + period > lines.length || lines[from - 1]!.nick === lines[from - 1 + period]!.nick)
    )
      from -= 1;
    const taken = lines.slice(from);
    const ring = new Set(taken.slice(-period).map(({ nick }) => nick));
    return ring.size === period && isSteady(taken.map(({ line }) => line)) ? taken : [];
  }

  #at(seq: number): Spoken<Line> | undefined {
    return this.#lines[seq - (this.#next - this.#lines.length)];
  }
}

function verdict<Line extends LoopLine>(
  chain: Spoken<Line>[],
  { warn, mute }: { warn: number; mute: number },
  tooQuickMs = 0,
): Loop<Line> | undefined {
  if (chain.length < warn) return undefined;
  const members = [...new Set(chain.map(({ nick }) => nick))].map((nick) =>
    chain.filter((one) => one.nick === nick),
  );
  if (members.length < 2) return undefined;
  const proven = (quick: number) =>
    members.every(
      (own) => own.some(({ line }) => line.bot) || own.filter((one) => one.quick).length >= quick,
    );
  const last = members.map((own) => own.at(-1)!.line);
  const isHeadlong = chain.at(-1)!.line.at - chain.at(-warn)!.line.at < tooQuickMs;
  if ((chain.length >= mute || isHeadlong) && proven(proof.mute)) {
    for (const one of chain) one.over = true;
    return { level: 'MUTE', last };
  }
  if (!proven(proof.warn) || chain.some(({ warned }) => warned)) return undefined;
  for (const one of chain) one.warned = true;
  return { level: 'WARN', last };
}
