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
  #outsideDone = () => {};

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
    const planned = { at: this.#now + Math.max(0, ms), action, cancelled: false };
    this.#heap.push(planned, this.#planned++);
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
      if (this.#outside === 0) this.#outsideDone();
    }
  }

  /** Lets time pass until a condition holds; false when it does not within `boundMs`, or when nothing is planned any more. */
  async until(condition: () => boolean, boundMs: number): Promise<boolean> {
    const end = this.#now + boundMs;
    for (;;) {
      await this.#settle();
      if (condition()) return true;
      const next = this.#heap.first;
      if (!next || next.at > end) {
        this.#now = end;
        return false;
      }
      this.#heap.pop();
      if (next.cancelled) continue;
      this.#now = Math.max(this.#now, next.at);
      this.#steps += 1;
      next.action();
    }
  }

  /** Lets so much time pass. */
  async pass(ms: number): Promise<void> {
    await this.until(() => false, ms);
  }

  /** Until every promise that can go on has gone on. */
  async #settle(): Promise<void> {
    do {
      if (this.#outside > 0) await new Promise<void>((resolve) => (this.#outsideDone = resolve));
      await turn();
    } while (this.#outside > 0);
  }
}

const { setImmediate: realImmediate } = globalThis;

/** So many turns are asked for at once: node runs them in one round of its loop, with all microtasks between two. */
const turnsPerRound = 256;
let turnsLeft = 0;
let turned: (() => void) | undefined;

/** Lets all microtasks run. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    turned = resolve;
    if (turnsLeft > 0) return;
    turnsLeft = turnsPerRound;
    for (let n = 0; n < turnsPerRound; n++) realImmediate(nextTurn);
  });
}

function nextTurn(): void {
  turnsLeft -= 1;
  turned?.();
}

interface Entry {
  planned: Planned;
  order: number;
}

/** A binary heap by time, then by order. */
class Heap {
  readonly #entries: Entry[] = [];

  get all(): Planned[] {
    return this.#entries.map(({ planned }) => planned);
  }

  get first(): Planned | undefined {
    return this.#entries[0]?.planned;
  }

  push(planned: Planned, order: number): void {
    const entries = this.#entries;
    let place = entries.push({ planned, order }) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!before(entries[place]!, entries[parent]!)) break;
      [entries[place], entries[parent]] = [entries[parent]!, entries[place]!];
      place = parent;
    }
  }

  pop(): Planned | undefined {
    const entries = this.#entries;
    const first = entries[0];
    const last = entries.pop();
    if (!first || !last || entries.length === 0) return first?.planned;
    entries[0] = last;
    for (let place = 0; ; ) {
      let least = place;
      for (const child of [place * 2 + 1, place * 2 + 2]) {
        if (child < entries.length && before(entries[child]!, entries[least]!)) least = child;
      }
      if (least === place) return first.planned;
      [entries[place], entries[least]] = [entries[least]!, entries[place]!];
      place = least;
    }
  }
}

function before(one: Entry, other: Entry): boolean {
  return (
    one.planned.at < other.planned.at || (one.planned.at === other.planned.at && one.order < other.order)
  );
}
