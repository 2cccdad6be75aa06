import { type Config, readConfig } from '../../../src/config/config.js';
import { redriveDeadLetter } from '../../../src/operations/delivery/dead-letters.js';
import type { Log } from '../../../streams/core/index.js';
import { deliveryDecider } from '../../../streams/delivery/index.js';
import { createChannels } from '../../../workers/channels/index.js';
import type { ModeChange } from '../irc/facts.js';
import { Faults } from '../irc/faults.js';
import { IrcNetwork } from '../irc/network.js';
import type { Person } from '../irc/person.js';
import { logFaults } from '../log/faults.js';
import { SimulatedLogServer } from '../log/server.js';
import { leave, type Place, Process, type Surroundings, twoPlaces } from '../process.js';
import type { Random } from '../random.js';
import type { Scenario, Stage } from '../scenario.js';
import { Delivered } from './delivered.js';
import { beginDeliverer, type Deliverer, limitsOf, streams } from './deliverer.js';
import { DirectoryOnLog } from './directory.js';
import { assignment, Producers } from './producers.js';
import { ShownLines } from './shown-lines.js';

const tasks = ['t1', 't2', 't3', 't4', 't5'];
/** Their rooms are opened by the first event about them when all is well. */
const lastTasks = ['l1', 'l2', 'l3'];
const taskRooms = tasks.map((task) => `#task-${task}`);
/** They are open to everybody, whatever a fault makes of them. */
const openRooms = ['#bounties', '#payments', '#disputes', '#cat-photo', '#relay-r1', '#city-porto'];
const people = ['alice', 'bob'];
/** How long an event may wait, at most. */
const lifetimes = ['5000', '15000', '3600000'];

const busyMs = 60_000;
const faultsPerRun = 20;
const eventsPerRun = 190;
const stepsPerRun = 40;
const redrivesPerRun = 10;
const mutesPerRun = 4;
/** A bot whose nick somebody has may wait for two minutes and a half. */
const calmWithinMs = 240_000;
/** For less than a line is tried. */
const mutedMs = 3_000;
/** When all is well an event is shown at once, except for retries. */
const deliveredWithinMs = 30_000;

/** Producers post events, and these become lines in channels, while servers and processes fail. */
export const delivery: Scenario = {
  name: 'delivery',
  says: 'events on their way into channels: reception, delivery, the channel bot and automation in two processes',
  kept: [
    486466977, 966708178, 748522530, 748522595, 748522671, 1025809766, 112182665, 112182645, 1642987094,
    2139102732,
  ],
  boundMs: 1_500_000,
  play: (stage) => new Delivering(stage).play(),
};

class Delivering {
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #config: Config;
  readonly #bots: readonly string[];
  readonly #network: IrcNetwork;
  readonly #logServer: SimulatedLogServer;
  readonly #directory: DirectoryOnLog;
  readonly #faults: Faults;
  readonly #around: Surroundings;
  readonly #places: Place<Deliverer>[];
  readonly #people = new Map<string, Person>();
  readonly #producers: Producers;
  readonly #delivered: Delivered;
  readonly #redriving = new Set<Promise<void>>();

