import { createRecording } from '../../../src/app/bots/recording.js';
import { readConfig } from '../../../src/config/config.js';
import { channels as channelFacts } from '../../../streams/channels/index.js';
import { irc } from '../../../streams/network/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { createHelping } from '../helping.js';
import { agreedMs, Faults } from '../irc/faults.js';
import { IrcNetwork } from '../irc/network.js';
import type { Person } from '../irc/person.js';
import { SimulatedLogServer } from '../log/server.js';
import {
  end,
  type Place,
  type Process,
  type Running,
  runLeases,
  type Surroundings,
  twoPlaces,
} from '../process.js';
import type { Random } from '../random.js';
import type { Scenario, Stage } from '../scenario.js';
import { planTrouble } from '../trouble.js';
import { FloorAnswers } from './floor-answers.js';
import { FloorsOnLog } from './floors-on-log.js';
import { Recorded } from './recorded.js';
import { RecordedFloors } from './recorded-floors.js';
import { ToldFloors } from './told-floors.js';
import { TurnTakers } from './turn-takers.js';

const config = readConfig({ IRC_CHANNELS: '#lobby,#disputes' });
const bot = config.BRIDGE_NICK;
const channels = config.IRC_CHANNELS;
const streams = [channelFacts, irc, operations];
const quietMs = 5_000;
const busyMs = 60_000;
const faultsPerRun = 20;
const stepsPerRun = 150;
/** A client that was refused by a channel often waits long before the next attempt. */
const calmWithinMs = 180_000;
const calm = { ms: 60_000, steps: 60 };
/** After a process was killed in calm. */
const later = { ms: 30_000, steps: 25 };
/** How long nobody asks then: with every fifth seed until the longest turn is over. */
const stillMs = { usually: 130_000, atTimes: 760_000 };

/** People take turns in channels while servers and processes fail. */
export const floor: Scenario = {
  name: 'floor',
  says: 'the recorder that tells whose turn it is, in two processes, and people who take turns',
  kept: [1, 7050, 1371433652],
  boundMs: 2_000_000,
  play: (stage) => new Turns(stage).play(),
};

interface Recorder extends Running {
  isBack(): boolean;
}

class Turns {
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #network: IrcNetwork;
  readonly #logServer: SimulatedLogServer;
  readonly #floors: FloorsOnLog;
  readonly #faults: Faults;
  readonly #around: Surroundings;
  readonly #places: Place<Recorder>[];
  readonly #people: TurnTakers;
  readonly #recorded: Recorded;
  readonly #recordedFloors: RecordedFloors;
  readonly #told: ToldFloors;
  readonly #answers: FloorAnswers;

