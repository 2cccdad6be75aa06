import { nuid } from 'nats';
import { takeOverGlobals } from './globals.js';
import type { Random } from './random.js';
import { type Happening, World } from './world.js';

/**
 * A part of the product that lives through bad days: what takes part, what is done to it, and what must hold.
 */
export interface Scenario {
  /** One word, as `--only` takes it. */
  name: string;
  /** Which parts of the product take part, in a sentence. */
  says: string;
  /** Seeds that once found something. They are run for ever. */
  kept: readonly number[];
  /** A run that has not ended after this time is broken, in simulated milliseconds. */
  boundMs: number;
  /** What must exist before a world begins, such as the engine of the store; done before each run. */
  prepare?: () => Promise<unknown>;
  play(stage: Stage): Promise<void>;
}

/** The options of a run. */
export interface PlayOptions {
  /** Numbers of planned steps that are left out. */
  without?: ReadonlySet<number>;
  /** Errors have no stacks: making them would take a large part of a run. */
  untraced?: boolean;
}

/** What came of a run. */
export interface Run {
  scenario: string;
  seed: number;
  /** What was found wrong, with its time. */
  broken: string[];
  /** How often each kind of fault was struck. */
  faults: Record<string, number>;
  /** How often each invariant was judged. */
  checks: Record<string, number>;
  /** What else was counted: events, lines. */
  counts: Record<string, number>;
  /** Steps that were planned: faults, and what people and producers do. */
  planned: { number: number; at: number; what: string }[];
  timeline: Happening[];
}

/** Runs are compared by their first judgements, so only these are kept. */
const mostBroken = 50;

/** Where a scenario is played: its world, what is planned there, and what is judged. */
export class Stage {
  readonly world: World;
  readonly broken: string[] = [];
  readonly faults: Record<string, number> = {};
  readonly checks: Record<string, number> = {};
  readonly counts: Record<string, number> = {};
  readonly planned: Run['planned'] = [];
  readonly #without: ReadonlySet<number>;

  constructor(world: World, { without = new Set() }: PlayOptions = {}) {
    this.world = world;
    this.#without = without;
  }

  /** A separate source of chance, so that what is left out elsewhere changes nothing in it. */
  fork(): Random {
    return this.world.random.fork();
  }

  /**
   * Plans a step at a time, in milliseconds since the world began. Each step has its own chance, and can be
   * left out of a run to see whether it matters.
   */
  plan(at: number, what: string, act: (random: Random) => void): void {
    const number = this.planned.length;
    const random = this.fork();
    this.planned.push({ number, at, what });
    if (this.#without.has(number)) return;
    this.world.after(at - this.world.elapsed, () => act(random));
  }

  /** Plans a fault: a step that is counted, and told of in the timeline. */
  planFault(at: number, kind: string, strike: (random: Random) => void): void {
    this.plan(at, kind, (random) => {
      this.count(kind, this.faults);
      this.world.tell('fault', kind);
      strike(random);
    });
  }

  count(what: string, where: Record<string, number> = this.counts, by = 1): void {
    where[what] = (where[what] ?? 0) + by;
  }

  /** Judges an invariant; `found` says what is wrong if it does not hold. */
  check(invariant: string, holds: boolean, found: string | (() => string)): void {
    this.count(invariant, this.checks);
    if (!holds) this.wrong(`${invariant}: ${typeof found === 'string' ? found : found()}`);
  }

  /** Notes something that must not be. */
  wrong(what: string): void {
    const note = `at ${Math.round(this.world.elapsed)} ms: ${what}`;
    this.world.tell('judge', note);
    if (this.broken.length < mostBroken) this.broken.push(note);
  }

  /** Waits until a condition holds, and judges that it does so within a simulated time. */
  async within(
    boundMs: number,
    invariant: string,
    condition: () => boolean,
    found = () => '',
  ): Promise<boolean> {
    const end = this.world.elapsed + boundMs;
    while (!condition() && this.world.elapsed < end) await this.pass(50);
    const holds = condition();
    this.check(invariant, holds, () => `not within ${boundMs} ms ${found()}`);
    return holds;
  }

  /** Lets time pass. */
  pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.world.after(ms, resolve));
  }
}

/** Plays a scenario with a seed. Failures are in the run, never thrown. */
export async function play(scenario: Scenario, seed: number, options: PlayOptions = {}): Promise<Run> {
  const world = new World(seed);
  const stage = new Stage(world, options);
  const rejected = (error: unknown) =>
    stage.wrong(`unhandled rejection: ${String((error as Error)?.stack ?? error)}`);
  process.on('unhandledRejection', rejected);
  const { stackTraceLimit } = Error;
  if (options.untraced) Error.stackTraceLimit = 0;
  try {
    await scenario.prepare?.();
    await runIn(world, scenario.boundMs, () => scenario.play(stage));
    stage.check('no timer is left', world.waiting === 0, () => `${world.waiting}`);
  } catch (error) {
    stage.wrong(String((error as Error)?.stack ?? error));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    process.off('unhandledRejection', rejected);
  }
  stage.count('no unhandled rejection', stage.checks);
  const { broken, faults, checks, counts, planned } = stage;
  return { scenario: scenario.name, seed, broken, faults, checks, counts, planned, timeline: world.timeline };
}

/**
 * Runs something in a world to its end, with the time, the chance and the ids of that world. Throws what it
 * throws, and if it has not ended within `boundMs`.
 */
export async function runIn<T>(world: World, boundMs: number, work: () => Promise<T>): Promise<T> {
  const giveBack = takeOverGlobals(world);
  const idsAgain = takeOverIds(world);
  try {
    let end: { value: T } | { error: unknown } | undefined;
    work().then(
      (value) => (end = { value }),
      (error: unknown) => (end = { error }),
    );
    await world.until(() => end !== undefined, boundMs);
    if (!end) throw new Error(`not through after ${boundMs} simulated milliseconds`);
    if ('error' in end) throw end.error;
    return end.value;
  } finally {
    idsAgain();
    giveBack();
  }
}

/** Takes the client library's ids, which are the ids of facts and inboxes, from a world. */
function takeOverIds(world: World): () => void {
  const ids = nuid as unknown as { setPre(): void; buf: Uint8Array; inited: boolean };
  const random = world.random.fork();
  ids.setPre = () => {
    for (let place = 0; place < 12; place++) ids.buf[place] = 65 + random.int(0, 25);
  };
  nuid.reset();
  return () => {
    delete (ids as { setPre?: unknown }).setPre;
    nuid.reset();
  };
}
