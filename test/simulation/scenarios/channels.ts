import { channelDirectory } from '../../../projections/channels/directory.js';
import { Projector } from '../../../projections/core/projector.js';
import type { Sql } from '../../../projections/core/sql.js';
import { createChannelKeeping } from '../../../src/app/bots/channels.js';
import { readConfig } from '../../../src/config/config.js';
import { ReadModels } from '../../../src/stores/read-models.js';
import { channels as channelFacts } from '../../../streams/channels/index.js';
import type { Position } from '../../../streams/core/index.js';
import { market } from '../../../streams/events/index.js';
import { moderation } from '../../../streams/moderation/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { type Channels, createChannels } from '../../../workers/channels/index.js';
import { Faults } from '../irc/faults.js';
import { IrcNetwork } from '../irc/network.js';
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
import { startEngine } from '../store/engine.js';
import { SimulatedStore } from '../store/server.js';
import { planTrouble, type Trouble } from '../trouble.js';
import { ChannelJudge } from './channel-judge.js';

/** The read models of a world in which nobody is linked, and nobody was muted. */
class OfNobody extends ReadModels {
  override async read<T>(
    name: string,
    query: (sql: Sql, schema: string) => Promise<T>,
    after?: Position,
  ): Promise<T> {
    if (name !== channelDirectory.name) return await query({ query: async () => [] } as unknown as Sql, name);
    return await super.read(name, query, after);
  }

  override async reached(name: string, position: Position): Promise<boolean> {
    return name !== channelDirectory.name || (await super.reached(name, position));
  }
}

const config = readConfig({
  CHANNEL_CREATIONS_PER_HOUR: '14',
  CHANNEL_DELETIONS_PER_HOUR: '8',
  MEMBER_OPERATIONS_PER_HOUR: '30',
});
const bot = config.CHANNELSERV_NICK;
const ownBot = config.EM_NICK;
const streams = [channelFacts, market, moderation, operations];
const names = ['#one-room', '#two-room', '#three-room', '#four-room', '#five-room', '#six-room'];
const present = ['alice', 'bob', 'carol', ownBot];
/** They are invited all the time, and only come when all is well. */
const late = ['walter', 'xenia'];
const modes = ['+nt', '+nt', '+ntm', '+nti', '+ntk secret'];

const busyMs = 60_000;
const faultsPerRun = 20;
const commandsPerRun = 130;
const stepsPerRun = 70;
/** Makes channels under the names of ours, rules them, and lets others in. */
const stranger = 'mallory';
const strangeStepsPerRun = 40;
/**
 * How often channels are checked again while servers are linked again and again: ever later, up to five
 * minutes.
 */
const calmWithinMs = 400_000;

/**
 * Callers make the channel bot create, change and delete channels, while its servers and its processes fail.
 */
export const channels: Scenario = {
  name: 'channels',
  says: 'the channel bot in two processes, and callers who command it',
  kept: [
    2, 3, 6, 38, 11328882, 11329136, 11329181, 11329186, 11329269, 11329348, 427492144, 427492219, 517699482,
    765195075, 854763869, 917212961, 1398711659, 2075112893, 1300180336, 5002, 764608852, 407789577,
    889207775, 626815964, 626816044, 295865499, 5139,
  ],
  boundMs: 1_200_000,
  prepare: startEngine,
  play: async (stage) => {
    const store = await SimulatedStore.open(stage.world);
    await new Keeping(stage, store).play();
  },
};

/** A process that keeps the channels, and whose callers command them. */
interface Keeper extends Running {
  commands: Channels;
  isBack(): boolean;
}

class Keeping {
  readonly #stage: Stage;
  readonly #store: SimulatedStore;
  readonly #random: Random;
  readonly #network: IrcNetwork;
  readonly #logServer: SimulatedLogServer;
  readonly #faults: Faults;
  readonly #around: Surroundings;
  readonly #places: Place<Keeper>[];
  readonly #trouble: Trouble;
  readonly #people = new Map<string, Person>();
  readonly #judge: ChannelJudge;
  readonly #running = new Set<Promise<void>>();
  #commands = 0;