  constructor(stage: Stage) {
    const { world } = stage;
    this.#stage = stage;
    this.#random = stage.fork();
    const network = new IrcNetwork(world, { servers: this.#random.int(1, 2) });
    const logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    this.#network = network;
    this.#logServer = logServer;
    this.#floors = new FloorsOnLog(logServer, this.#random.fork());
    this.#faults = new Faults({ world, network, nicks: [bot], channels });
    this.#recorded = new Recorded(stage, logServer, network, channels, bot);
    this.#recordedFloors = new RecordedFloors(stage, logServer);
    this.#told = new ToldFloors(stage, network, this.#recordedFloors, bot);
    this.#answers = new FloorAnswers(stage, this.#recordedFloors, bot);
    this.#people = new TurnTakers(network, channels, (heard) => this.#answers.hear(heard));
    this.#around = { stage, logServer, network };
    this.#places = twoPlaces(this.#around, (process) => this.#begin(process));
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    const { world } = stage;
    // nobody knows whether a newly started server has forgotten something
    await stage.pass(quietMs);
    const starting = this.#places.map((place) => place.start());
    await stage.pass(quietMs);
    const from = world.elapsed;
    for (let n = 0; n < faultsPerRun; n++) this.#planFault(from + this.#random.int(1_000, busyMs));
    this.#planSteps(busyMs, stepsPerRun);
    await stage.pass(busyMs);
    this.#faults.calm();
    this.#logServer.heal();
    this.#floors.awayUntil = 0;
    await Promise.all(starting);
    await this.#becomeCalm();
    await this.#beCalm(calm.ms, calm.steps);
    let killedAt: number | undefined;
    if (world.seed % 2 === 0)
      this.#planFailure('killed process', (random) => {
        killedAt = world.now;
        this.#holding()?.kill(random);
      });
    else this.#planFailure('cut in a turn', (random) => this.#cutInTurn(random));
    await stage.pass(100);
    await this.#becomeCalm();
    await this.#beCalm(later.ms, later.steps, killedAt);
    await this.#beQuiet(world.seed % 5 === 0 ? stillMs.atTimes : stillMs.usually);
    await end(this.#around, this.#places);
    this.#people.quit();
    await stage.pass(120_000);
    this.#recordedFloors.read();
    this.#told.judge(channels);
    this.#answers.judge();
    this.#recorded.judge();
    this.#logServer.close();
  }

  async #begin(process: Process): Promise<Recorder> {
    const log = await process.openLog(streams);
    const parts = process.botParts(log);
    // nobody addresses a group here
    const answers = { readModels: this.#floors.readModels, among: async () => [] };
    const { lease, held } = createRecording(config, { ...parts, answers });
    return {
      isBack: () => {
        const { irc, worker } = held() ?? {};
        const isAll = worker?.rooms === channels.length && irc?.status().nick === bot;
        return isAll && channels.every((name) => irc?.session()?.isIn(name));
      },
      ...runLeases([lease, createHelping(config, parts)], { log }),
    };
  }

  #planFault(at: number): void {
    if (this.#random.chance(0.1)) {
      this.#stage.planFault(at, 'read model: lags', (random) => {
        this.#floors.awayUntil = this.#stage.world.now + random.int(500, 10_000);
      });
      return;
    }
    const trouble = {
      stage: this.#stage,
      irc: { faults: this.#faults, ofTen: 4 },
      log: { server: this.#logServer, ofTen: 4 },
      places: this.#places,
    };
    planTrouble(trouble, at, this.#random);
  }

  /** Something fails now. */
  #planFailure(kind: string, strike: (random: Random) => void): void {
    this.#stage.planFault(this.#stage.world.elapsed, kind, strike);
  }

  #holding(): Place<Recorder> | undefined {
    return this.#places.find(({ program }) => program?.isBack());
  }

  /** Turns begin, and the bot loses its connection about when it tells of them. */
  #cutInTurn(random: Random): void {
    for (const channel of channels) {
      const holder = this.#holderOf(channel);
      const person = holder ?? this.#people.anybody();
      person?.join(channel);
      person?.say(channel, holder ? '/floor done' : '/floor');
    }
    this.#stage.world.after(random.int(2, 12), () => {
      for (const connection of [...this.#network.connections]) if (connection.nick === bot) connection.cut();
    });
  }

  #holderOf(channel: string): Person | undefined {
    this.#recordedFloors.read();
    return this.#people.called(this.#recordedFloors.at(channel, this.#stage.world.now).holder);
  }

  #planSteps(ms: number, steps: number): void {
    const from = this.#stage.world.elapsed;
    for (let n = 0; n < steps; n++)
      this.#stage.plan(from + this.#random.int(0, ms), 'somebody does something', (random) =>
        this.#people.act(random),
      );
  }

  /** The recorder is in all channels, and all is told that was left to tell. */
  async #becomeCalm(): Promise<void> {
    const stage = this.#stage;
    const isBack = () => this.#holding() !== undefined;
    await stage.within(calmWithinMs, 'the recorder is back in all channels', isBack);
    await stage.pass(agreedMs + 5_000);
  }

  async #beCalm(ms: number, steps: number, killedAt?: number): Promise<void> {
    const { world } = this.#stage;
    const from = world.now;
    this.#planSteps(ms, steps);
    await this.#stage.pass(ms + 10_000);
    const holder = this.#holder();
    this.#recordedFloors.calms.push({
      from,
      to: world.now,
      holder,
      ...(killedAt === undefined ? {} : { killedAt }),
    });
  }

  /** Which process has the lease of the bot, by the log. */
  #holder(): string {
    const stream = this.#logServer.streams.get('KV_relay_leases')?.stream;
    for (let seq = stream?.lastSeq ?? 0; seq > 0; seq--) {
      const message = stream!.get(seq);
      if (!message?.subject.endsWith('.record-irc') || message.data.length === 0) continue;
      return (JSON.parse(new TextDecoder().decode(message.data)) as { holder: string }).holder;
    }
    return 'nobody';
  }

  /** Turns end by time; whoever has the floor of the first channel goes on to speak. */
  async #beQuiet(ms: number): Promise<void> {
    const stage = this.#stage;
    const end = stage.world.elapsed + ms;
    while (stage.world.elapsed < end) {
      if (ms === stillMs.atTimes) this.#holderOf(channels[0]!)?.say(channels[0]!, 'I go on');
      await stage.pass(50_000);
    }
    this.#recordedFloors.calms.at(-1)!.to = stage.world.now;
  }
}
