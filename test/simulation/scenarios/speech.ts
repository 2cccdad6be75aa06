import { speechArea } from '../../../src/app/areas/speech.js';
import { createChannelKeeping } from '../../../src/app/bots/channels.js';
import { readConfig } from '../../../src/config/config.js';
import { channels as channelFacts } from '../../../streams/channels/index.js';
import { isExpected } from '../../../streams/core/index.js';
import { market } from '../../../streams/events/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { connections, inbox, speech as speechFacts } from '../../../streams/speech/index.js';
import { type Webhook, webhookSubject, webhooks } from '../../../streams/webhooks/index.js';
import { createGateway, type Gateway, personOf, type SaidLine } from '../../../workers/speech/index.js';
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
import { planTrouble, type Trouble } from '../trouble.js';
import { DirectoryOnLog } from './directory.js';
import { type Asked, markedText, SpokenLines } from './spoken-lines.js';

const idleMinutes = 5;
const config = readConfig({
  IRC_CHANNELS: '#lobby,#disputes,#payments',
  GATEWAY_IDLE_MINUTES: `${idleMinutes}`,
});
const rooms = config.IRC_CHANNELS;
const agents = ['agent-a', 'agent-b', 'agent-c', 'agent-d'];
/** One of them has a webhook, for which it stays. */
const listening = 'agent-d';
const webhook: Webhook = {
  nick: listening,
  person: personOf(listening),
  by: `agent ${listening}`,
  url: 'https://agent.example/relay',
  wants: ['private'],
  secret_id: 'one',
  registered_at: '2026-01-01T00:00:00.000Z',
  after: 0,
  is: 'on',
  reason: null,
  failing_since: null,
  error: null,
};
/** Somebody with a client of their own, who reads all of it. */
const reader = 'zoe';
const streams = [channelFacts, market, operations, speechFacts, connections, inbox, webhooks];

const busyMs = 60_000;
const faultsPerRun = 20;
const linesPerRun = 120;
const stepsPerRun = 30;
/** A line waits for a minute at most, and a server gives a nick back after its pings stay unanswered. */
const calmWithinMs = 240_000;
const shownWithinMs = 30_000;
/** An agent that asked is told at last; it asks again until then, as a client does. */
const askedAgainMs = 2_000;
const mostTries = 60;

/** Agents speak through the gateway, while its network, its log and its processes fail. */
export const speech: Scenario = {
  name: 'speech',
  says: 'the gateway and the channel bot in two processes, and agents who speak through it',
  kept: [
    248113909, 777019, 1132926759, 2132424284, 337757159, 1091653826, 95347198, 1667704557, 1398711573,
    764609109, 471335195, 2133150274,
  ],
  boundMs: 1_500_000,
  play: (stage) => new Speaking(stage).play(),
};

/** A process that may have the gateway, and its way to the one that has it. */
interface Speaker extends Running {
  gateway: Gateway;
}

class Speaking {
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #network: IrcNetwork;
  readonly #logServer: SimulatedLogServer;
  readonly #directory: DirectoryOnLog;
  readonly #faults: Faults;
  readonly #around: Surroundings;
  readonly #places: Place<Speaker>[];
  readonly #trouble: Trouble;
  readonly #asked: Asked[] = [];
  readonly #asking = new Set<Promise<void>>();
  /** The same person, each time that they came; the last one is the present. */
  readonly #readers: Person[] = [];

