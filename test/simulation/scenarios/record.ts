import { createRecording } from '../../../src/app/bots/recording.js';
import { readConfig } from '../../../src/config/config.js';
import { channels as channelFacts, channelSubject } from '../../../streams/channels/index.js';
import { type Log, pause } from '../../../streams/core/index.js';
import { irc } from '../../../streams/network/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { createHelping } from '../helping.js';
import { agreedMs, Faults } from '../irc/faults.js';
import { credentials, IrcNetwork } from '../irc/network.js';
import type { Person } from '../irc/person.js';
import { SimulatedLogServer } from '../log/server.js';
import {
  leave,
  type Place,
  Process,
  type Running,
  runLeases,
  type Surroundings,
  twoPlaces,
} from '../process.js';
import type { Random } from '../random.js';
import type { Scenario, Stage } from '../scenario.js';
import { planTrouble, type Trouble } from '../trouble.js';
import { Recorded } from './recorded.js';

const config = readConfig({ IRC_CHANNELS: '#lobby,#disputes' });
const bot = config.BRIDGE_NICK;
const managed = '#task-one';
const channels = [...config.IRC_CHANNELS, managed];
const streams = [channelFacts, irc, operations];
const nicks = ['alice', 'bob', 'carol', 'dave', 'eve'];

const quietMs = 5_000;
const busyMs = 60_000;
const faultsPerRun = 20;
const stepsPerRun = 200;
/** A client that was refused by a channel often waits long before the next attempt. */
const calmWithinMs = 180_000;

/** The recorder in two processes; one of them holds it, while people come, go and talk. */
export const record: Scenario = {
  name: 'record',
  says: 'the recorder of what is said on the network, in two processes',
  kept: [
    1008, 1253, 10173, 10330, 10713, 11208, 1398711401, 961536067, 1300180256, 889205827, 1296481955,
    1992960613,
  ],
  boundMs: 900_000,
  play: (stage) => new Recording(stage).play(),
};

/** A recorder as a process of the product has it. */
interface Recorder extends Running {
  isBack(): boolean;
}

class Recording {
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #network: IrcNetwork;
  readonly #logServer: SimulatedLogServer;
  readonly #faults: Faults;
  readonly #around: Surroundings;
  readonly #places: Place<Recorder>[];
  readonly #trouble: Trouble;
  readonly #people = new Map<string, Person>();
  readonly #recorded: Recorded;
  #said = 0;

  constructor(stage: Stage) {
    const { world } = stage;
    this.#stage = stage;
    this.#random = stage.fork();
    this.#network = new IrcNetwork(world, { servers: this.#random.int(1, 2) });
    this.#logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    this.#faults = new Faults({ world, network: this.#network, nicks: [bot], channels });
    this.#recorded = new Recorded(stage, this.#logServer, this.#network, channels);
    this.#around = { stage, logServer: this.#logServer, network: this.#network };
    const keepsName = this.#random.chance(0.5);
    this.#places = twoPlaces(this.#around, (process) =>
      this.#begin(process, keepsName ? process.place : process.name),
    );
    this.#trouble = {
      stage,
      irc: { faults: this.#faults, ofTen: 4 },
      log: { server: this.#logServer, ofTen: 4 },
      places: this.#places,
    };
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    this.#makeManaged();
    // nobody knows whether a newly started server has forgotten something
    await stage.pass(quietMs);
    const starting = this.#places.map((place) => place.start());
    const managing = this.#manage();
    for (let n = 0; n < faultsPerRun; n++)
      planTrouble(this.#trouble, quietMs + this.#random.int(1_000, busyMs), this.#random);
    for (let n = 0; n < stepsPerRun; n++) {
      const at = this.#random.int(0, quietMs + busyMs);
      stage.plan(at, 'somebody does something', (random) => this.#act(random));
    }
    await stage.pass(busyMs + quietMs);
    this.#faults.calm();
    this.#logServer.heal();
    await Promise.all([...starting, managing]);
    await stage.within(
      calmWithinMs,
      'the recorder is back in all channels',
      () => this.#places.some(({ program }) => program?.isBack()),
      () => JSON.stringify(this.#places.map(({ program }) => program?.isBack())),
    );
    await this.#sayLast();
    await leave(this.#around, this.#places, this.#people.values());
    this.#recorded.judge();
    this.#logServer.close();
  }

  async #begin(process: Process, holder: string): Promise<Recorder> {
    const log = await process.openLog(streams);
    const parts = { ...process.botParts(log), holder };
    const { lease, held } = createRecording(config, parts);
    return {
      isBack: () => {
        const { irc, worker } = held() ?? {};
        const isAll = worker?.rooms === this.#wanted.length && worker.wanted === this.#wanted.length;
        return isAll && irc?.status().nick === bot && this.#wanted.every((name) => irc.session()?.isIn(name));
      },
      ...runLeases([lease, createHelping(config, parts)], { log }),
    };
  }
  #wanted = [...channels];

  /** Makes the managed channel on the network, as the channel bot does. */
  #makeManaged(): void {
    const maker = this.#network.person('maker');
    const { name, password } = credentials.oper;
    this.#stage.world.after(1_500, () =>
      maker.send(`JOIN ${managed}`, `OPER ${name} ${password}`, `SAMODE ${managed} +PH 100:1d`, 'QUIT'),
    );
  }

  /** A managed channel must be recorded, and perhaps not for ever. */
  async #manage(): Promise<void> {
    const process = new Process('manager', {
      stage: this.#stage,
      logServer: this.#logServer,
      network: this.#network,
    });
    const log = await process.openLog(streams);
    const random = this.#random.fork();
    await pause(random.int(0, busyMs / 2));
    const created = { type: 'special' as const, modes: '+nt', topic: '', metadata: {}, invite_list: [] };
    await this.#note(log, { type: 'channel.created', data: { name: managed, ...created, cause: 'request' } });
    if (random.chance(0.3)) {
      await pause(random.int(0, busyMs / 2));
      await this.#note(log, { type: 'channel.deleted', data: { name: managed, cause: 'request' } });
      this.#wanted = [...config.IRC_CHANNELS];
      this.#recorded.deleted(managed);
    }
    await log.close();
  }

