import { channelDirectory } from '../../../projections/channels/directory.js';
import { Projector } from '../../../projections/core/projector.js';
import { moderationModel } from '../../../projections/moderation/fold.js';
import { moderationArea } from '../../../src/app/areas/moderation.js';
import { speechArea } from '../../../src/app/areas/speech.js';
import { createChannelKeeping } from '../../../src/app/bots/channels.js';
import { createRecording } from '../../../src/app/bots/recording.js';
import { readConfig } from '../../../src/config/config.js';
import { ReadModels } from '../../../src/stores/read-models.js';
import { channels as channelFacts } from '../../../streams/channels/index.js';
import { isExpected, type Log } from '../../../streams/core/index.js';
import { market } from '../../../streams/events/index.js';
import { moderation, personDecider } from '../../../streams/moderation/index.js';
import { irc } from '../../../streams/network/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { connections, inbox, speech as speechFacts } from '../../../streams/speech/index.js';
import { webhooks } from '../../../streams/webhooks/index.js';
import { createGateway, type Gateway, hostOf } from '../../../workers/speech/index.js';
import { Faults } from '../irc/faults.js';
import { IrcNetwork } from '../irc/network.js';
import { NickService } from '../irc/nick-service.js';
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
import { linked, personOf } from './linked.js';
import { type Character, PersonsJudge } from './persons-judge.js';

const config = readConfig({ IRC_CHANNELS: '#lobby,#disputes' });
const channels = config.IRC_CHANNELS;
const streams = [
  ...[channelFacts, market, irc, operations, moderation],
  ...[speechFacts, connections, inbox, webhooks],
];

/** Their first account is old; the second one is registered while they are watched. */
const character = (name: string, host = `${name}.example`, isInnocent = false): Character => ({
  accounts: isInnocent ? [name] : [name, `${name}-two`],
  host,
  isInnocent,
});
const attackers = [character('mallory'), character('trudy')];
/** They only begin when all is well, and have no record. */
const newcomers = ['peggy', 'victor', 'craig'].map((name) => character(name));
/** One of them comes from where an attacker comes from. */
const innocents = [
  character('alice', undefined, true),
  character('walter', 'mallory.example', true),
  character('wendy', 'peggy.example', true),
];
const characters = [...attackers, ...newcomers, ...innocents];

const busyMs = 60_000;
const faultsPerRun = 20;
const stepsPerRun = 150;
const calmWithinMs = 180_000;
const calmMs = 60_000;
const calmSteps = 100;

/** People come with accounts, without, with new ones and through the gateway, and pay for what they did as any of them. */
export const persons: Scenario = {
  name: 'persons',
  says: 'the guardian, the recorder, the channel bot and the gateway in two processes, and people of many names',
  kept: [481676706, 1193952677, 1558477760],
  boundMs: 1_500_000,
  prepare: startEngine,
  play: async (stage) => {
    const store = await SimulatedStore.open(stage.world);
    await new Watching(stage, store).play();
  },
};

/** A process, and the ways into it. */
interface House extends Running {
  gateway: Gateway;
  log: Log;
}

class Watching {
  readonly #stage: Stage;
  readonly #store: SimulatedStore;
  readonly #random: Random;
  readonly #network: IrcNetwork;
  readonly #nickService: NickService;
  readonly #logServer: SimulatedLogServer;
  readonly #faults: Faults;
  readonly #around: Surroundings;
  readonly #places: Place<House>[];
  readonly #trouble: Trouble;
  readonly #judge: PersonsJudge;
  /** The present client of each character. */
  readonly #clients = new Map<Character, Person>();
  readonly #asking = new Set<Promise<unknown>>();
  #count = 0;
  #isOver = false;

