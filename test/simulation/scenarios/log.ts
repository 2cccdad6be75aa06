import pino from 'pino';
import { z } from 'zod';
import { defineStream, Log, newId, pause } from '../../../streams/core/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { FactConsumer } from '../../../workers/core/fact-consumer.js';
import { Lease } from '../../../workers/core/lease.js';
import { Reactor } from '../../../workers/core/reactor.js';
import { answerRequests, request } from '../../../workers/core/rpc.js';
import { logFaults } from '../log/faults.js';
import { placeInGroup } from '../log/groups.js';
import { SimulatedLogServer } from '../log/server.js';
import type { Random } from '../random.js';
import type { Scenario, Stage } from '../scenario.js';
import type { World } from '../world.js';

const jobs = defineStream({
  name: 'JOBS',
  subjects: ['jobs.>'],
  facts: {
    'job.asked': z.object({ key: z.string(), n: z.int() }),
    'job.done': z.object({ key: z.string(), n: z.int() }),
    'job.noted': z.object({ key: z.string(), n: z.int() }),
    'job.counted': z.object({ total: z.int(), command: z.string() }),
  },
});
const logger = pino({ level: 'silent' });
const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
const busyMs = 40_000;
const faultsPerRun = 20;
const eventsPerKey = 34;
/** Calm after the last fault must be reached within this time. */
const calmMs = 90_000;
/** How often positions are looked at. */
const watchMs = 100;
const longestBoundMs = 40_000;
/**
 * A client that is cut off notices by its pings, asks in vain for a renewal, and then asks for the holder of
 * the lease. That takes so long.
 */
const twoHoldersMs = 40_000;
const service = 'counting';
/** Now and then each process has so many appends at a time, some of them the same as the other's. */
const crowds = 2;
const inCrowd = 40;

/** A counter that many raise at once. */
const counter = {
  initial: () => ({ total: 0 }),
  subject: () => 'jobs.counted',
  evolve: (state: { total: number }) => {
    state.total += 1;
  },
  decide: (command: string, state: { total: number }) => ({
    type: 'job.counted' as const,
    data: { total: state.total + 1, command },
  }),
};

interface StoredFact {
  id: string;
  type: string;
  data: { key: string; n: number; total: number; command: string };
}

function factOf(data: Uint8Array): StoredFact {
  return JSON.parse(new TextDecoder().decode(data)) as StoredFact;
}

