import { casefold } from '../../../streams/irc-grammar.js';
import { irc } from '../../../streams/network/index.js';
import type { SimulatedLogServer } from '../log/server.js';
import { StoredFacts } from '../log/stored-facts.js';
import type { Stage } from '../scenario.js';
import type { Happening } from '../world.js';
import { type Asked, ExpectedFloor } from './expected-floor.js';

/** A turn ends so long after its time: what its holder said may be recorded late. */
const lagMs = 1_000;
/** By how much the time of the log may be another one than a process takes it for, in calm. */
const clockMs = 200;

/** A time, in milliseconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

/** A time in which nothing failed. */
export interface Calm extends Span {
  /** The process that had the lease of the bot at its end. */
  holder: string;
  /** When the process was killed whose work another one has gone on with. */
  killedAt?: number;
}

/** A turn in a channel, or a time in which its floor is free. */
export interface Turn extends Span {
  /** The same for one turn of one nick. */
  id: string;
  /** Casefolded. */
  nick: string | undefined;
}

/** Something that was asked of the floor of a channel. */
export interface Question extends Asked {
  channel: string;
  /** When it was recorded. */
  at: number;
  /** The floor then, and after all that was recorded with it. */
  floor: ExpectedFloor;
  after: ExpectedFloor;
}

interface Step {
  at: number;
  floor: ExpectedFloor;
}

/** The floors of channels by what was recorded. */
export class RecordedFloors {
  readonly calms: Calm[] = [];
  /** All that was asked, in order. */
  readonly questions: Question[] = [];
  readonly #stage: Stage;
  readonly #facts: StoredFacts<typeof irc>;
  /** The floor of each channel after each fact. */
  readonly #steps = new Map<string, Step[]>();
  readonly #gone: { nick: string; at: number }[] = [];

  constructor(stage: Stage, server: SimulatedLogServer) {
    this.#stage = stage;
    this.#facts = new StoredFacts(server, irc);
  }

  /** Takes note of what was recorded since. */
  read(): void {
    for (const { data, at: recordedAt } of this.#facts.read()) {
      const channel = casefold(data.channel);
      const at = recordedAt.getTime();
      const steps = this.#steps.get(channel) ?? [];
      this.#steps.set(channel, steps);
      const floor = steps.at(-1)?.floor.copy() ?? new ExpectedFloor();
      for (const seen of data.seen) {
        const asked = floor.see(seen);
        if (asked) this.questions.push({ ...asked, channel, at, floor: floor.copy(), after: floor });
        if (seen.is === 'quit' || seen.is === 'nick') this.#gone.push({ nick: casefold(seen.nick), at });
      }
      steps.push({ at, floor });
    }
  }

  /** The floor as the bridge has to see it at a time: by what is recorded, and a moment late. */
  at(channel: string, time: number): ExpectedFloor {
    const step = this.#of(channel).findLast(({ at }) => at <= time);
    return (step?.floor ?? new ExpectedFloor()).copy().wait(time - lagMs);
  }

  /** The floor after a question as the bridge may see it at a later time, if it has read no more. */
  after({ after }: Question, time: number): ExpectedFloor {
    return after.copy().wait(time - lagMs);
  }

  /** All that a floor was between two times. */
  between(channel: string, { from, to }: Span): ExpectedFloor[] {
    const floors: ExpectedFloor[] = [];
    const steps = this.#of(channel);
    for (const [place, { at, floor }] of steps.entries()) {
      const next = steps[place + 1]?.at ?? Number.POSITIVE_INFINITY;
      if (at > to || next < from) continue;
      const now = floor.copy().wait(Math.max(at, from) - lagMs - clockMs);
      floors.push(now.copy());
      for (; now.until <= to; floors.push(now.copy())) now.wait(now.until);
    }
    return floors;
  }

  /** The turns that a time has a part of, in order, and when the floor was free. */
  turns(channel: string, { from, to }: Span): Turn[] {
    const turns: Turn[] = [];
    const add = (floor: ExpectedFloor, since: number, end: number) => {
      const last = turns.at(-1);
      if (last?.id === floor.turn) last.to = end;
      else turns.push({ id: floor.turn, nick: floor.holder, from: since, to: end });
    };
    const steps = this.#of(channel);
    for (const [place, { at, floor }] of steps.entries()) {
      const end = Math.min(steps[place + 1]?.at ?? Number.POSITIVE_INFINITY, to);
      const now = floor.copy().wait(at - lagMs);
      let since = at;
      for (; now.until + lagMs < end; now.wait(now.until)) {
        add(now, since, now.until + lagMs);
        since = now.until + lagMs;
      }
      if (end > since) add(now, since, end);
    }
    return turns.filter((turn) => turn.to > from && turn.from < to);
  }

  /** Whether somebody left the network, or took another nick, in a time. */
  isGone(nick: string, { from, to }: Span): boolean {
    return this.#gone.some((one) => one.nick === casefold(nick) && one.at >= from && one.at <= to);
  }

  isCalm(time: number): boolean {
    return this.calms.some(({ from, to }) => time >= from && time <= to);
  }

  /** What happened in a time. */
  happened({ from, to }: Span): Happening[] {
    const { timeline, now, elapsed } = this.#stage.world;
    const began = now - elapsed;
    return timeline.filter(({ at }) => began + at >= from && began + at <= to);
  }

  #of(channel: string): readonly Step[] {
    return this.#steps.get(channel) ?? [];
  }
}
