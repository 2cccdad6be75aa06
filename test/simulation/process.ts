import type { Socket } from 'node:net';
import pino, { type Logger } from 'pino';
import type { Projector } from '../../projections/core/projector.js';
import type { Sql } from '../../projections/core/sql.js';
import { Log, pause, type StreamDefinition } from '../../streams/core/index.js';
import type { Dial } from '../../workers/irc/transport.js';
import type { Outside } from './http/outside.js';
import { credentials, type IrcNetwork } from './irc/network.js';
import type { Person } from './irc/person.js';
import type { SimulatedSocket } from './irc/wire.js';
import type { SimulatedLogServer } from './log/server.js';
import type { Random } from './random.js';
import type { Stage } from './scenario.js';

const warn = 40;
const error = 50;
/** Errors in a process's log that its servers cause. */
const ofServers =
  /^the log refuses appends$|^irc operator state refused$|^channels cannot be kept on this network$/;

/** Where processes of the product live. */
export interface Surroundings {
  stage: Stage;
  logServer: SimulatedLogServer;
  /** None where no process dials it. */
  network?: IrcNetwork;
  /** Hosts that processes ask over HTTP, if any. */
  outside?: Outside;
  /** Errors in a process's log that only this scenario's servers cause. */
  expected?: RegExp;
}

/** One process of the product as the servers see it: its connections, and its end. */
export class Process {
  readonly name: string;
  /** The name of where it runs. */
  readonly place: string;
  readonly logger: Logger;
  readonly #around: Surroundings;
  readonly #sockets = new Set<SimulatedSocket>();
  #isDead = false;

