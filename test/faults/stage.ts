import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startIrcd, type TestIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { startNatsCluster } from '../support/nats-cluster.js';
import type { ServerProcess, Teardown } from '../support/server-process.js';
import { startService, type TestService } from '../support/service.js';
import { startPostgres } from '../support/sql.js';
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.js';
import type { Random, Size } from './fault.js';
import { idOf, Load } from './load.js';
import { MemoryWatch } from './memory.js';

/**
 * How the service runs: in one process with its own read store, or with two processes per role, on one log
 * server or three.
 */
export type Shape = 'one' | 'split' | 'cluster';

/** What a fault needs of its stage. */
export interface StageOptions {
  shape?: Shape;
  /** Category channels; every event goes to one of them and to the feed. */
  channels?: number;
  /** Settings of the service. */
  environment?: Record<string, string>;
  /** Called before the service starts, with the log server stopped. */
  prepareStore?: (dir: string) => Promise<void>;
}

const split: [name: string, roles: string][] = [
  ['api-1', 'api,services'],
  ['api-2', 'api,services'],
  ['projections-1', 'projections'],
  ['projections-2', 'projections'],
  ['irc-1', 'irc,workers,schedule'],
  ['irc-2', 'irc,workers,schedule'],
];
const recoveryBoundMs = 120_000;

/** Real servers, the service in processes of its own, producers, and a witness in every channel. */
export class Stage {
  readonly memory: MemoryWatch;
  /** Milliseconds from each strike until a line was shown whose event was posted after it. */
  recoveries: number[] = [];
  /** What was expected and did not hold. */
  broken: string[] = [];
  /**
   * Lines of one channel that the README's limit leaves in doubt. An IRC server that dies loses its history.
   * So lines in flight are sent again, and a line that it confirmed in the instant before may have reached
   * nobody.
   */
  readonly inDoubt = { twice: 0, unseen: 0 };
  /** When the IRC server died, in milliseconds since 1970: nothing else excuses a repetition. */
  readonly ircCrashes: number[] = [];
  /** Numbers worth telling. */
  notes: Record<string, number | string> = {};

  /** Whether it counts how long something takes. */
  judgesTimes = false;
  /** Told where a run is. */
  progress: (where: string) => void = () => {};

  private constructor(
    readonly t: Teardown,
    readonly random: Random,
    readonly nats: { url: string; nodes: ServerProcess[] },
    readonly ircd: TestIrcd,
    /** Between the bot and the IRC server. */
    readonly irc: TcpRelay,
    readonly services: Map<string, TestService>,
    readonly load: Load,
    readonly witness: Observer,
  ) {
    this.memory = new MemoryWatch(() => [...services].map(([name, { pid }]) => [name, pid]));
    t.teardown(() => this.memory.stop());
  }

  /** Starts everything, makes the bot create each channel, and lets the witness in. */
  static async open(t: Teardown, random: Random, options: StageOptions = {}): Promise<Stage> {
    const { shape = 'one', channels = 50, environment = {}, prepareStore } = options;
    const [nats, ircd, postgres] = await Promise.all([
      shape === 'cluster' ? startNatsCluster(t) : startOneNats(t, prepareStore),
      startIrcd(t),
      shape === 'one' ? undefined : startPostgres(t),
    ]);
    const irc = await startTcpRelay(t, ircd.port);
    const settings = {
      LOG_LEVEL: 'info',
      NATS_REPLICAS: String(nats.nodes.length),
      ...(postgres ? { DATABASE_URL: postgres.url } : {}),
      ...environment,
    };
    const processes: [string, string][] = shape === 'one' ? [['service', 'all']] : split;
    const starting = processes.map(async ([name, ROLES]) => {
      const service = await startService(t, { nats, ircd, ircUrl: irc.url }, { ...settings, ROLES });
      return [name, service] as const;
    });
    const services = new Map(await Promise.all(starting));
    const apis = [...services].filter(([name]) => /^(service|api)/.test(name)).map(([, { url }]) => url);
    const load = new Load(apis, channels);
    const witness = await makeChannels(t, load, ircd, apis[0]!);
    return new Stage(t, random, nats, ircd, irc, services, load, witness);
  }

  /** An address of the API that answers. */
  get url(): string {
    return (this.services.get('service') ?? this.services.get('api-1'))!.url;
  }

  /** The service, where it is one process. */
  get service(): TestService {
    return this.services.get('service')!;
  }

  /** The only log server, or the first one. */
  get log(): ServerProcess {
    return this.nats.nodes[0]!;
  }