  constructor(stage: Stage) {
    const { world } = stage;
    this.#stage = stage;
    this.#random = stage.fork();
    this.#network = new IrcNetwork(world, { servers: this.#random.int(1, 2) });
    this.#logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    this.#directory = new DirectoryOnLog(this.#logServer);
    const nicks = [...agents, config.CHANNELSERV_NICK];
    this.#faults = new Faults({ world, network: this.#network, nicks, channels: rooms });
    this.#around = { stage, logServer: this.#logServer, network: this.#network };
    this.#places = twoPlaces(this.#around, (process) => this.#begin(process));
    this.#trouble = {
      stage,
      irc: { faults: this.#faults, ofTen: 5 },
      log: { server: this.#logServer, ofTen: 3, isClockSet: true },
      places: this.#places,
    };
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    const starting = this.#places.map((place) => place.start());
    await stage.pass(5_000);
    const from = stage.world.elapsed;
    const at = () => from + this.#random.int(0, busyMs);
    for (let n = 0; n < faultsPerRun; n++) planTrouble(this.#trouble, at(), this.#random);
    for (let n = 0; n < linesPerRun; n++)
      stage.plan(at(), 'a line', (random) => this.#ask(random.pick(agents), this.#target(random), random));
    for (let n = 0; n < stepsPerRun; n++)
      stage.plan(at(), 'somebody does something', (random) => this.#act(random));
    await stage.pass(busyMs);
    this.#faults.calm();
    this.#logServer.heal();
    await Promise.all(starting);
    const lines = new SpokenLines(stage, this.#logServer, this.#network);
    const open = () => lines.open().join(', ');
    await stage.within(calmWithinMs, 'every line comes to its end', () => open() === '', open);
    await this.#speakLast(lines);
    await Promise.all(this.#asking);
    lines.judge(
      this.#asked,
      this.#readers.flatMap((person) => person.texts(reader)),
    );
    await this.#becomeIdle(lines);
    await leave(this.#around, this.#places, this.#readers.slice(-1));
    this.#logServer.close();
  }

  async #begin(process: Process): Promise<Speaker> {
    const log = await process.openLog(streams);
    const registered = { type: 'webhook.registered', data: webhook } as const;
    // who starts while the log is away finds that of the first one
    const appended = log.appendOnce(webhooks, webhookSubject(webhook.nick), registered, { by: webhook.by });
    await appended.catch(() => undefined);
    // no line of this world answers another
    const around = { config, readModels: this.#directory.readModels, call: undefined as never };
    const parts = { ...process.botParts(log), ...around };
    const leases = [createChannelKeeping(config, parts).lease, ...speechArea(parts).connections!];
    return { gateway: createGateway(log), ...runLeases(leases, { log }) };
  }

  #target(random: Random): string {
    return random.chance(0.8) ? random.pick(rooms) : reader;
  }

  /** An agent has a line said; while nobody can tell what becomes of it, it asks again under the same key. */
  #ask(nick: string, to: string, random: Random): void {
    const number = this.#asked.length + 1;
    const asked: Asked = { number, nick, to, answers: [], refusals: [] };
    this.#asked.push(asked);
    const line = {
      nick,
      person: personOf(nick),
      to,
      text: markedText(number, nick),
      action: random.chance(0.1),
      key: `key ${number}`,
      by: `agent ${nick}`,
    };
    // some ask twice at once, as a client does whose answer is late
    const work = Promise.all(
      Array.from({ length: random.chance(0.1) ? 2 : 1 }, () => this.#askOnce(asked, line)),
    );
    const done = work.then(() => {});
    this.#asking.add(done);
    void done.finally(() => this.#asking.delete(done));
  }

  async #askOnce(asked: Asked, line: Parameters<Gateway['say']>[0]): Promise<void> {
    const stage = this.#stage;
    for (let tries = 0; tries < mostTries; tries++) {
      const { program } = this.#random.pick(this.#places);
      try {
        const said: SaidLine | undefined = await program?.gateway.say(line);
        if (said) asked.answers.push(said);
        if (said && said.is !== 'pending') return;
      } catch (error) {
        stage.check('lines are refused in known ways', isExpected(error), () => `${(error as Error).stack}`);
        if (!isExpected(error)) return;
        if (error.kind === 'refusal' && error.code !== 'rate_limited') {
          asked.refusals.push(error.code);
          return;
        }
      }
      await stage.pass(askedAgainMs);
    }
  }

  /** Agents come and go, operators put them out of rooms, and the reader talks to them. */
  #act(random: Random): void {
    const stage = this.#stage;
    const nick = random.pick(agents);
    const by = `agent ${nick}`;
    const speaker = { nick, person: personOf(nick), by };
    const gateway = random.pick(this.#places).program?.gateway;
    const act = random.int(0, 9);
    const known = (error: unknown) =>
      stage.check('commands are refused in known ways', isExpected(error), () => `${(error as Error).stack}`);
    if (act < 2) gateway?.disconnect(speaker).catch(known);
    else if (act < 4) gateway?.part({ ...speaker, channel: random.pick(rooms) }).catch(known);
    else if (act < 6) gateway?.join({ ...speaker, channel: random.pick(rooms) }).catch(known);
    else if (act < 8) this.#network.kick(nick, random.pick(rooms));
    else {
      const person = this.#enter();
      person?.say(random.pick(rooms), `${nick}: how is the weather today`);
      person?.say(nick, 'and where you are?');
    }
  }

  #enter(): Person | undefined {
    const last = this.#readers.at(-1);
    if (last?.isThere) return last;
    if (!this.#network.isUp()) return undefined;
    const person = this.#network.person(reader);
    this.#readers.push(person);
    for (const room of rooms) person.join(room);
    return person;
  }

  /** What is said when all is well is shown, by each agent under its own nick, and soon. */
  async #speakLast(lines: SpokenLines): Promise<void> {
    const stage = this.#stage;
    const random = this.#random.fork();
    // processes learn each minute that the log's clock was set, by which they tell that an answer is overdue
    await stage.pass(90_000);
    this.#enter();
    await stage.pass(5_000);
    const first = this.#asked.length;
    for (const nick of agents) for (const to of [...rooms, reader]) this.#ask(nick, to, random);
    const last = this.#asked.slice(first);
    const isShown = () => last.every(({ number }) => lines.endOf(number) === 'line.shown');
    const found = () =>
      last.map(({ number, nick, to }) => `${nick} ${to}: ${lines.endOf(number)}`).join(', ');
    await stage.within(shownWithinMs, 'lines are shown when all is well', isShown, found);
  }

  /** An agent that is silent and has no webhook leaves the network, and that is recorded; nothing is left of older sessions. */
  async #becomeIdle(lines: SpokenLines): Promise<void> {
    const stage = this.#stage;
    await stage.pass(idleMinutes * 60_000 + 30_000);
    for (const nick of agents.filter((nick) => nick !== listening)) {
      stage.check('who is silent leaves the network', !this.#network.has(nick), nick);
      stage.check('who has left is recorded to have left', lines.isOpen(nick) === false, nick);
    }
    stage.check(
      'who has a webhook stays',
      this.#network.has(listening) && lines.isOpen(listening) === true,
      listening,
    );
  }
}
