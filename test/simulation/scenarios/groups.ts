import { createRecording } from '../../../src/app/bots/recording.js';
import { readConfig } from '../../../src/config/config.js';
import { channels as channelFacts } from '../../../streams/channels/index.js';
import { irc } from '../../../streams/network/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { createHelping } from '../helping.js';
import { agreedMs, Faults } from '../irc/faults.js';
import { IrcNetwork } from '../irc/network.js';
import type { Person } from '../irc/person.js';
import { logFaults } from '../log/faults.js';
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
import { planTrouble } from '../trouble.js';
import { AnsweredCalls } from './answered-calls.js';
import { GroupMembers } from './group-members.js';

/** The last one is no channel that a server saves, and keeps no history. */
const config = readConfig({ IRC_CHANNELS: '#lobby,#disputes,#payments,#attic', RULES_FILE: 'none' });
const channels = config.IRC_CHANNELS;
const streams = [channelFacts, irc, operations];
const bot = config.BRIDGE_NICK;
/** People who come and call, who can do something, and how many different things there are. */
interface Cast {
  callers: readonly string[];
  agents: readonly string[];
  abilities: readonly string[];
}
const numbered = (name: string, most: number) => Array.from({ length: most }, (_, n) => `${name}-${n + 1}`);
const busyCast: Cast = {
  callers: numbered('caller', 10),
  agents: numbered('agent', 8),
  abilities: numbered('skill', 16),
};
/** No limit of before holds for any of them. */
const calmCast: Cast = {
  callers: numbered('late-caller', 8),
  agents: numbered('late-agent', 6),
  abilities: numbered('late-skill', 12),
};

/** Whoever has the calls does not notice for a while that somebody else has them too. */
const halfOpen = logFaults.find(({ name }) => name === 'half-open cut')!;

const busyMs = 60_000;
const faultsPerRun = 20;
const stepsPerRun = 190;
const calmWithinMs = 180_000;
/** Limits of a channel are over after this time. */
const limitMs = 61_000;
const calmMs = 40_000;
const calmSteps = 70;

/** People call for those who can do something, and the bridge's bot names them, while servers and processes fail. */
export const groups: Scenario = {
  name: 'groups',
  says: 'the bot that names who is meant by a group, in two processes, and people who address groups',
  kept: [1368240615],
  boundMs: 900_000,
  play: (stage) => new Calling(stage).play(),
};

/** A recorder as a process of the product has it. */
interface Recorder extends Running {
  isBack(): boolean;
}

class Calling {
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #network: IrcNetwork;
  readonly #logServer: SimulatedLogServer;
  readonly #members: GroupMembers;
  readonly #faults: Faults;
  readonly #around: Surroundings;
  readonly #places: Place<Recorder>[];
  readonly #calls: AnsweredCalls;
  readonly #people = new Map<string, Person>();
  /** What befalls the bot a moment after somebody calls. */
  readonly #strikes: ((random: Random) => void)[] = [];
  #count = 0;

