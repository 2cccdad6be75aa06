import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { IrcConnection } from '../../../workers/irc/connection.js';
import type { SayOutcome } from '../../../workers/irc/exchange.js';
import type { Session } from '../../../workers/irc/session.js';
import { type FaultKind, Faults } from '../irc/faults.js';
import { inspircd, ngircd } from '../irc/kinds.js';
import { credentials, IrcNetwork } from '../irc/network.js';
import type { Person } from '../irc/person.js';
import type { Random } from '../random.js';
import type { Scenario, Stage } from '../scenario.js';

/** What became of one line, by its text, in the order in which the lines of a channel were given. */
interface Said {
  channel: string;
  text: string;
  outcome: SayOutcome | undefined;
}

const channels = ['#alpha', '#beta', '#gamma'] as const;
const nicks = { speaker: 'em-bot', witness: 'em-irc' } as const;
const faultsPerRun = 20;
const linesPerChannel = 30;
const faultsForMs = 60_000;
/** A bot that was sent away for the sixth time waits half a minute, and one whose session is dead may find it out late. */
const calmWithinMs = 120_000;
/** What makes a registration slow on a network that is not at fault for it. */
const slowing: readonly FaultKind[] = ['freeze', 'throttle', 'lag'];

/** One bot speaks in some channels, another looks on, while faults are struck at the network. */
export const sessions: Scenario = {
  name: 'sessions',
  says: 'two bots on an IRC network: one speaks, one looks on',
  kept: [151, 390, 1048],
  boundMs: 600_000,
  play: (stage) => new Speakers(stage).play(),
};

class Speakers {
  readonly #stage: Stage;
  readonly #said: Said[] = [];
  readonly #faults: Faults;
  readonly #network: IrcNetwork;
  readonly #random: Random;
  /** One speaks, the other only looks on. */
  readonly #irc: IrcConnection;
  readonly #witness: IrcConnection;
  readonly #people: Person[];
  readonly #finished = new Set<string>();
  #isCalm = false;
  #isOver = false;

  constructor(stage: Stage) {
    const { world } = stage;
    this.#stage = stage;
    this.#random = stage.fork();
    const kind = this.#random.chance(0.15) ? ngircd : inspircd;
    const reservedNicks = kind.forces && this.#random.chance(0.3) ? Object.values(nicks) : [];
    this.#network = new IrcNetwork(world, { kind, servers: this.#random.int(1, 3), reservedNicks });
    this.#faults = new Faults({ world, network: this.#network, nicks: Object.values(nicks), channels });
    this.#irc = this.#connection(nicks.speaker);
    this.#witness = this.#connection(nicks.witness);
    this.#look();
    this.#people = ['alice', 'bob'].map((name, server) =>
      this.#network.person(name, { server: Math.min(server, this.#network.servers.length - 1) }),
    );
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    this.#irc.start();
    this.#witness.start();
    const speaking = channels.map((channel) => this.#speak(channel));
    for (let n = 0; n < faultsPerRun; n++) {
      const kind = this.#faults.any(this.#random);
      stage.planFault(this.#random.int(0, faultsForMs), kind, (random) => this.#faults.strike(kind, random));
    }
    for (let n = 0; n < 60; n++)
      stage.plan(this.#random.int(0, faultsForMs), 'somebody talks', (random) => this.#chat(random));
    await stage.pass(faultsForMs);
    this.#faults.calm();
    this.#isCalm = true;
    const state = () => JSON.stringify([this.#irc.status(), this.#witness.status(), [...this.#finished]]);
    await stage.within(calmWithinMs, 'all is well once it is calm', () => this.#isWell(), state);
    this.#isOver = true;
    await stage.pass(1_000);
    let isStopped = false;
    void Promise.all([this.#irc.stop(), this.#witness.stop(), ...speaking]).then(() => {
      isStopped = true;
    });
    await stage.within(10_000, 'the bots stop', () => isStopped);
    for (const person of this.#people) person.quit();
    // what a server still has of lost connections goes with its pings
    await stage.pass(90_000);
    const { size } = this.#network.connections;
    stage.check('no connection is left', size === 0, () => `${size}`);
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
      this.#stage.check('a line is told once in a session', !told.has(msgid), () => `${params.at(-1)}`);
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
    this.#stage.world.tell(nick, reason === undefined ? msg : `${msg}: ${reason}`);
    const isSlow = slowing.some((kind) => this.#faults.kinds.includes(kind));
    const isOverdue = reason?.startsWith('not registered within') === true;
    if (!isSlow) this.#stage.check('a bot registers in time', !isOverdue, () => `${reason}`);
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
      this.#said.push(line);
      line.outcome = await session.say(channel, line.text, `${channel}.${n}`);
      await delay(this.#random.int(0, 2_000) * (n < linesPerChannel ? 1 : 2));
    }
    for (let n = 0; ; n++) {
      const session = await this.#enter(channel);
      const line: Said = { channel, text: `${channel} last ${n}`, outcome: undefined };
      this.#said.push(line);
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
  #chat(random: Random): void {
    const person = random.pick(this.#people);
    const channel = random.pick(channels);
    const act = random.int(0, 9);
    if (act < 3) person.join(channel);
    else if (act < 4) person.send(`PART ${channel}`);
    else if (act < 5) person.send(`PRIVMSG em-bot :hello ${act}`);
    else person.say(channel, `chat ${random.int(0, 999)}`);
  }

  #judge(): void {
    const stage = this.#stage;
    const shown = new Map<string, number>();
    const last = new Map<string, number>();
    const numbers = new Map(this.#said.map(({ text }, number) => [text, number]));
    for (const { text, channel } of this.#network.shown) {
      const number = numbers.get(text);
      if (number === undefined) continue;
      shown.set(text, (shown.get(text) ?? 0) + 1);
      stage.check('order in each channel', number >= (last.get(channel) ?? -1), text);
      last.set(channel, number);
    }
    for (const { text, outcome } of this.#said) {
      const times = shown.get(text) ?? 0;
      const [least, most] = limitsOf(outcome);
      const holds = times >= least && times <= most;
      stage.check('shown as told', holds, () => `${JSON.stringify(outcome)}, shown ${times} times: ${text}`);
      stage.count(`lines ${outcome?.is}`);
    }
  }
}

/** How often a line may have been shown, by what was said of it. */
function limitsOf(outcome: SayOutcome | undefined): [number, number] {
  if (outcome?.is === 'confirmed') return [1, 1];
  if (outcome?.is === 'refused' || (outcome?.is === 'lost' && !outcome.written)) return [0, 0];
  return [0, 1];
}