  constructor(name: string, around: Surroundings, place = name) {
    this.name = name;
    this.place = place;
    this.#around = around;
    this.logger = pino({ level: 'info' }, { write: (line: string) => this.#read(JSON.parse(line)) });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** A connection to the log, with some of the product's streams. */
  openLog(streams: StreamDefinition[]): Promise<Log> {
    return Log.open({
      urls: '',
      name: this.name,
      streams,
      replicas: 1,
      maxBytes: 50e6,
      logger: this.logger,
      connect: (as) => this.#around.logServer.connect(as),
    });
  }

  /** What it dials the network with. */
  dial(server = 0): Dial {
    return () => {
      const socket = this.#around.network!.connect(server);
      socket.on('close', () => this.#sockets.delete(socket));
      this.#sockets.add(socket);
      if (this.#isDead) socket.gone('ECONNREFUSED');
      return socket as unknown as Socket;
    };
  }

  /** What each bot of it is made with. */
  botParts(log: Log) {
    const { password: ircServerPassword, oper: ircOper, gatewayPassword: ircGatewayPassword } = credentials;
    return {
      log,
      logger: this.logger,
      holder: this.name,
      ircUrl: 'irc://simulated:6667',
      dial: this.dial(),
      hasNickService: false,
      secrets: { webhook: [], ircServerPassword, ircOper, ircGatewayPassword },
    };
  }

  /** Where it finds a host. */
  addressOf(host: string): string {
    return this.#around.outside!.addressFor(this.name, host);
  }

  /**
   * It is gone from one moment to the next, with its machine or alone. The servers hear nothing of it any
   * more, and it hears nothing of them. Nobody sees what the program still does then.
   */
  kill(random: Random): void {
    const { stage, logServer, network, outside } = this.#around;
    stage.world.tell(this.name, 'is killed');
    this.#isDead = true;
    logServer.bury(this.name);
    outside?.bury(this.name);
    const isMachineGone = random.chance(0.3);
    const connections = [...(network?.connections ?? [])].filter(({ socket }) => this.#sockets.has(socket));
    for (const connection of connections) {
      if (isMachineGone) connection.leaveGhost(random.int(0, 8_000));
      else connection.cut();
    }
    for (const socket of this.#sockets) socket.gone('ECONNRESET');
  }

  #read({ level, msg, err }: { level: number; msg: string; err?: { message: string; stack: string } }): void {
    const { stage, expected } = this.#around;
    stage.world.tell(this.name, err ? `${msg}: ${err.message}` : msg);
    if (level >= warn && /TypeError|RangeError|ReferenceError/.test(err?.stack ?? ''))
      stage.wrong(`${this.name}: ${err!.stack}`);
    const isOwn = level >= error && !this.#isDead && !ofServers.test(msg) && !expected?.test(msg);
    stage.check('nothing is logged as an error', !isOwn, () => `${msg} ${err?.stack ?? ''}`);
  }
}

/** What a process runs. */
export interface Running {
  stop(): Promise<void>;
}

/** Starts leases. What comes back ends them, and then what they worked with. */
export function runLeases(
  leases: readonly { start(): void; stop(): Promise<void> }[],
  { log, projector, sql }: { log: Log; projector?: Projector; sql?: Sql },
): Running {
  for (const lease of leases) lease.start();
  return {
    stop: async () => {
      await Promise.all(leases.map((lease) => lease.stop()));
      if (projector) await projector.stop();
      await log.close();
      if (sql) await sql.close();
    },
  };
}

/** Where a process of the product runs, and after its end the next one. */
export class Place<Program extends Running> {
  /** What runs here now; `undefined` while a process comes up. */
  program: Program | undefined;
  readonly #name: string;
  readonly #around: Surroundings;
  readonly #begin: (process: Process) => Promise<Program>;
  readonly #ends: Promise<void>[] = [];
  #process: Process | undefined;
  #count = 0;
  #isOver = false;

  constructor(name: string, around: Surroundings, begin: (process: Process) => Promise<Program>) {
    this.#name = name;
    this.#around = around;
    this.#begin = begin;
  }

  /** Starts a process, with another attempt after each failure. */
  async start(): Promise<void> {
    while (!this.#isOver) {
      const process = new Process(`${this.#name} ${++this.#count}`, this.#around, this.#name);
      this.#process = process;
      try {
        const program = await this.#begin(process);
        if (process.isDead) return void this.#ends.push(program.stop());
        this.program = program;
        return;
      } catch {
        await pause(1_000);
        if (process.isDead) return;
      }
    }
  }

  /** Kills the process; the next one starts after a while. */
  kill(random: Random): void {
    if (!this.#process || this.#process.isDead) return;
    this.#process.kill(random);
    if (this.program) this.#ends.push(this.program.stop());
    this.program = undefined;
    this.#around.stage.world.after(random.int(0, 6_000), () => this.#ends.push(this.start()));
  }

  /** Stops what runs here; resolves when nothing of any process is left. */
  async stop(): Promise<void> {
    this.#isOver = true;
    // one may be on its way still
    await Promise.all(this.#ends);
    await this.program?.stop();
  }
}

/** The places of most worlds. */
export function twoPlaces<Program extends Running>(
  around: Surroundings,
  begin: (process: Process) => Promise<Program>,
): Place<Program>[] {
  return ['one', 'two'].map((name) => new Place(name, around, begin));
}

/** How long consumers may take to come to the end once nothing happens any more, in simulated milliseconds. */
const unfinishedMs = 60_000;

/** Stops what runs, after the last of its work. */
export async function end(
  { stage, logServer }: Surroundings,
  places: readonly Place<Running>[],
): Promise<void> {
  const left = () => logServer.unfinished().join(', ');
  await stage.within(unfinishedMs, 'consumers come to the end', () => left() === '', left);
  await Promise.all(places.map((place) => place.stop()));
}

/** Stops what runs, has people leave, and waits until nothing of them is left. */
export async function leave(
  around: Surroundings,
  places: readonly Place<Running>[],
  people: Iterable<Person>,
): Promise<void> {
  await end(around, places);
  for (const person of people) person.quit();
  await around.stage.pass(120_000);
}