/** What is known of a run from outside, and what it must not show. */
class Judge {
  /** Acknowledged appends: id and sequence. */
  readonly acknowledged = new Map<string, number>();
  /** How far the work of each key had come when it was first done. */
  readonly doneUpTo = new Map<string, number>();
  /** Sequences that somebody has dealt with. */
  readonly read = new Set<number>();
  /** Subjects with an answer that they have their fact already. */
  readonly taken = new Set<string>();
  /** Commands that were carried out. */
  readonly commands = new Set<string>();
  readonly holders = new Map<string, number>();
  readonly #stage: Stage;
  #readUpTo = 0;
  #askedUpTo = 0;
  #oneHolderAt = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  wrong(what: string): void {
    this.#stage.wrong(what);
  }

  check(invariant: string, holds: boolean, found: () => string): void {
    this.#stage.check(invariant, holds, found);
  }

  didWork(key: string, n: number): void {
    const before = this.doneUpTo.get(key) ?? 0;
    this.check('work of a key in its order', n <= before + 1, () => `${key} ${n} is done after ${before}`);
    this.doneUpTo.set(key, Math.max(before, n));
  }

  /** What comes before a consumer's position must be done. */
  positions(server: SimulatedLogServer): void {
    const position = server.positionOf('JOBS', 'read-jobs');
    for (; this.#readUpTo < position; this.#readUpTo++) {
      const seq = this.#readUpTo + 1;
      this.check('what is acknowledged was dealt with', this.read.has(seq), () => `${seq}`);
    }
    const asked = server.positionOf('JOBS', 'do-jobs');
    const { stream } = server.streams.get('JOBS')!;
    for (; this.#askedUpTo < asked; this.#askedUpTo++) {
      const message = stream.get(this.#askedUpTo + 1);
      if (!message?.subject.startsWith('jobs.asked.')) continue;
      const { data } = factOf(message.data);
      const isDone = data.n <= (this.doneUpTo.get(data.key) ?? 0);
      this.check('what is acknowledged was dealt with', isDone, () => `${data.key} ${data.n}`);
    }
  }

  /** Two may hold a lease for a while, if one of them could not hear that it has lost it. */
  holding(allConnected: boolean): void {
    if (this.holders.size < 2 || !allConnected) this.#oneHolderAt = this.#stage.world.elapsed;
    else if (this.#stage.world.elapsed - this.#oneHolderAt > twoHoldersMs) {
      this.wrong('two processes hold a lease and are connected');
      this.#oneHolderAt = this.#stage.world.elapsed;
    }
  }

  /** What the server has at the end; how many of its messages came in groups. */
  stored(server: SimulatedLogServer): number {
    let inGroups = 0;
    const { stream } = server.streams.get('JOBS')!;
    const ids = new Map<string, number>();
    const counted = new Set<string>();
    for (let seq = 1; seq <= stream.lastSeq; seq++) {
      const message = stream.get(seq);
      if (!message) continue;
      if (placeInGroup({ ...message, reply: '' })) inGroups += 1;
      const { id, type, data } = factOf(message.data);
      if (type === 'job.counted') {
        this.check('a command is carried out once', !counted.has(data.command), () => data.command);
        counted.add(data.command);
        const { total, command } = data;
        this.check(
          'a command knows what was before it',
          total === counted.size,
          () => `${command}: ${total}`,
        );
      }
      this.check('a fact is stored once', !ids.has(id), () => `${id} at ${ids.get(id)} and at ${seq}`);
      ids.set(id, seq);
    }
    for (const command of this.commands)
      this.check('what was answered is stored', counted.has(command), () => command);
    for (const [id, seq] of this.acknowledged)
      this.check('what was answered is stored', ids.get(id) === seq, () => `${id}: ${seq}, ${ids.get(id)}`);
    for (const subject of this.taken)
      this.check('what is refused is there', stream.lastOf(subject) !== undefined, () => subject);
    return inGroups;
  }
}

/** One process of the product: appends, works, competes for a lease. */
class Process {
  readonly name: string;
  readonly #log: Log;
  readonly #judge: Judge;
  readonly #random: Random;
  readonly #reactor: Reactor<typeof jobs, { key: string; n: number }>;
  readonly #reader: FactConsumer<typeof jobs>;
  readonly #lease: Lease;
  readonly #stop = new AbortController();
  #busy: Promise<unknown>;
  #lastRead = 0;
  readonly #taken = new Set<number>();
  answered = 0;

  private constructor(name: string, log: Log, judge: Judge, world: World) {
    this.name = name;
    this.#log = log;
    this.#judge = judge;
    this.#random = world.random.fork();
    this.#reactor = new Reactor<typeof jobs, { key: string; n: number }>({
      log,
      logger,
      stream: jobs,
      durable: 'do-jobs',
      filter: 'jobs.asked.>',
      maxInHand: 50,
      atOnce: 4,
      plan: ({ type, data }) => (type === 'job.asked' ? [{ key: data.key, item: data }] : []),
      handle: async ({ key, n }) => {
        if (this.#random.chance(0.3)) await pause(this.#random.int(1, 200));
        if (this.#random.chance(0.05)) return { is: 'retry', afterMs: 100, reason: 'by chance' };
        const fact = { type: 'job.done' as const, data: { key, n } };
        await log.appendOnce(jobs, `jobs.done.${key}.${n}`, fact, { by: name });
        judge.didWork(key, n);
        if (n % 4 > 0) return { is: 'done' };
        const noted = { type: 'job.noted', data: { key, n } };
        return { is: 'done', fact: { stream: jobs, subject: 'jobs.noted', fact: noted, by: name } };
      },
    });
    this.#reader = new FactConsumer<typeof jobs>({
      log,
      logger,
      stream: jobs,
      durable: 'read-jobs',
      maxInHand: 30,
      takeOver: async ({ from }) => {
        this.#lastRead = from - 1;
      },
      take: ({ seq }) => {
        if (seq <= this.#lastRead) judge.wrong(`${name} is handed ${seq} after ${this.#lastRead}`);
        // it is not told again of what it has in hand, or of what another process has done meanwhile
        for (let left = this.#lastRead + 1; left < seq; left++)
          if (!this.#taken.has(left) && !judge.read.has(left))
            judge.wrong(`${name} is handed ${seq} after ${this.#lastRead}`);
        this.#lastRead = seq;
        this.#taken.add(seq);
        const done = () => {
          judge.read.add(seq);
          this.#reader.done(seq);
        };
        if (this.#random.chance(0.2)) setTimeout(done, this.#random.int(1, 300));
        else done();
      },
    });
    this.#lease = new Lease({
      log,
      logger,
      name: 'counting',
      holder: name,
      replicas: 1,
      begin: () => {
        judge.holders.set(name, world.elapsed);
        const answering = answerRequests({
          log,
          logger,
          service,
          operations: { echo: async (input: { text: string }) => input.text },
        });
        return {
          stop: async () => {
            judge.holders.delete(name);
            await answering.stop();
          },
        };
      },
    });
    this.#lease.start();
    this.#busy = Promise.resolve();
  }

