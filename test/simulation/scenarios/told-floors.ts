import { casefold } from '../../../streams/irc-grammar.js';
import type { IrcNetwork } from '../irc/network.js';
import type { Stage } from '../scenario.js';
import type { Calm, RecordedFloors, Turn } from './recorded-floors.js';

/** While all is well, what is told is told so soon: announcements are apart, and a turn is seen to end a little late. */
const toldWithinMs = 6_000;
/** How old what is announced may be: lines and facts are on their way for long while something fails. */
const oldMs = { inCalm: 2_500, atMost: 45_000 };
const apartMs = 2_950;
/** How long after a failure something may be told because of it. */
const effectMs = 60_000;
/** The clocks of the log and of the network tell times that are a little apart. */
const clocksMs = 50;

interface Told {
  at: number;
  text: string;
}

/** What channels were told of their floors, held against what was recorded. */
export class ToldFloors {
  readonly #stage: Stage;
  readonly #network: IrcNetwork;
  readonly #recorded: RecordedFloors;
  readonly #bot: string;

  constructor(stage: Stage, network: IrcNetwork, recorded: RecordedFloors, bot: string) {
    this.#stage = stage;
    this.#network = network;
    this.#recorded = recorded;
    this.#bot = bot;
  }

  judge(channels: readonly string[]): void {
    const { calms } = this.#recorded;
    for (const channel of channels) {
      const told = this.#told(channel);
      this.#stage.count('announcements', this.#stage.counts, told.length);
      for (const one of told) this.#judgeTruth(channel, one);
      this.#judgeRepeats(channel, told);
      for (const calm of calms) {
        this.#judgeTurns(channel, told, calm);
        this.#judgeDistance(channel, told, calm);
      }
      this.#judgeLast(channel, told);
    }
    for (const calm of calms) this.#judgeHolder(calm);
  }

  #told(channel: string): Told[] {
    return this.#network.shown
      .filter((line) => casefold(line.channel) === channel && line.from.startsWith(`${this.#bot}!`))
      .map(({ at, text }) => ({ at, text }));
  }

  /** What was announced was so, by what was recorded then. */
  #judgeTruth(channel: string, { at, text }: Told): void {
    const from = at - (this.#recorded.isCalm(at) ? oldMs.inCalm : oldMs.atMost);
    const were = this.#recorded.between(channel, { from, to: at }).map(({ words }) => words);
    this.#stage.check(
      'what is announced is so',
      were.includes(text),
      () => `${channel} at ${at}: ${text}, not ${[...new Set(were)].join(', ')}`,
    );
  }

  /** A turn is told again only after something failed, and no more often than that. */
  #judgeRepeats(channel: string, told: readonly Told[]): void {
    let first = told[0];
    let again = 0;
    for (const [place, one] of told.slice(1).entries()) {
      const before = told[place]!;
      const between = { from: before.at, to: one.at };
      const isAgain =
        turnIn(before.text) === turnIn(one.text) && this.#recorded.turns(channel, between).length <= 1;
      again = isAgain ? again + 1 : 0;
      if (!isAgain) {
        first = one;
        continue;
      }
      const found = () => `${channel} at ${one.at}: ${one.text}, after that of ${before.at}`;
      const failed = this.#failures(before.at, one.at);
      this.#stage.check('a turn is announced again only after a failure', failed > 0, found);
      const all = this.#failures(first!.at, one.at);
      this.#stage.check('a turn is announced no more often than things fail', again <= all, found);
    }
  }

  /** Each turn that lasts is announced, and that the floor is free. */
  #judgeTurns(channel: string, told: readonly Told[], calm: Calm): void {
    for (const turn of this.#recorded.turns(channel, calm)) {
      const by = Math.max(turn.from, calm.from) + toldWithinMs;
      if (turn.to < by) continue;
      const last = told.findLast(({ at }) => at <= by);
      const found = () => `${channel}: ${JSON.stringify(turn)}, last told ${JSON.stringify(last)} by ${by}`;
      if (turn.nick === undefined) {
        // that it is free may go unsaid where the bridge was away or silenced when it became so
        if (last && (turn.from >= calm.from + toldWithinMs || last.at >= calm.from))
          this.#stage.check('a channel is told that its floor is free', turnIn(last.text) === 'free', found);
        continue;
      }
      // whoever takes over tells it again
      const since = turn.from < calm.from ? (calm.killedAt ?? 0) : 0;
      const isTold =
        last !== undefined && last.at >= Math.max(since, this.#beginOf(channel, turn) - clocksMs);
      this.#stage.check(
        'a channel is told whose turn it is',
        isTold && turnIn(last.text) === turn.nick,
        found,
      );
    }
  }

  /** When a turn began: also if its holder had another nick for less than the time between two announcements. */
  #beginOf(channel: string, turn: Turn): number {
    const [first, between] = this.#recorded.turns(channel, { from: 0, to: turn.from }).slice(-2);
    const isBack = first?.id === turn.id && between!.to - between!.from < apartMs;
    return isBack ? first.from : turn.from;
  }

  #judgeDistance(channel: string, told: readonly Told[], { from, to }: Calm): void {
    const within = told.filter(({ at }) => at >= from && at <= to);
    for (const [place, { at, text }] of within.slice(1).entries()) {
      const before = within[place]!;
      const found = () => `${channel} at ${at}: ${text}, after ${JSON.stringify(before)}`;
      this.#stage.check('announcements keep their distance', at - before.at >= apartMs, found);
    }
  }

  /** In the end the last announcement is still so. */
  #judgeLast(channel: string, told: readonly Told[]): void {
    const { to, from } = this.#recorded.calms.at(-1)!;
    const now = this.#recorded.turns(channel, { from: 0, to }).at(-1);
    if (!now || now.from > to - toldWithinMs) return;
    const last = told.at(-1);
    const mayBeUnsaid = now.nick === undefined && now.from < from + toldWithinMs;
    if (mayBeUnsaid && (last?.at ?? 0) < from) return;
    this.#stage.check(
      'the last announcement is still so',
      last !== undefined && turnIn(last.text) === (now.nick ?? 'free'),
      () => `${channel}: ${JSON.stringify(last)}, and ${JSON.stringify(now)}`,
    );
  }

  /** Nobody announces but who has the lease. */
  #judgeHolder(calm: Calm): void {
    for (const { at, who, what } of this.#recorded.happened(calm)) {
      if (what !== 'floor') continue;
      const found = () => `${who} at ${at} ms, not ${calm.holder}`;
      this.#stage.check('who announces has the lease', who === calm.holder, found);
    }
  }

  /** How much failed that may have had an effect in a time, with processes that took the work over. */
  #failures(from: number, to: number): number {
    const happened = this.#recorded.happened({ from: from - effectMs, to });
    return happened.filter(({ who, what }) => who === 'fault' || what === 'lease taken').length;
  }
}

/** Whose turn a line announces, or `free`. */
function turnIn(text: string): string {
  const [, nick] = /^(\S+) has the floor until/.exec(text) ?? [];
  return nick === undefined ? 'free' : casefold(nick);
}
