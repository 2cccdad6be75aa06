import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { IrcConnection } from '../../../workers/irc/connection.js';
import type { SayOutcome } from '../../../workers/irc/exchange.js';
import type { Session } from '../../../workers/irc/session.js';
import { takeOverGlobals } from '../globals.js';
import type { Random } from '../random.js';
import { World } from '../world.js';
import { type FaultKind, Faults } from './faults.js';
import { inspircd, ngircd } from './kinds.js';
import { credentials, IrcNetwork } from './network.js';
import type { Person } from './person.js';

/** What became of one line, by its text, in the order in which the lines of a channel were given. */
export interface Said {
  channel: string;
  text: string;
  outcome: SayOutcome | undefined;
}

/** How a run of bots that speak under faults went. */
export interface Run {
  world: World;
  /** What was not as it has to be; empty when all was well. */
  violations: string[];
  said: Said[];
  struck: ReadonlyMap<FaultKind, number>;
}

const channels = ['#alpha', '#beta', '#gamma'] as const;
const nicks = { speaker: 'em-bot', witness: 'em-irc' } as const;
const linesPerChannel = 30;
const faultsForMs = 60_000;
/** A bot that was sent away for the sixth time waits half a minute, and one whose session is dead may find it out late. */
const calmWithinMs = 120_000;
/** What makes a registration slow on a network that is not at fault for it. */
const slowing: readonly FaultKind[] = ['freeze', 'throttle', 'lag'];

/** Has one bot speak in some channels while faults are struck, all decided by a seed. */
export async function speakUnderFaults(seed: number, { faults: count = 20 } = {}): Promise<Run> {
  const world = new World(seed);
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown) => void rejections.push(reason);
  process.on('unhandledRejection', onRejection);
  const giveBack = takeOverGlobals(world);
  try {
    const stage = new Stage(world);
    await stage.play(count);
    for (const reason of rejections) stage.violations.push(`unhandled rejection: ${String(reason)}`);
    const { violations, said, faults } = stage;
    return { world, violations, said, struck: faults.struck };
  } finally {
    giveBack();
    process.off('unhandledRejection', onRejection);
  }
}

class Stage {
  readonly violations: string[] = [];
  readonly said: Said[] = [];
  readonly faults: Faults;
  readonly #world: World;
  readonly #network: IrcNetwork;
  readonly #random: Random;
  /** One speaks, the other only looks on. */
  readonly #irc: IrcConnection;
  readonly #witness: IrcConnection;
  readonly #people: Person[];
  readonly #finished = new Set<string>();
  #isCalm = false;
  #isOver = false;

