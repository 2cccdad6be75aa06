import { channelDirectory } from '../../../projections/channels/directory.js';
import { Projector } from '../../../projections/core/projector.js';
import { moderationModel } from '../../../projections/moderation/fold.js';
import { moderationArea } from '../../../src/app/areas/moderation.js';
import { createChannelKeeping } from '../../../src/app/bots/channels.js';
import { createRecording } from '../../../src/app/bots/recording.js';
import { readConfig } from '../../../src/config/config.js';
import { ReadModels } from '../../../src/stores/read-models.js';
import { channels as channelFacts } from '../../../streams/channels/index.js';
import { market } from '../../../streams/events/index.js';
import { moderation } from '../../../streams/moderation/index.js';
import { irc } from '../../../streams/network/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { Faults } from '../irc/faults.js';
import { IrcNetwork } from '../irc/network.js';
import type { Person } from '../irc/person.js';
import { SimulatedLogServer } from '../log/server.js';
import {
  leave,
  type Place,
  type Process,
  type Running,
  runLeases,
  type Surroundings,
  twoPlaces,
} from '../process.js';
import type { Random } from '../random.js';
import type { Scenario, Stage } from '../scenario.js';
import { startEngine } from '../store/engine.js';
import { SimulatedStore } from '../store/server.js';
import { planTrouble, type Trouble } from '../trouble.js';
import { Sentences } from './sentences.js';

const config = readConfig({ IRC_CHANNELS: '#lobby,#disputes' });
const channels = config.IRC_CHANNELS;
const bots = [config.BRIDGE_NICK, config.CHANNELSERV_NICK];
const streams = [channelFacts, market, irc, operations, moderation];
const innocents = ['alice', 'bob'];
const attackers = ['mallory', 'trudy', 'oscar'];
/** They only begin when all is well, and have no record. */
const newcomers = ['peggy', 'victor', 'craig', 'sybil', 'wendy'];

const busyMs = 60_000;
const faultsPerRun = 20;
const stepsPerRun = 200;
const calmWithinMs = 180_000;
/** How long attacks go on that are dealt with at once, while processes are killed. */
const calmAttacksMs = 30_000;
/** How long it is quiet then: with every third seed until the last mute is over, with what was lifted late because of a kill. */
const quietMs = { usually: 60_000, atTimes: 660_000 };

/** People attack, and the guardian deals with them through the channel bot, while servers and processes fail. */
export const guard: Scenario = {
  name: 'guard',
  says: 'the guardian, the recorder and the channel bot in two processes, and people who attack',
  kept: [410379408, 2075112627],
  boundMs: 3_000_000,
  prepare: startEngine,
  play: async (stage) => {
    const store = await SimulatedStore.open(stage.world);
    await new Guarding(stage, store).play();
  },
};

class Guarding {
  readonly #stage: Stage;
  readonly #store: SimulatedStore;
  readonly #random: Random;
  readonly #network: IrcNetwork;
  readonly #logServer: SimulatedLogServer;
  readonly #faults: Faults;
  readonly #around: Surroundings;
  readonly #places: Place<Running>[];
  readonly #trouble: Trouble;
  readonly #people = new Map<string, Person>();
  readonly #sentences: Sentences;
  #said = 0;

  constructor(stage: Stage, store: SimulatedStore) {
    const { world } = stage;
    this.#stage = stage;
    this.#store = store;
    this.#random = stage.fork();
    this.#network = new IrcNetwork(world);
    this.#logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    this.#faults = new Faults({ world, network: this.#network, nicks: bots, channels });
    this.#sentences = new Sentences(stage, this.#logServer, this.#network, {
      attackers: [...attackers, ...newcomers],
      channels,
    });
    this.#around = { stage, logServer: this.#logServer, network: this.#network };
    this.#places = twoPlaces(this.#around, (process) => this.#begin(process));
    this.#trouble = {
      stage,
      irc: { faults: this.#faults, ofTen: 4 },
      log: { server: this.#logServer, ofTen: 3 },
      store: { server: this.#store, ofTen: 1 },
      places: this.#places,
    };
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    const starting = this.#places.map((place) => place.start());
    await stage.pass(5_000);
    const from = stage.world.elapsed;
    for (let n = 0; n < faultsPerRun; n++)
      planTrouble(this.#trouble, from + this.#random.int(1_000, busyMs), this.#random);
    for (let n = 0; n < stepsPerRun; n++) this.#planStep(from + this.#random.int(0, busyMs), 0.2, attackers);
    await stage.pass(busyMs);
    this.#faults.calm();
    this.#logServer.heal();
    this.#store.heal();
    await Promise.all(starting);
    await this.#becomeWell();
    const calmFrom = stage.world.elapsed;
    const calmMs = calmAttacksMs + (stage.world.seed % 3 === 0 ? quietMs.atTimes : quietMs.usually);
    this.#sentences.calmFrom = stage.world.now;
    for (let n = 0; n < 30; n++)
      this.#planStep(calmFrom + this.#random.int(0, calmAttacksMs), 0.7, newcomers);
    for (let n = 0; n < 3; n++)
      stage.planFault(calmFrom + this.#random.int(0, calmMs - 60_000), 'killed process', (random) =>
        random.pick(this.#places).kill(random),
      );
    while (stage.world.elapsed < calmFrom + calmMs) {
      await stage.pass(1_000);
      this.#sentences.look();
    }
    await this.#becomeWell();
    this.#sentences.judge();
    await leave(this.#around, this.#places, this.#people.values());
    this.#logServer.close();
  }

  async #begin(process: Process): Promise<Running> {
    const log = await process.openLog(streams);
    const sql = this.#store.connect();
    const projections = [channelDirectory, moderationModel];
    const projector = new Projector({ log, sql, projections, logger: process.logger, watchMs: 10_000 });
    const parts = { ...process.botParts(log), config, readModels: new ReadModels(sql, projector) };
    const recording = createRecording(config, parts);
    const keeping = createChannelKeeping(config, parts);
    const [guardian] = moderationArea(parts, keeping).workers!;
    await projector.start();
    return runLeases([recording.lease, keeping.lease, guardian!], { log, projector, sql });
  }

  /** Somebody talks, or attacks. */
  #planStep(at: number, attacks: number, by: readonly string[]): void {
    this.#stage.plan(at, 'somebody does something', (random) => {
      const isAttack = random.chance(attacks);
      const nick = random.pick(isAttack ? by : [...innocents, ...by]);
      const person = this.#people.get(nick);
      if (!person || person.client.closed) {
        if (this.#network.isUp())
          this.#people.set(nick, this.#network.person(nick, { host: `${nick}.example` }));
        return;
      }
      if (!person.isThere) return;
      const channel = random.pick(channels);
      const text = isAttack ? random.pick(this.#sentences.attacks) : 'how is the weather today';
      person.join(channel);
      person.say(channel, `${text} ${++this.#said}`);
      if (random.chance(0.1)) person.send(`PART ${channel}`);
    });
  }

  /** Everything is recorded, dealt with and in its wanted state. */
  async #becomeWell(): Promise<void> {
    const stage = this.#stage;
    const found = () => this.#sentences.open();
    await stage.within(calmWithinMs, 'every attack is dealt with', () => found() === '', found);
  }
}