  async #note(log: Log, fact: Parameters<Log['append']>[2]): Promise<void> {
    const origin = { by: 'manager', id: `${fact.type} ${managed}` };
    for (;;) {
      try {
        await log.append(channelFacts, channelSubject(managed), fact as never, origin);
        return;
      } catch {
        await pause(500);
      }
    }
  }

  /** Somebody says or does something; those who are away come. */
  #act(random: Random): void {
    const nick = random.pick(nicks);
    const server = nicks.indexOf(nick) % this.#network.servers.length;
    const person = this.#people.get(nick);
    const channel = random.pick(channels);
    if (!person || person.client.closed) {
      if (this.#network.isUp(server)) this.#people.set(nick, this.#network.person(nick, { server }));
      return;
    }
    if (!person.isThere) return;
    const act = random.int(0, 99);
    if (act < 60) this.#say(random, person, channel, act < 2 ? 120 : random.int(1, 3));
    else if (act < 70) person.join(channel);
    else if (act < 76) person.send(`PART ${channel} :later`);
    else if (act < 84) person.send(`NICK ${random.chance(0.5) ? nick : `${nick}_${random.int(1, 3)}`}`);
    else if (act < 90) this.#network.kick(person.client.user!.nick, channel);
    else if (act < 94) person.quit();
    else this.#network.setTopic(channel, `topic ${random.int(1, 99)}`);
  }

  #say(random: Random, person: Person, channel: string, lines: number): void {
    person.join(channel);
    for (let n = 0; n < lines; n++) {
      const text = `${channel} ${++this.#said} é`;
      const kind = random.int(0, 9);
      if (kind === 0) person.send(`NOTICE ${channel} :${text}`);
      else person.say(channel, kind === 1 ? `\x01ACTION ${text}\x01` : text);
    }
  }

  /** What is said when all is well is recorded. */
  async #sayLast(): Promise<void> {
    const stage = this.#stage;
    await stage.pass(agreedMs + 1);
    const prober = this.#network.person('prober');
    this.#people.set('prober', prober);
    await stage.within(5_000, 'people come', () => prober.isThere);
    for (const channel of this.#wanted) {
      prober.join(channel);
      prober.say(channel, `last of ${channel}`);
    }
    const isThere = () => this.#wanted.every((channel) => this.#recorded.has(channel, `last of ${channel}`));
    await stage.within(20_000, 'what is said when all is well is recorded', isThere);
    const wrong = () => this.#recorded.wrongMembers(this.#wanted);
    await stage.within(20_000, 'who is in a channel is recorded', () => wrong() === '', wrong);
  }
}
