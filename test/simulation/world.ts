import { Random } from './random.js';

/** Something that was done, for the timeline of a run. */
export interface Happening {
  /** Milliseconds since the beginning. */
  at: number;
  /** Who did it: `log`, `irc`, `deliver 1`, `fault`. */
  who: string;
  what: string;
}

/** What is to happen at a time, until it has happened or is called off. */
export interface Planned {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly action: () => void;
  cancelled: boolean;
}

/** When every world begins, in milliseconds since 1970. */
const beginning = Date.UTC(2026, 0, 31, 12);

/**
 * Time and chance of one simulated run, decided by its seed alone. Nothing waits in real time: when all that can run
 * has run, the clock moves to the next thing that is planned.
 */
export class World {
  readonly seed: number;
  readonly random: Random;
  readonly timeline: Happening[] = [];
  /** What a program in this world reaches others by; nobody, until there are hosts. */
  fetch: typeof globalThis.fetch = () => Promise.reject(new TypeError('fetch failed'));
  readonly #heap = new Heap();
  #now = beginning;
  #planned = 0;
  #steps = 0;
  /** Work that takes real time, as of a store that is no part of the simulation: the clock waits for it. */
  #outside = 0;
  #outsideDone = nothing;

  constructor(seed: number) {
    this.seed = seed;
    this.random = new Random(seed);
  }

  /** Milliseconds since 1970. */
  get now(): number {
    return this.#now;
  }

  /** Milliseconds since the world began. */
  get elapsed(): number {
    return this.#now - beginning;
  }

  /** How much has happened. */
  get steps(): number {
    return this.#steps;
  }

  /** How much is planned and not called off. */
  get waiting(): number {
    return this.#heap.all.filter(({ cancelled }) => !cancelled).length;
  }

  /** Plans an action; of those that are due at the same time the one that was planned first comes first. */
  after(ms: number, action: () => void): Planned {
    const at = this.#now + Math.max(0, ms);
    const planned = { at, action, cancelled: false, order: this.#planned++ };
    this.#heap.push(planned);
    return planned;
  }

  /** Notes what was done. */
  tell(who: string, what: string): void {
    this.timeline.push({ at: this.elapsed, who, what });
  }

  /** Has the clock wait for something real. */
  async outside<T>(work: Promise<T>): Promise<T> {
    this.#outside += 1;
    try {
      return await work;
    } finally {
      this.#outside -= 1;
      if (this.#outside === 0) {
        const done = this.#outsideDone;
        this.#outsideDone = nothing;
        done();
      }
    }
  }

  /** Lets time pass until a condition holds; false when it does not within `boundMs`, or when nothing is planned any more. */
  until(condition: () => boolean, boundMs: number): Promise<boolean> {
    const end = this.#now + boundMs;
    return new Promise((resolve, reject) => {
      const step = () => {
        try {
          const came = this.#step(condition, end);
          if (came !== undefined) resolve(came);
          else if (this.#outside > 0) this.#outsideDone = () => afterMicrotasks(step);
          else afterMicrotasks(step);
        } catch (error) {
          reject(error);
        }
      };
      afterMicrotasks(step);
    });
  }

  /** Does the next thing that is planned; whether the condition came to hold, once that is known. */
  #step(condition: () => boolean, end: number): boolean | undefined {
    if (this.#outside > 0) return undefined;
    if (condition()) return true;
    const next = this.#heap.pop(end);
    if (!next) {
      this.#now = end;
      return false;
    }
    this.#now = Math.max(this.#now, next.at);
    this.#steps += 1;
    next.action();
    return undefined;
  }

  /** Lets so much time pass. */
  async pass(ms: number): Promise<void> {
    await this.until(() => false, ms);
  }
}

function nothing(): void {}

const { setImmediate: realImmediate } = globalThis;

/** So many turns are asked for at once: node runs them in one round of its loop, with all microtasks between two. */
const turnsPerRound = 256;
let turnsLeft = 0;
let waiting: (() => void) | undefined;

/** Calls back when every promise that can go on has gone on. */
function afterMicrotasks(call: () => void): void {
  waiting = call;
  if (turnsLeft > 0) return;
  turnsLeft = turnsPerRound;
  for (let n = 0; n < turnsPerRound; n++) realImmediate(nextTurn);
}

function nextTurn(): void {
  turnsLeft -= 1;
  const call = waiting;
  waiting = undefined;
  call?.();
}

interface Entry extends Planned {
  order: number;
}

/** A binary heap by time, then by order. */
class Heap {
  readonly #entries: Entry[] = [];

  get all(): readonly Planned[] {
    return this.#entries;
  }

  push(entry: Entry): void {
    const entries = this.#entries;
    let place = entries.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!before(entry, entries[parent]!)) break;
      entries[place] = entries[parent]!;
      place = parent;
    }
    entries[place] = entry;
  }

  /** Takes out the first one that is not called off and not due after `end`. */
  pop(end: number): Planned | undefined {
    for (let first = this.#entries[0]; first; first = this.#entries[0]) {
      if (first.at > end && !first.cancelled) return undefined;
      this.#removeFirst();
      if (!first.cancelled) return first;
    }
    return undefined;
  }

  #removeFirst(): void {
    const entries = this.#entries;
    const last = entries.pop()!;
    const { length } = entries;
    if (length === 0) return;
    let place = 0;
    for (let child = 1; child < length; child = place * 2 + 1) {
      if (child + 1 < length && before(entries[child + 1]!, entries[child]!)) child += 1;
      if (!before(entries[child]!, last)) break;
      entries[place] = entries[child]!;
      place = child;
    }
    entries[place] = last;
  }
}

function before(one: Entry, other: Entry): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