  constructor(stage: Stage, store: SimulatedStore) {
    const { world } = stage;
    this.#stage = stage;
    this.#store = store;
    this.#random = stage.fork();
    this.#network = new IrcNetwork(world, { servers: this.#random.int(1, 2) });
    this.#logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    const at = { network: this.#network, nicks: [bot], channels: names, areKept: true };
    this.#faults = new Faults({ world, ...at });
    this.#judge = new ChannelJudge(stage, this.#logServer, this.#network, config);
    this.#around = { stage, logServer: this.#logServer, network: this.#network };
    this.#places = twoPlaces(this.#around, (process) => this.#begin(process));
    this.#trouble = {
      stage,
      irc: { faults: this.#faults, ofTen: 4 },
      log: { server: this.#logServer, ofTen: 3, isClockSet: true },
      store: { server: this.#store, ofTen: 1 },
      places: this.#places,
    };
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    const starting = this.#places.map((place) => place.start());
    const log = await new Process('caller', this.#around).openLog(streams);
    const commands = createChannels(log);
    await stage.pass(3_000);
    const from = stage.world.elapsed;
    for (let n = 0; n < faultsPerRun; n++)
      planTrouble(this.#trouble, from + this.#random.int(1_000, busyMs), this.#random);
    for (let n = 0; n < stepsPerRun; n++)
      stage.plan(from + this.#random.int(0, busyMs), 'somebody does something', (random) =>
        this.#act(random),
      );
    for (let n = 0; n < commandsPerRun; n++)
      stage.plan(from + this.#random.int(0, busyMs), 'a command', (random) => {
        const work = this.#command(random, random.pick(this.#places).program?.commands ?? commands);
        this.#running.add(work);
        void work.finally(() => this.#running.delete(work));
      });
    for (let n = 0; n < strangeStepsPerRun; n++)
      stage.plan(from + this.#random.int(0, busyMs), 'a stranger does something', (random) =>
        this.#intrude(random),
      );
    await stage.pass(busyMs);
    this.#faults.calm();
    this.#logServer.heal();
    this.#store.heal();
    await Promise.all([...starting, ...this.#running]);
    await this.#becomeWell(commands);
    await Promise.all([leave(this.#around, this.#places, this.#people.values()), log.close()]);
    this.#logServer.close();
  }

  async #begin(process: Process): Promise<Keeper> {
    const { logger } = process;
    const log = await process.openLog(streams);
    const sql = this.#store.connect();
    const projector = new Projector({ log, sql, projections: [channelDirectory], logger, watchMs: 5_000 });
    const readModels = new OfNobody(sql, projector);
    const { lease, held } = createChannelKeeping(config, { ...process.botParts(log), readModels });
    await projector.start();
    return {
      commands: createChannels(log),
      isBack: () => {
        const { irc, worker } = held() ?? {};
        return irc?.status().nick === bot && worker?.trouble === null;
      },
      ...runLeases([lease], { log, projector, sql }),
    };
  }

  /** People come and go, and kick each other and our bots. */
  #act(random: Random): void {
    const nick = random.pick(present);
    const server = present.indexOf(nick) % this.#network.servers.length;
    const person = this.#people.get(nick);
    if (!person || person.client.closed) {
      if (this.#network.isUp(server)) this.#people.set(nick, this.#network.person(nick, { server }));
      return;
    }
    if (!person.isThere) return;
    const channel = random.pick(names);
    const act = random.int(0, 9);
    // nobody but the service makes one of these channels
    if (act < 4) {
      if (this.#network.servers[0]!.channel(channel)) person.join(channel);
    } else if (act < 6) person.send(`PART ${channel}`);
    else if (act < 8) this.#network.kick(random.pick([nick, ownBot, bot]), channel);
    else if (act < 9) person.quit();
    else person.say(channel, 'hello');
  }

  /** A stranger makes channels whose names the service may manage later, and does what their operators can. */
  #intrude(random: Random): void {
    const server = this.#network.servers.length - 1;
    const person = this.#people.get(stranger);
    if (!person || person.client.closed) {
      if (this.#network.isUp(server)) this.#people.set(stranger, this.#network.person(stranger, { server }));
      return;
    }
    if (!person.isThere) return;
    const channel = random.pick(names);
    if (!this.#network.servers[0]!.user(bot)?.modes.has('o')) this.#judge.unwatched(channel);
    person.join(channel);
    for (let n = random.int(0, 3); n > 0; n--)
      person.send(
        random.pick([
          ...[`MODE ${channel} +ik mine`, `MODE ${channel} +ml 2`, `MODE ${channel} +H 9:1d`],
          ...[`MODE ${channel} +b ${ownBot}!*@*`, `MODE ${channel} +bb ${bot}!*@* *!*@127.0.0.1`],
          ...[`MODE ${channel} +e ${stranger}!*@*`, `MODE ${channel} +o ${random.pick(present)}`],
          ...[`INVITE ${random.pick(present)} ${channel}`, `TOPIC ${channel} :mine`],
          ...[`KICK ${channel} ${ownBot}`, `MODE ${channel} -o ${stranger}`, `PART ${channel}`],
        ]),
      );
  }

  async #command(random: Random, commands: Channels): Promise<void> {
    const id = `command ${++this.#commands}`;
    const name = random.pick(names);
    const asker = { by: 'caller', cause_id: id };
    let nicks = random.shuffled([...present, ...late]).slice(0, random.int(1, 3));
    const kind = random.int(0, 99);
    const [what, run] =
      kind < 35
        ? ([
            'create',
            () => {
              const made = { type: 'special' as const, modes: random.pick(modes), topic: `topic ${id}` };
              const asked = { name, ...made, invite_list: nicks, metadata: {}, cause: 'request' as const };
              return commands.create(asked, asker);
            },
          ] as const)
        : kind < 55
          ? ([
              'update',
              () => {
                const none = { voice: [], devoice: [], op: [], deop: [] };
                const change = random.pick([[], ['+m'], ['-m'], ['+i'], ['-i'], ['+k other'], ['-k']]);
                const topic = random.chance(0.6) ? { topic: `topic ${id}` } : {};
                return commands.update({ name, modes: change, ...none, ...topic }, asker);
              },
            ] as const)
          : kind < 75
            ? ([
                'remove',
                () => {
                  const immediate = random.chance(0.7);
                  return commands.remove({ name, reason: id, immediate, cause: 'request' }, asker);
                },
              ] as const)
            : ([
                'members',
                () => {
                  const action = random.pick(['sajoin', 'sapart', 'voice', 'devoice'] as const);
                  // a nick that is removed while it is away is not awaited, but nothing of that is recorded
                  if (action === 'sapart') nicks = nicks.filter((nick) => !late.includes(nick));
                  return commands.members({ name, action, nicks, reason: '' }, asker);
                },
              ] as const);
    await this.#judge.watch(id, what, name, run);
  }

  async #becomeWell(commands: Channels): Promise<void> {
    const stage = this.#stage;
    // work still under way when all became well ends sessions too; whoever comes before the bot is back has
    // left
    await stage.pass(10_000);
    const isBack = () => this.#places.some(({ program }) => program?.isBack());
    await stage.within(calmWithinMs, 'the channel bot is back', isBack);
    await stage.pass(10_000);
    for (const [index, nick] of [...present, ...late].entries())
      if (!this.#people.get(nick)?.isThere)
        this.#people.set(nick, this.#network.person(nick, { server: index % this.#network.servers.length }));
    await stage.within(
      calmWithinMs,
      'channels are as they are recorded to be',
      () => this.#judge.isSo(late),
      () => this.#judge.whatIsNotSo(late),
    );
    // processes learn each minute that the log's clock was set, and need that to notice an overdue answer
    const name = '#last-room';
    const made = { name, type: 'special' as const, modes: '+nt', topic: 'last', metadata: {} };
    for (let n = 1; n < 15 && !this.#judge.isDone(`last ${n - 1}`); n++) {
      const last = { ...made, invite_list: ['alice'], cause: 'automation' as const };
      const asker = { by: 'caller', cause_id: `last ${n}` };
      await this.#judge.watch(`last ${n}`, 'create', name, () => commands.create(last, asker));
      if (!this.#judge.isDone(`last ${n}`)) await stage.pass(5_000);
    }
    const isDone = this.#judge.hasDone('create', name);
    stage.check('commands are carried out when all is well', isDone, name);
    this.#judge.judge();
  }
}