  constructor(stage: Stage, store: SimulatedStore) {
    const { world } = stage;
    this.#stage = stage;
    this.#store = store;
    this.#random = stage.fork();
    const network = new IrcNetwork(world);
    this.#network = network;
    this.#nickService = new NickService(network);
    const logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    this.#logServer = logServer;
    const agents = attackers.map(({ accounts }) => accounts[0]!);
    const nicks = [config.BRIDGE_NICK, config.CHANNELSERV_NICK, ...agents];
    this.#faults = new Faults({ world, network, nicks, channels });
    const agentHost = (account: string) => hostOf(personOf(account));
    const scene = { logServer, network, nickService: this.#nickService, channels, characters, agentHost };
    this.#judge = new PersonsJudge(stage, scene);
    this.#around = { stage, logServer, network };
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
    const { world } = stage;
    for (const { accounts } of characters)
      this.#nickService.register(accounts[0]!, world.now - 30 * 86_400_000);
    this.#nickService.attend(
      (ms, act) => world.after(ms, act),
      () => !this.#isOver,
    );
    const starting = this.#places.map((place) => place.start());
    await stage.pass(5_000);
    const from = world.elapsed;
    for (let n = 0; n < faultsPerRun; n++)
      planTrouble(this.#trouble, from + this.#random.int(1_000, busyMs), this.#random);
    for (let n = 0; n < stepsPerRun; n++)
      this.#planStep(from + this.#random.int(0, busyMs), 0.15, [...attackers, ...innocents]);
    await stage.pass(busyMs);
    this.#faults.calm();
    this.#logServer.heal();
    this.#store.heal();
    await Promise.all(starting);
    await this.#becomeWell();
    await this.#watch();
    await Promise.all(this.#asking);
    await this.#becomeWell();
    await this.#pardonAll();
    this.#judge.judge();
    this.#isOver = true;
    await leave(this.#around, this.#places, this.#clients.values());
    this.#logServer.close();
  }

  async #begin(process: Process): Promise<House> {
    const log = await process.openLog(streams);
    const sql = this.#store.connect();
    const projections = [channelDirectory, moderationModel];
    const projector = new Projector({ log, sql, projections, logger: process.logger, watchMs: 10_000 });
    const readModels = linked(new ReadModels(sql, projector));
    // no line of this world answers another
    const parts = { ...process.botParts(log), config, readModels, call: undefined as never };
    const keeping = createChannelKeeping(config, parts);
    const [guardian] = moderationArea(parts, keeping).workers!;
    const bots = [createRecording(config, parts).lease, keeping.lease, guardian!];
    await projector.start();
    const gateway = createGateway(log);
    return {
      gateway,
      log,
      ...runLeases([...bots, ...speechArea(parts).connections!], { log, projector, sql }),
    };
  }

  /** Somebody comes, goes, becomes somebody else, talks or attacks. */
  #planStep(at: number, attacks: number, by: readonly Character[]): void {
    this.#stage.plan(at, 'somebody does something', (random) => {
      const who = random.pick(by);
      const channel = random.pick(channels);
      const isAttack = !who.isInnocent && random.chance(attacks);
      const text = `${isAttack ? random.pick(this.#judge.attacks) : 'how is the weather today'} ${++this.#count}`;
      if (random.chance(0.3)) this.#throughGateway(random, random.pick(who.accounts), channel, text);
      else this.#withClient(random, who, channel, text);
    });
  }

  #withClient(random: Random, who: Character, channel: string, text: string): void {
    const client = this.#clients.get(who);
    if (!client || client.client.closed) {
      if (!this.#network.isUp()) return;
      const nick = `${who.accounts[0]}-${++this.#count}`;
      this.#clients.set(who, this.#network.person(nick, { host: who.host }));
      return;
    }
    if (!client.isThere) return;
    if (who.isInnocent || random.chance(0.25)) {
      const account = random.pick(who.accounts);
      this.#nickService.register(account, this.#stage.world.now);
      if (client.client.user!.account !== account) client.identify(account);
    } else if (random.chance(0.1)) client.identify(undefined);
    client.join(channel);
    client.say(channel, text);
    if (random.chance(0.1)) client.send(`PART ${channel}`);
    if (random.chance(0.1)) client.quit();
  }

  #throughGateway(random: Random, account: string, channel: string, text: string): void {
    const { program } = random.pick(this.#places);
    if (!program) return;
    const speaker = { nick: account, person: personOf(account), by: `agent ${account}` };
    const { gateway } = program;
    const line = { ...speaker, to: channel, text, action: false, key: `key ${this.#count}` };
    const act = random.int(0, 9);
    const work =
      act < 7
        ? gateway.say(line)
        : act < 9
          ? gateway.join({ ...speaker, channel })
          : gateway.disconnect(speaker);
    const done = (work as Promise<unknown>).catch((error: unknown) =>
      this.#stage.check(
        'agents are refused in known ways',
        isExpected(error),
        () => `${(error as Error).stack}`,
      ),
    );
    this.#asking.add(done);
    void done.finally(() => this.#asking.delete(done));
  }

  /** While all is well, mutes and bans hold for whoever they are for, by whatever name they come. */
  async #watch(): Promise<void> {
    const stage = this.#stage;
    const from = stage.world.elapsed;
    this.#judge.calmFrom = stage.world.now;
    for (let n = 0; n < calmSteps; n++)
      this.#planStep(from + this.#random.int(0, calmMs), 0.25, [...newcomers, ...attackers, ...innocents]);
    while (stage.world.elapsed < from + calmMs + 30_000) {
      await stage.pass(1_000);
      this.#judge.look();
    }
  }

  /** An operator pardons all, and nothing is left of it. */
  async #pardonAll(): Promise<void> {
    const stage = this.#stage;
    const { log } = this.#random.pick(this.#places).program!;
    for (const { ref, subject } of this.#judge.running()) {
      await log.handle(
        moderation,
        personDecider,
        { is: 'pardon', subject, ref, reason: '' },
        { by: 'operator' },
      );
    }
    const left = () => this.#judge.masks();
    await stage.within(this.#judge.liftedWithinMs, 'what is pardoned ends', () => left() === '', left);
  }

  /** Everything is recorded and dealt with. */
  async #becomeWell(): Promise<void> {
    const open = () => this.#judge.open();
    await this.#stage.within(calmWithinMs, 'every attack is dealt with', () => open() === '', open);
  }
}