  static async open(name: string, server: SimulatedLogServer, judge: Judge, world: World): Promise<Process> {
    const log = await Log.open({
      urls: '',
      name,
      streams: [jobs, operations],
      replicas: 1,
      maxBytes: 50e6,
      logger,
      connect: (as) => server.connect(as),
    });
    return new Process(name, log, judge, world);
  }

  /** Takes what is asked for, too. */
  consume(): void {
    this.#reactor.start();
    this.#reader.start();
  }

  work(own: readonly string[]): void {
    const all = own.map((key) => this.#ask(key));
    this.#busy = Promise.all([...all, this.#crowd(), this.#count(), this.#request()]);
  }

  get connected(): boolean {
    return this.#log.connected;
  }

  async idle(): Promise<void> {
    await this.#busy;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#busy;
    await Promise.all([this.#reactor.stop(), this.#reader.stop(), this.#lease.stop()]);
    await this.#log.close();
  }

  /** Has work asked for, one after another, each until it is known to be asked for. */
  async #ask(key: string): Promise<void> {
    for (let n = 1; n <= eventsPerKey; n++) {
      await pause(this.#random.int(0, (busyMs * 2) / eventsPerKey));
      const id = newId();
      for (let stored = false; !stored; ) {
        try {
          const fact = { type: 'job.asked' as const, data: { key, n } };
          const origin = { by: this.name, id };
          const appended = await this.#log.appendOnce(jobs, `jobs.asked.${key}.${n}`, fact, origin);
          if (appended) this.#judge.acknowledged.set(id, appended.seq);
          stored = true;
        } catch (error) {
          this.#expected(error);
          await pause(200);
        }
      }
    }
  }

  async #crowd(): Promise<void> {
    for (let crowd = 1; crowd <= crowds; crowd++) {
      await pause(this.#random.int(0, (busyMs * 2) / crowds));
      const subjects = Array.from({ length: inCrowd }, (_, n) =>
        n % 10 === 0 ? `jobs.crowd.${crowd}.${n}` : `jobs.crowd.${this.name}.${crowd}.${n}`,
      );
      await Promise.all(subjects.map((subject, n) => this.#say(subject, n)));
    }
  }

  async #say(subject: string, n: number): Promise<void> {
    const id = newId();
    for (let isSaid = false; !isSaid; ) {
      try {
        const fact = { type: 'job.noted' as const, data: { key: subject, n } };
        const appended = await this.#log.appendOnce(jobs, subject, fact, { by: this.name, id });
        if (appended) this.#judge.acknowledged.set(id, appended.seq);
        else this.#judge.taken.add(subject);
        isSaid = true;
      } catch (error) {
        this.#expected(error);
        await pause(200);
      }
    }
  }

  async #count(): Promise<void> {
    for (let n = 0; n < 20; n++) {
      await pause(this.#random.int(0, busyMs / 10));
      try {
        const command = `${this.name} ${n}`;
        await this.#log.handle(jobs, counter, command, { by: this.name });
        this.#judge.commands.add(command);
      } catch (error) {
        this.#expected(error);
      }
    }
  }

  async #request(): Promise<void> {
    for (let n = 0; n < 20; n++) {
      await pause(this.#random.int(0, busyMs / 10));
      const started = performance.now();
      try {
        const text = `${this.name} ${n}`;
        const answer = await request<string>({ log: this.#log, name: service, timeoutMs: 2_000 }, 'echo', {
          text,
        });
        if (answer !== text) this.#judge.wrong(`${text} was answered with ${answer}`);
        this.answered += 1;
      } catch (error) {
        this.#expected(error);
      }
      if (performance.now() - started > 5_000)
        this.#judge.wrong(`${this.name} waited too long for an answer`);
    }
  }

  #expected(error: unknown): void {
    if ((error as { kind?: unknown }).kind !== 'unavailable')
      this.#judge.wrong(String((error as Error).stack));
  }
}

/** One run in so many has a partition for longer than the server remembers ids. */
const longPartitions = 8;
const longPartitionMs = 130_000;

/** Two processes work on a log, and compete for it, while faults are struck at its server. */
export const log: Scenario = {
  name: 'log',
  says: 'appends, commands, consumers, requests and a lease of two processes',
  kept: [77],
  boundMs: busyMs * 4 + calmMs * 2 + longPartitionMs,
  play: async (stage) => {
    const server = new SimulatedLogServer(stage.world, { isNew: stage.fork().chance(0.5) });
    const judge = new Judge(stage);
    await live(stage, server, judge);
    // the bounds of past requests expire
    await pause(longestBoundMs);
    const inGroups = judge.stored(server);
    stage.count('events', stage.counts, server.streams.get('JOBS')!.stream.lastSeq);
    stage.count('in groups', stage.counts, inGroups);
    server.close();
  },
};

async function live(stage: Stage, server: SimulatedLogServer, judge: Judge): Promise<void> {
  const { world } = stage;
  const processes = await Promise.all(['one', 'two'].map((name) => Process.open(name, server, judge, world)));
  const random = stage.fork();
  // two that take the work from each other, or one that must not sleep
  for (const one of processes.slice(0, random.int(1, 2))) one.consume();
  processes[0]!.work(keys.slice(0, 3));
  processes[1]!.work(keys.slice(3));
  for (let n = 0; n < faultsPerRun; n++) {
    const fault = random.pick(logFaults);
    stage.planFault(random.int(0, busyMs), fault.name, (own) => fault.strike(server, world, own));
  }
  const watching = setInterval(() => {
    judge.positions(server);
    judge.holding(processes.every(({ connected }) => connected));
  }, watchMs);
  const isLong = random.int(1, longPartitions) === 1;
  if (isLong)
    stage.planFault(random.int(0, busyMs), 'long partition', () =>
      server.partitionBehindAppend(longPartitionMs),
    );
  await pause(busyMs + 15_000 + (isLong ? longPartitionMs : 0));
  server.heal();
  await Promise.all(processes.map((one) => one.idle()));
  const isAllDone = () => keys.every((key) => judge.doneUpTo.get(key) === eventsPerKey);
  await stage.within(calmMs, 'all that was asked for is done', isAllDone);
  for (const durable of ['read-jobs', 'do-jobs']) {
    const isThere = () => server.positionOf('JOBS', durable) >= lastFor(durable, server);
    const found = () => `${durable}: ${server.positionOf('JOBS', durable)} of ${lastFor(durable, server)}`;
    await stage.within(calmMs, 'consumers come to the end', isThere, found);
  }
  const holders = () => [...judge.holders.keys()].join(', ');
  await stage.within(20_000, 'there is one holder', () => judge.holders.size === 1, holders);
  clearInterval(watching);
  const answered = processes.reduce((all, one) => all + one.answered, 0);
  stage.check('requests are answered', answered > 0, 'none was');
  await Promise.all(processes.map((one) => one.close()));
  stage.check('who stops holds no lease', judge.holders.size === 0, holders);
}

/** Sequence of the last message that a consumer wants. */
function lastFor(durable: string, server: SimulatedLogServer): number {
  const { stream } = server.streams.get('JOBS')!;
  return durable === 'do-jobs' ? (stream.lastOf('jobs.asked.>')?.seq ?? 0) : stream.lastSeq;
}