  /** Begins the count for another fault on the same stage; what is in doubt stays so. */
  reset(): void {
    this.recoveries = [];
    this.broken = [];
    this.notes = {};
  }

  /** The process that delivers, and the one that stands by; true until one of them is stopped. */
  get deliverers(): [holder: TestService, standby: TestService] {
    const [one, other] = [this.services.get('irc-1')!, this.services.get('irc-2')!];
    return /"lease":"deliver-to-irc".*"lease taken"/.test(one.log()) ? [one, other] : [other, one];
  }

  /**
   * Notes what took too long, where times are judged: in long forms, on a machine that has nothing else to do. Tests
   * judge no time here: the same promises are held in simulated time.
   */
  expectSoon(ms: number, boundMs: number, what: string): void {
    if (this.judgesTimes) this.expect(ms < boundMs, `${what}: ${Math.round(ms)} ms`);
  }

  /** Notes what does not hold. */
  expect(condition: boolean, what: string): void {
    if (!condition) this.broken.push(what);
  }

  /** Strikes so many times, each at a random moment of its part of the events. */
  async strikes({ times, events }: Size, strike: (round: number) => Promise<void>): Promise<void> {
    for (let round = 0; round < times; round++) {
      const part = Math.floor((events * (round + 1)) / times) - Math.floor((events * round) / times);
      const before = this.load.events.size;
      const posting = this.load.post(part);
      await this.load.reached(before + Math.floor(part * (0.1 + 0.6 * this.random())));
      this.progress(`${round + 1} of ${times}`);
      const struckAt = performance.now();
      await strike(round);
      await posting;
      this.recoveries.push((await this.firstLineAfter(struckAt)) - struckAt);
    }
  }

  /** When the first line was shown whose event was posted after a time. */
  async firstLineAfter(time: number): Promise<number> {
    const line = await this.witness.waitFor((line) => {
      const id = idOf(line.text);
      const event = id === undefined ? undefined : this.load.events.get(id);
      return event !== undefined && event.postedAt >= time;
    }, recoveryBoundMs);
    return line.at.getTime() - performance.timeOrigin;
  }

  /** Ends a process without a word and starts it again, as a supervisor would. */
  async restart(process: { kill(): Promise<unknown>; start(): Promise<void> }): Promise<void> {
    await process.kill();
    await process.start();
  }

  /**
   * Kills the IRC server and starts it again. The bot finds it when the witness is back, who must not miss a
   * line.
   */
  async restartIrcd(): Promise<void> {
    const { connects } = this.witness;
    this.inDoubt.twice += 1;
    this.inDoubt.unseen += 1;
    this.ircCrashes.push(Date.now());
    this.irc.refuse(true);
    await this.restart(this.ircd);
    const isBack = () => this.witness.connected && this.witness.connects > connects;
    await this.witness.waitUntil(isBack, 'the witness to be back');
    this.irc.refuse(false);
  }

  /** Waits for a while that is part of the fault itself. */
  async pass(seconds: number): Promise<void> {
    await sleep(seconds * 1_000);
  }

  /** A number between the two. */
  between(low: number, high: number): number {
    return low + (high - low) * this.random();
  }
}

async function startOneNats(t: Teardown, prepareStore: StageOptions['prepareStore']) {
  const nats = await startNats(t, { sync: 'always' });
  if (prepareStore) {
    await nats.kill();
    await prepareStore(`${nats.dir}/store`);
    await nats.start();
  }
  return { url: nats.url, nodes: [nats] };
}

/** One event for each category makes its channel; the witness comes in when all are there. */
async function makeChannels(t: Teardown, load: Load, ircd: TestIrcd, url: string): Promise<Observer> {
  const warm = load.channels.slice(1).map((channel, n) => ({
    event_id: `warm-${n}`,
    event_type: 'task.published',
    source: 'marketplace',
    payload: { id: `w${n}`, title: 'Warm', category: channel.slice('#cat-'.length) },
  }));
  await Promise.all(
    warm.map((event) =>
      eventually('the first events to be taken', async () => (await load.attempt(url, event)).status < 300),
    ),
  );
  load.answers.length = 0;
  await eventually('the channels to be made', async () => (await queueOf(url)).pending === 0);
  const witness = await observe(ircd.port, {
    nick: 'witness',
    password: ircd.serverPassword,
    channels: load.channels,
  });
  t.teardown(() => witness.stop());
  return witness;
}

/** The queue as the API counts it. */
export async function queueOf(url: string): Promise<{ pending: number; dead_letter: number }> {
  const answer = await fetch(`${url}/hooks/em/stats`, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`the statistics answer ${answer.status}`);
  return (await answer.json()) as { pending: number; dead_letter: number };
}