  constructor(world: World) {
    this.#world = world;
    this.#random = world.random.fork();
    const kind = this.#random.chance(0.15) ? ngircd : inspircd;
    const reservedNicks = kind.forces && this.#random.chance(0.3) ? Object.values(nicks) : [];
    this.#network = new IrcNetwork(world, { kind, servers: this.#random.int(1, 3), reservedNicks });
    this.faults = new Faults({ world, network: this.#network, nicks: Object.values(nicks), channels });
    this.#irc = this.#connection(nicks.speaker);
    this.#witness = this.#connection(nicks.witness);
    this.#look();
    this.#people = ['alice', 'bob'].map((name, server) =>
      this.#network.person(name, { server: Math.min(server, this.#network.servers.length - 1) }),
    );
  }

  async play(faults: number): Promise<void> {
    const world = this.#world;
    this.#irc.start();
    this.#witness.start();
    const speaking = channels.map((channel) => this.#speak(channel));
    for (let n = 0; n < faults; n++)
      world.after(this.#random.int(0, faultsForMs), () => this.faults.strike());
    for (let n = 0; n < 60; n++) world.after(this.#random.int(0, faultsForMs), () => this.#chat());
    await world.pass(faultsForMs);
    this.faults.calm();
    this.#isCalm = true;
    if (!(await world.until(() => this.#isWell(), calmWithinMs)))
      this.violations.push(
        `not well ${calmWithinMs} ms after the faults: ${JSON.stringify([this.#irc.status(), this.#witness.status()])}, ${[...this.#finished]}`,
      );
    this.#isOver = true;
    await world.pass(1_000);
    let isStopped = false;
    void Promise.all([this.#irc.stop(), this.#witness.stop(), ...speaking]).then(() => {
      isStopped = true;
    });
    if (!(await world.until(() => isStopped, 10_000))) this.violations.push('the bots do not stop');
    for (const person of this.#people) person.quit();
    // what a server still has of lost connections goes with its pings
    await world.pass(90_000);
    if (world.waiting > 0) this.violations.push(`${world.waiting} timers are left`);
    if (this.#network.connections.size > 0) this.violations.push('connections are left');
    this.#judge();
  }

  #connection(nick: string): IrcConnection {
    const log = pino({ level: 'info' }, { write: (line: string) => this.#read(JSON.parse(line)) });
    const dial = this.#network.dial(this.#random.int(0, this.#network.servers.length - 1));
    return new IrcConnection({ url: 'irc://simulated:6667', nick, log, ...credentials, dial });
  }

  /** The witness keeps itself in the channels, and is told of each line once in a session. */
  #look(): void {
    let told = new Set<string>();
    this.#witness.on('session', (session) => {
      told = new Set();
      void this.#stay(session);
    });
    this.#witness.on('line', ({ command, tags: { msgid }, params }) => {
      if (command !== 'PRIVMSG' || msgid === undefined) return;
      if (told.has(msgid)) this.violations.push(`the witness is told twice: ${params.at(-1)}`);
      told.add(msgid);
    });
  }

  async #stay(session: Session): Promise<void> {
    while (!session.lost.aborted && !this.#isOver) {
      const away = channels.filter((channel) => !session.isIn(channel));
      if (away.length > 0) await session.join(away, { history: this.#random.chance(0.5), witness: true });
      await delay(1_000);
    }
  }

  #read({ nick, msg, reason }: { nick: string; msg: string; reason?: string }): void {
    this.#world.tell(nick, reason === undefined ? msg : `${msg}: ${reason}`);
    const isSlow = slowing.some((kind) => this.faults.kinds.includes(kind));
    if (!isSlow && reason?.startsWith('not registered within')) this.violations.push(reason);
  }

  #isWell(): boolean {
    const isThere = (irc: IrcConnection, as: string) => {
      const { connected, oper, nick } = irc.status();
      const session = irc.session();
      return connected && oper && nick === as && channels.every((channel) => session?.isIn(channel));
    };
    const areThere = isThere(this.#irc, nicks.speaker) && isThere(this.#witness, nicks.witness);
    return areThere && this.#finished.size === channels.length;
  }

  /** Lines for one channel, one after the other; the last ones when all is well, and those have to be confirmed. */
  async #speak(channel: string): Promise<void> {
    for (let n = 0; n < linesPerChannel || !this.#isCalm || !this.#irc.session(); n++) {
      const session = await this.#enter(channel);
      const line: Said = { channel, text: `${channel} ${n} é😀`, outcome: undefined };
      this.said.push(line);
      line.outcome = await session.say(channel, line.text, `${channel}.${n}`);
      await delay(this.#random.int(0, 2_000) * (n < linesPerChannel ? 1 : 2));
    }
    for (let n = 0; ; n++) {
      const session = await this.#enter(channel);
      const line: Said = { channel, text: `${channel} last ${n}`, outcome: undefined };
      this.said.push(line);
      line.outcome = await session.say(channel, line.text);
      if (line.outcome.is === 'confirmed') break;
      await delay(500);
    }
    this.#finished.add(channel);
    // a session that was dead already may only be found out now
    while (!this.#isOver) {
      await this.#enter(channel);
      await delay(500);
    }
  }

  async #enter(channel: string): Promise<Session> {
    for (;;) {
      const session = this.#irc.session() ?? (await once(this.#irc, 'session'))[0];
      if (session.isIn(channel)) return session;
      const outcome = (await session.join([channel], { history: this.#random.chance(0.5) })).get(channel);
      if (outcome?.is === 'joined' && session.isIn(channel)) return session;
      await delay(this.#random.int(10, 1_000));
    }
  }

  /** People come, go and talk. */
  #chat(): void {
    const person = this.#random.pick(this.#people);
    const channel = this.#random.pick(channels);
    const act = this.#random.int(0, 9);
    if (act < 3) person.join(channel);
    else if (act < 4) person.send(`PART ${channel}`);
    else if (act < 5) person.send(`PRIVMSG em-bot :hello ${act}`);
    else person.say(channel, `chat ${this.#random.int(0, 999)}`);
  }

  #judge(): void {
    const shown = new Map<string, number>();
    const last = new Map<string, number>();
    const numbers = new Map(this.said.map(({ text }, number) => [text, number]));
    for (const { text, channel } of this.#network.shown) {
      const number = numbers.get(text);
      if (number === undefined) continue;
      shown.set(text, (shown.get(text) ?? 0) + 1);
      if (number < (last.get(channel) ?? -1)) this.violations.push(`out of order: ${text}`);
      last.set(channel, number);
    }
    for (const { text, outcome } of this.said) {
      const times = shown.get(text) ?? 0;
      const [least, most] = limitsOf(outcome);
      if (times < least || times > most)
        this.violations.push(`${JSON.stringify(outcome)} and shown ${times} times: ${text}`);
    }
  }
}

/** How often a line may have been shown, by what was said of it. */
function limitsOf(outcome: SayOutcome | undefined): [number, number] {
  if (outcome?.is === 'confirmed') return [1, 1];
  if (outcome?.is === 'refused' || (outcome?.is === 'lost' && !outcome.written)) return [0, 0];
  return [0, 1];
}