  constructor(stage: Stage) {
    const { world } = stage;
    this.#stage = stage;
    this.#random = stage.fork();
    this.#config = readConfig({
      EVENT_TTL_MS: this.#random.pick(lifetimes),
      EVENT_RETRY_MS: '2000',
      CHANNEL_CREATIONS_PER_HOUR: '0',
      CHANNEL_DELETIONS_PER_HOUR: '0',
    });
    this.#network = new IrcNetwork(world, { servers: this.#random.int(1, 2) });
    this.#logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    this.#directory = new DirectoryOnLog(this.#logServer);
    this.#bots = [this.#config.EM_NICK, this.#config.CHANNELSERV_NICK];
    const struck = { network: this.#network, nicks: this.#bots, channels: openRooms };
    this.#faults = new Faults({ world, ...struck });
    this.#delivered = new Delivered(stage, this.#logServer);
    this.#around = { stage, logServer: this.#logServer, network: this.#network };
    const { readModels } = this.#directory;
    const begin = (process: Process) => beginDeliverer(process, this.#config, readModels);
    this.#places = twoPlaces(this.#around, begin);
    this.#producers = new Producers(stage, () => this.#places.map(({ program }) => program));
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    const starting = this.#places.map((place) => place.start());
    const log = await new Process('operator', this.#around).openLog(streams);
    for (const nick of people) this.#people.set(nick, this.#network.person(nick));
    await stage.pass(3_000);
    const from = stage.world.elapsed;
    const at = () => from + this.#random.int(0, busyMs);
    for (let n = 0; n < faultsPerRun; n++) this.#planFault(at());
    for (let n = 0; n < eventsPerRun; n++)
      stage.plan(at(), 'an event', (random) => this.#producers.post(random, tasks));
    for (let n = 0; n < stepsPerRun; n++)
      stage.plan(at(), 'somebody does something', (random) => this.#act(random, log));
    for (let n = 0; n < mutesPerRun; n++)
      stage.planFault(at(), 'room muted', (random) =>
        this.#mute(random.pick([...openRooms, ...taskRooms]), random.int(3_000, 25_000)),
      );
    for (let n = 0; n < redrivesPerRun; n++)
      stage.plan(at(), 'a redrive', (random) => {
        const undelivered = this.#delivered.undelivered();
        if (undelivered.length > 0) this.#redrive(random.pick(undelivered), log);
      });
    await stage.pass(busyMs);
    this.#faults.calm();
    this.#logServer.heal();
    this.#directory.awayUntil = 0;
    await Promise.all([...starting, this.#producers.atRest(), ...this.#redriving]);
    await this.#settle(calmWithinMs);
    const there = () => this.#places.flatMap(({ program }) => program?.bots() ?? []);
    const areBack = () => this.#bots.every((nick) => there().includes(nick));
    await stage.within(calmWithinMs, 'the bots are back', areBack, () => there().join(', '));
    for (const id of this.#delivered.undelivered()) this.#redrive(id, log);
    await Promise.all(this.#redriving);
    await this.#settle(calmWithinMs);
    await this.#postLast();
    new ShownLines(stage, this.#network, this.#delivered).judge(this.#producers.posted);
    await Promise.all([leave(this.#around, this.#places, this.#people.values()), log.close()]);
    this.#logServer.close();
  }

  #planFault(at: number): void {
    const stage = this.#stage;
    const kind = this.#random.int(0, 9);
    if (kind < 4) {
      const name = this.#faults.any(this.#random);
      stage.planFault(at, name, (random) => this.#faults.strike(name, random));
    } else if (kind < 7) {
      const fault = this.#random.pick(logFaults);
      stage.planFault(at, `log: ${fault.name}`, (random) =>
        fault.strike(this.#logServer, stage.world, random),
      );
    } else if (kind < 8)
      stage.planFault(at, 'store away', (random) => {
        this.#directory.awayUntil = stage.world.now + random.int(500, 10_000);
      });
    else stage.planFault(at, 'killed process', (random) => random.pick(this.#places).kill(random));
  }

  /** People come and talk, kick the bot from rooms and delete some of these. */
  #act(random: Random, log: Log): void {
    const nick = random.pick(people);
    const person = this.#people.get(nick);
    if (!person || person.client.closed) {
      if (this.#network.isUp()) this.#people.set(nick, this.#network.person(nick));
      return;
    }
    const room = random.pick([...openRooms, ...taskRooms]);
    const act = random.int(0, 9);
    if (act < 4) {
      person.join(room);
      person.say(room, 'how is the weather today');
    } else if (act < 8) this.#network.kick(this.#config.EM_NICK, room);
    else this.#deleteRoom(random.pick(taskRooms), log);
  }

  /** The bot cannot speak in a room for a while. */
  #mute(channel: string, ms: number): void {
    const { world } = this.#stage;
    const [server] = this.#network.servers;
    const change = (sign: '+' | '-') => {
      const bot = server!.user(this.#config.EM_NICK);
      const changes: ModeChange[] = [{ sign, letter: 'm' }];
      if (bot && sign === '+') changes.push({ sign: '-', letter: 'v', value: bot.nick, user: bot.id });
      if (server!.channel(channel))
        server!.happen({ is: 'mode', by: { server: server!.name }, channel, changes, at: world.now });
      server!.flush();
    };
    change('+');
    world.after(ms, () => change('-'));
  }

  #deleteRoom(name: string, log: Log): void {
    const asked = { name, reason: 'not wanted', immediate: true, cause: 'request' as const };
    this.#stage.world.tell('operator', `deletes ${name}`);
    createChannels(log)
      .remove(asked, { by: 'operator' })
      .catch(() => {});
  }

  #redrive(event_id: string, log: Log): void {
    const stage = this.#stage;
    const parts = { log, readModels: this.#directory.readModels };
    const decider = deliveryDecider(limitsOf(this.#config));
    stage.world.tell('operator', `redrives ${event_id}`);
    const redrive = redriveDeadLetter
      .run({ event_id }, { is: 'key', actor: 'operator' }, { ...parts, delivery: { decider } })
      .then(() => stage.count('redriven'))
      .catch((error: { kind?: string; code?: string; stack?: string }) => {
        const isKnown = error.kind === 'unavailable' || error.code === 'not_dead_lettered';
        stage.check('redrives are refused in known ways', isKnown, () => `${error.stack}`);
      });
    this.#redriving.add(redrive);
    void redrive.finally(() => this.#redriving.delete(redrive));
  }

  /** Every event has a recorded end, and nobody has one in hand any more. */
  async #settle(boundMs: number): Promise<void> {
    const stage = this.#stage;
    const open = () => this.#delivered.open().join(', ');
    await stage.within(boundMs, 'every event comes to its end', () => open() === '', open);
    const inHand = () => this.#places.reduce((sum, { program }) => sum + (program?.inHand() ?? 0), 0);
    await stage.within(
      10_000,
      'no event is left in hand',
      () => inHand() === 0,
      () => `${inHand()}`,
    );
  }

  /** What is posted when all is well is shown, and rooms of tasks are private before anything is said there. */
  async #postLast(): Promise<void> {
    const stage = this.#stage;
    const random = this.#random.fork();
    // processes learn each minute that the log's clock was set, and need that to notice an overdue answer
    if (stage.faults['log: set clock']) await stage.pass(60_000);
    const from = this.#network.shown.length;
    for (const task of lastTasks) this.#producers.post(random, [task], assignment);
    await this.#producers.atRest();
    // what earlier days have left in the worker shows when a line must be tried again
    for (const room of [...openRooms, ...taskRooms]) this.#mute(room, mutedMs);
    for (let n = 0; n < 15; n++) this.#producers.post(random, [...tasks, ...lastTasks]);
    await this.#producers.atRest();
    await this.#settle(deliveredWithinMs);
    for (const { channel, modes, text } of this.#network.shown.slice(from))
      if (lastTasks.some((task) => channel === `#task-${task}`))
        stage.check('rooms of tasks are private', modes.includes('i'), `${channel} +${modes}: ${text}`);
  }
}