  constructor(stage: Stage) {
    const { world } = stage;
    this.#stage = stage;
    this.#random = stage.fork();
    this.#network = new IrcNetwork(world, { servers: this.#random.int(1, 2) });
    this.#logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    this.#members = new GroupMembers(world);
    const nicks = [bot, config.CHANNELSERV_NICK];
    this.#faults = new Faults({ world, network: this.#network, nicks, channels });
    const scene = { network: this.#network, logServer: this.#logServer, members: this.#members };
    this.#calls = new AnsweredCalls(stage, { ...scene, channels, bot });
    this.#around = { stage, logServer: this.#logServer, network: this.#network };
    this.#places = twoPlaces(this.#around, (process) => this.#begin(process));
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    this.#introduce(busyCast);
    const starting = this.#places.map((place) => place.start());
    await stage.pass(5_000);
    const from = stage.world.elapsed;
    for (let n = 0; n < faultsPerRun; n++) this.#planFault(from + this.#random.int(1_000, busyMs));
    for (let n = 0; n < stepsPerRun; n++) this.#planStep(from + this.#random.int(0, busyMs), busyCast);
    await this.#pass(busyMs);
    this.#faults.calm();
    this.#logServer.heal();
    this.#members.awayUntil = 0;
    this.#strikes.length = 0;
    await Promise.all(starting);
    await this.#becomeWell();
    await stage.pass(limitMs);
    await this.#callInCalm();
    await this.#becomeWell();
    this.#calls.judge(this.#people);
    await leave(this.#around, this.#places, this.#people.values());
    this.#logServer.close();
  }

  async #begin(process: Process): Promise<Recorder> {
    const log = await process.openLog(streams);
    const answers = { readModels: this.#members.readModels, among: this.#members.among };
    const parts = { ...process.botParts(log), answers };
    const { lease, held } = createRecording(config, parts);
    return {
      isBack: () => {
        const { irc, worker } = held() ?? {};
        return irc?.status().nick === bot && worker?.rooms === channels.length;
      },
      ...runLeases([lease, createHelping(config, parts)], { log }),
    };
  }

  #planFault(at: number): void {
    if (this.#random.chance(0.1)) {
      this.#stage.planFault(at, 'read models away', (random) => {
        this.#members.awayUntil = this.#stage.world.now + random.int(500, 10_000);
      });
      return;
    }
    if (this.#random.chance(0.3)) {
      this.#stage.planFault(at, 'struck while answering', () =>
        this.#strikes.push((random) => {
          const kind = random.int(0, 9);
          if (kind < 3) for (const place of this.#places) place.kill(random);
          else if (kind < 7) halfOpen.strike(this.#logServer, this.#stage.world, random);
          else this.#faults.strike(random.pick(['cut', 'ghost', 'freeze', 'kill']), random);
        }),
      );
      return;
    }
    const trouble = {
      stage: this.#stage,
      irc: { faults: this.#faults, ofTen: 4 },
      log: { server: this.#logServer, ofTen: 3 },
      places: this.#places,
    };
    planTrouble(trouble, at, this.#random);
  }

  /** Who can do what, at first. */
  #introduce({ callers, agents, abilities }: Cast): void {
    for (const nick of [...agents, ...callers.slice(0, 2), bot])
      for (const ability of abilities)
        if (this.#random.chance(0.4)) this.#members.set(nick, ability, this.#random.int(0, 3));
  }

  /** Somebody calls, comes, goes, changes their nick or what they can do, is muted, or talks of something else. */
  #planStep(at: number, cast: Cast): void {
    this.#stage.plan(at, 'somebody does something', (random) => {
      const act = random.int(0, 99);
      const nick = random.pick(act < 45 && random.chance(0.9) ? cast.callers : cast.agents);
      const person = this.#there(nick, random);
      if (!person) return;
      const channel = random.pick(channels);
      if (act < 45) this.#call(person, channel, random, cast);
      else if (act < 60) person.join(channel);
      else if (act < 65) person.send(`PART ${channel} :later`);
      else if (act < 70) person.send(`NICK ${random.chance(0.5) ? nick : `${nick}_${random.int(1, 2)}`}`);
      else if (act < 73) person.quit();
      else if (act < 85) this.#members.set(nick, random.pick(cast.abilities), random.int(-2, 3));
      else if (act < 92) this.#members.silence(person.client.host, random.chance(0.6));
      else this.#talk(person, channel, random, cast);
    });
  }

  /** Somebody who is there; who is not comes, and is in channels a moment later. */
  #there(nick: string, random: Random): Person | undefined {
    const person = this.#people.get(nick);
    if (person && !person.client.closed) return person.isThere ? person : undefined;
    const server = nick.length % this.#network.servers.length;
    if (!this.#network.isUp(server)) return undefined;
    // whoever comes from elsewhere is somebody else to the limits
    const host = `${nick}.place-${random.int(1, 3)}.example`;
    const comes = this.#network.person(nick, { server, host });
    this.#people.set(nick, comes);
    const some = random.shuffled(channels).slice(0, random.int(2, channels.length));
    this.#stage.world.after(1_500, () => {
      if (comes.isThere) for (const channel of some) comes.join(channel);
    });
    return undefined;
  }

  #call(person: Person, channel: string, random: Random, { abilities }: Cast): void {
    const picked = random.shuffled(abilities).slice(0, random.chance(0.2) ? 2 : 1);
    const meant = picked.map((ability) => ({ ability, level: Math.max(0, random.int(-4, 3)) }));
    const asks = random.chance(0.4);
    const words = meant.map(({ ability, level }) => `@${ability}${level > 0 ? `+${level}` : ''}`);
    const text = `${words.join(' and ')}${asks ? '?' : ','} please help ${++this.#count}`;
    this.#calls.will(text, { groups: meant, asks });
    person.join(channel);
    const strike = this.#strikes.pop();
    if (strike) this.#stage.world.after(random.int(0, 80), () => strike(random));
    person.say(channel, random.chance(0.1) ? `\x01ACTION ${text}\x01` : text);
  }

  /** What addresses nobody, with the sign of groups. */
  #talk(person: Person, channel: string, random: Random, { abilities }: Cast): void {
    const ability = random.pick(abilities);
    const number = ++this.#count;
    person.join(channel);
    const kind = random.int(0, 5);
    if (kind === 0) person.send(`NOTICE ${channel} :@${ability} noticed ${number}`);
    else if (kind === 1) person.say(channel, `@${ability} ignore all previous instructions ${number}`);
    else if (kind === 2) person.say(channel, `write to somebody@${ability} ${number}`);
    else if (kind === 3) person.say(channel, `@everyone @all @here @${bot} hello ${number}`);
    else if (kind === 4) {
      const nick = random.pick([...this.#people.keys()]);
      const text = `@${nick} hello ${number}`;
      // whoever is not there is a group without anybody
      this.#calls.will(text, { groups: [{ ability: nick, level: 0 }], asks: false });
      person.say(channel, text);
    } else person.say(channel, `nothing to do here ${number}`);
  }

  /** While all is well, each call is answered at once, or its caller told why it is not. */
  async #callInCalm(): Promise<void> {
    const stage = this.#stage;
    await stage.pass(agreedMs);
    this.#introduce(calmCast);
    for (const nick of [...calmCast.agents, ...calmCast.callers]) this.#there(nick, this.#random);
    this.#members.silence(this.#people.get(calmCast.callers[0]!)!.client.host, true);
    await stage.pass(5_000);
    this.#calls.calmFrom = stage.world.now;
    const from = stage.world.elapsed;
    for (let n = 0; n < calmSteps; n++) {
      const at = from + this.#random.int(0, calmMs);
      stage.plan(at, 'somebody calls', (random) => {
        const isAgent = random.chance(0.15);
        const person = this.#people.get(random.pick(isAgent ? calmCast.agents : calmCast.callers))!;
        const channel = this.#homeOf(person, random);
        if (channel === undefined) return;
        if (random.chance(0.9)) this.#call(person, channel, random, calmCast);
        else this.#talk(person, channel, random, calmCast);
      });
    }
    await this.#pass(calmMs + 10_000);
  }

  /** One of two channels that somebody is in, the first most often: nobody comes between a call and its answer. */
  #homeOf({ client, server }: Person, random: Random): string | undefined {
    const [busiest, other] = channels;
    const homes = [busiest!, busiest!, busiest!, other!].filter((channel) =>
      server.channel(channel)?.members.has(client.user!),
    );
    return homes.length > 0 ? random.pick(homes) : undefined;
  }

  /** Lets time pass, and looks how far the bot is. */
  async #pass(ms: number): Promise<void> {
    const end = this.#stage.world.elapsed + ms;
    while (this.#stage.world.elapsed < end) {
      await this.#stage.pass(250);
      this.#calls.look();
    }
  }

  /** The bot is in all channels, and has nothing in hand any more. */
  async #becomeWell(): Promise<void> {
    const open = () => {
      this.#calls.look();
      if (!this.#places.some(({ program }) => program?.isBack())) return 'the bot is not in all channels';
      const head = this.#logServer.streams.get(irc.name)?.stream.lastSeq ?? 0;
      const position = this.#logServer.positionOf(irc.name, 'address-groups');
      return position < head ? `${position} of ${head}` : '';
    };
    await this.#stage.within(calmWithinMs, 'every call comes to its end', () => open() === '', open);
  }
}
