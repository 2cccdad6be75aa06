import { readConfig } from '../../../src/config/config.js';
import { SimulatedChain } from '../http/chain.js';
import { type Manner, SimulatedFacilitator } from '../http/facilitator.js';
import { hostFaults } from '../http/faults.js';
import { type Host, Outside } from '../http/outside.js';
import { Faults } from '../irc/faults.js';
import { IrcNetwork } from '../irc/network.js';
import type { Person } from '../irc/person.js';
import { logFaults } from '../log/faults.js';
import { SimulatedLogServer } from '../log/server.js';
import { leave, type Place, type Process, type Surroundings, twoPlaces } from '../process.js';
import type { Random } from '../random.js';
import type { Scenario, Stage } from '../scenario.js';
import { startEngine } from '../store/engine.js';
import { storeFaults } from '../store/faults.js';
import { SimulatedStore } from '../store/server.js';
import { DirectoryOnLog } from './directory.js';
import { Paid } from './paid.js';
import { Payers, token } from './payers.js';
import { beginTurnstile, prepareTurnstiles, type Turnstile } from './turnstile.js';

const config = readConfig({});
const bots = [config.CHANNELSERV_NICK, config.EM_NICK, config.BRIDGE_NICK];
const sold = [
  { name: '#vip-one', price: '0.10', durationSeconds: 8, maxSlots: 1, description: 'For one' },
  { name: '#vip-few', price: '0.10', durationSeconds: 15, maxSlots: 3, description: 'For a few' },
];
const nicks = ['ann', 'bea', 'cleo', 'dora', 'eve', 'flo', 'gwen'];

const busyMs = 45_000;
const faultsPerRun = 16;
const paymentsPerRun = 26;
const repeatsPerRun = 14;
const stepsPerRun = 30;
/** A bot whose nick somebody has may wait for two minutes and a half. */
const calmWithinMs = 240_000;
/** Until the chain is believed to be past a signature, and the next look after that. */
const resolvedWithinMs = 500_000;
/**
 * The lifetime of signatures. A facilitator alone tells nothing about expired ones, so they are valid for
 * longer there.
 */
const signedSeconds = { chain: [30, 60], facilitator: [290, 290] } as const;

/** Many pay for few places in channels, while everything that accepts and admits them fails. */
export const payments: Scenario = {
  name: 'payments',
  says: 'taking payments, bringing payers in and resolving what is in doubt in two processes, and those who pay',
  kept: [5005, 5085, 5142, 5166, 1130802275, 1892584126, 2075113455, 1069046179],
  boundMs: 2_400_000,
  prepare: () => Promise.all([startEngine(), prepareTurnstiles(sold)]),
  play: async (stage) => {
    const store = await SimulatedStore.open(stage.world);
    await new Paying(stage, store).play();
  },
};

class Paying {
  readonly #stage: Stage;
  readonly #store: SimulatedStore;
  readonly #random: Random;
  readonly #network: IrcNetwork;
  readonly #logServer: SimulatedLogServer;
  readonly #faults: Faults;
  readonly #chain: SimulatedChain;
  readonly #facilitator: SimulatedFacilitator;
  readonly #hosts: { facilitator: Host; chain: Host };
  readonly #hasChain: boolean;
  readonly #around: Surroundings;
  readonly #places: Place<Turnstile>[];
  readonly #people = new Map<string, Person>();
  readonly #payers: Payers;
  readonly #paid: Paid;

  constructor(stage: Stage, store: SimulatedStore) {
    const { world } = stage;
    this.#stage = stage;
    this.#store = store;
    this.#random = stage.fork();
    this.#hasChain = this.#random.chance(0.7);
    this.#network = new IrcNetwork(world);
    this.#logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    const channels = sold.map(({ name }) => name);
    const struck = { network: this.#network, nicks: [config.CHANNELSERV_NICK], channels, areKept: true };
    this.#faults = new Faults({ world, ...struck });
    this.#chain = new SimulatedChain(world, token);
    this.#facilitator = new SimulatedFacilitator(world, this.#chain);
    const outside = new Outside(world);
    this.#hosts = {
      facilitator: outside.host('facilitator.test', (asked) => this.#facilitator.serve(asked)),
      chain: outside.host('chain.test', (asked) => this.#chain.serve(asked)),
    };
    this.#around = { stage, logServer: this.#logServer, network: this.#network, outside };
    const at = { store, directory: new DirectoryOnLog(this.#logServer), hasChain: this.#hasChain };
    const begin = (process: Process) => beginTurnstile(process, at);
    this.#places = twoPlaces(this.#around, begin);
    this.#payers = new Payers(stage, this.#chain, () => this.#places.map(({ program }) => program));
    this.#paid = new Paid(stage, this.#logServer, { chain: this.#chain, network: this.#network, sold });
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    const starting = this.#places.map((place) => place.start());
    for (const nick of nicks) this.#people.set(nick, this.#network.person(nick));
    await stage.pass(5_000);
    const from = stage.world.elapsed;
    const at = () => from + this.#random.int(0, busyMs);
    for (let n = 0; n < faultsPerRun; n++) this.#planFault(at());
    for (let n = 0; n < paymentsPerRun; n++) stage.plan(at(), 'somebody pays', (random) => this.#pay(random));
    for (let n = 0; n < repeatsPerRun; n++)
      stage.plan(at(), 'a payment again', (random) => this.#again(random));
    for (let n = 0; n < stepsPerRun; n++)
      stage.plan(at(), 'somebody does something', (random) => this.#act(random));
    await stage.pass(busyMs);
    this.#calm();
    await Promise.all([...starting, this.#payers.atRest()]);
    await this.#becomeWell();
    await this.#resolve();
    await this.#sellAgain();
    // a transfer that was under way all that time may have come to pass
    await this.#resolve();
    this.#paid.judge(this.#payers.payments, this.#mayBeOpen);
    await leave(this.#around, this.#places, this.#people.values());
    this.#logServer.close();
  }

  #planFault(at: number): void {
    const stage = this.#stage;
    const kind = this.#random.int(0, 11);
    if (kind < 2) {
      const name = this.#faults.any(this.#random);
      stage.planFault(at, name, (random) => this.#faults.strike(name, random));
    } else if (kind < 4) {
      const fault = this.#random.pick(logFaults.filter(({ name }) => name !== 'set clock'));
      stage.planFault(at, `log: ${fault.name}`, (random) =>
        fault.strike(this.#logServer, stage.world, random),
      );
    } else if (kind < 5) {
      const fault = this.#random.pick(storeFaults);
      stage.planFault(at, fault.name, (random) => fault.strike(this.#store, stage.world, random));
    } else if (kind < 7) {
      const fault = this.#random.pick(hostFaults);
      const which = this.#random.pick(['facilitator', 'facilitator', 'chain'] as const);
      stage.planFault(at, `${which} ${fault.name}`, (random) =>
        fault.strike(this.#hosts[which], stage.world, random),
      );
    } else if (kind < 9) this.#planManner(at);
    else if (kind < 11) {
      stage.planFault(at, 'killed while settling', (random) => {
        this.#facilitator.settling = (process) => {
          this.#facilitator.settling = () => {};
          const place = this.#places[process.startsWith('one') ? 0 : 1]!;
          stage.world.after(random.int(0, 4_000), () => place.kill(random));
        };
      });
    } else stage.planFault(at, 'killed process', (random) => random.pick(this.#places).kill(random));
  }

  /** The facilitator misbehaves for a while, or the chain's servers know different blocks. */
  #planManner(at: number): void {
    const { world } = this.#stage;
    const manner = this.#random.pick(['late', 'pending', 'blind', 'behind'] as const);
    const name = manner === 'behind' ? 'chain: servers behind' : `facilitator: ${manner}`;
    this.#stage.planFault(at, name, (random) => {
      const ms = random.int(2_000, 25_000);
      if (manner === 'behind') {
        this.#chain.lag = random.int(1, 4);
        world.after(ms, () => (this.#chain.lag = 0));
        return;
      }
      this.#facilitator.manner = manner satisfies Manner;
      world.after(ms, () => (this.#facilitator.manner = 'soon'));
    });
  }

  #calm(): void {
    this.#faults.calm();
    this.#logServer.heal();
    this.#store.heal();
    for (const host of Object.values(this.#hosts)) host.heal();
    this.#facilitator.manner = 'soon';
    this.#facilitator.settling = () => {};
    this.#chain.lag = 0;
  }

  #pay(random: Random): void {
    const [least, most] = signedSeconds[this.#hasChain ? 'chain' : 'facilitator'];
    const [nick, channel] = [random.pick(nicks), random.pick(sold).name];
    const seconds = random.int(least, most);
    this.#payers.pay(random, { nick, channel, seconds, tries: random.int(1, 6), isPoor: random.chance(0.1) });
  }

  #again(random: Random): void {
    const tries = random.int(1, 3);
    const somewhere = { channel: random.pick(sold).name };
    const somebody = { nick: random.pick(nicks) };
    this.#payers.again(random, { tries, ...random.pick([{}, {}, somewhere, somebody]) });
  }

  /** People come and go, and take other nicks. */
  #act(random: Random): void {
    const nick = random.pick(nicks);
    const person = this.#people.get(nick);
    const act = random.int(0, 9);
    if (!person || person.client.closed) this.#come(nick);
    else if (act < 2) person.quit();
    else if (act < 4) person.send(`PART ${random.pick(sold).name}`);
    else if (act < 6) person.send(`NICK ${nick}-away`);
    else person.send(`NICK ${nick}`);
  }

  #come(nick: string): void {
    if (this.#network.isUp()) this.#people.set(nick, this.#network.person(nick));
  }

  /** Everybody is there, and everybody with a session is in. */
  async #becomeWell(): Promise<void> {
    const stage = this.#stage;
    for (const nick of nicks) {
      const person = this.#people.get(nick);
      if (!person || person.client.closed) this.#come(nick);
      else person.send(`NICK ${nick}`);
    }
    const isOpen = () => sold.every(({ name }) => this.#network.servers[0]!.channel(name)?.modes.has('i'));
    await stage.within(calmWithinMs, 'paid channels are there, and closed', isOpen);
    await this.#bringBack();
  }

  /** A payer presents the same payment again, and is in. */
  async #bringBack(): Promise<void> {
    const stage = this.#stage;
    const live = this.#paid.live(10_500);
    for (const session of live) {
      if (this.#paid.isIn(session)) continue;
      const paid = this.#payers.payments.find(({ id }) => id === session.payment)!;
      this.#payers.comeBack(paid, session, this.#random.fork());
    }
    await stage.pass(9_000);
    for (const session of live) {
      const found = `${session.nick} in ${session.channel}: ${session.session_id}`;
      stage.check('who has paid is in with a voice', this.#paid.isIn(session), found);
    }
    await this.#payers.atRest();
  }

  /** The fate of every payment is known, and everybody whose time is over is out. */
  async #resolve(): Promise<void> {
    const stage = this.#stage;
    const open = () => this.#paid.open(this.#mayBeOpen);
    await stage.within(resolvedWithinMs, 'a payment comes to its end', () => open() === '', open);
    const isFree = () =>
      sold.every(({ name }) => [...this.#paid.kept(name).keys()].every((id) => this.#mayBeOpen(id)));
    // what was reserved before a payment was known to be one
    await stage.within(60_000, 'no place is kept for nobody', isFree);
    await this.#emptied();
  }

  /** A facilitator alone can tell nothing of what was not settled in time. */
  readonly #mayBeOpen = (payment: string): boolean => {
    const { signed } = this.#payers.payments.find(({ id }) => id === payment)!;
    return !this.#hasChain && this.#chain.movedFor(signed.from, signed.nonce) === undefined;
  };

  /** Everybody whose time is over is out, and nobody before. */
  async #emptied(): Promise<void> {
    const stage = this.#stage;
    const isOver = () => {
      this.#paid.look(bots);
      return this.#paid.live(Number.NEGATIVE_INFINITY).length === 0 && this.#paid.isEmpty(bots);
    };
    await stage.within(60_000, 'whoever has had their time is out', isOver);
  }

  /** All places can be had again, and at the end nobody is in. */
  async #sellAgain(): Promise<void> {
    const stage = this.#stage;
    const wanted: string[] = [];
    for (const { name: channel, maxSlots } of sold) {
      const kept = [...this.#paid.kept(channel).values()];
      const buyers = nicks.filter((nick) => !kept.includes(nick)).slice(0, maxSlots - kept.length);
      for (const nick of buyers) {
        wanted.push(`${nick} in ${channel}`);
        this.#payers.pay(this.#random.fork(), { nick, channel, seconds: 60, tries: 1 });
      }
    }
    await this.#payers.atRest();
    await stage.pass(2_000);
    const live = this.#paid.live();
    // a payment that kept its place may have come to its end meanwhile, and is there too
    const there = live.map(({ nick, channel }) => `${nick} in ${channel}`);
    const told = there.join(', ');
    const isSold = wanted.every((one) => there.includes(one));
    stage.check('every place can be sold again', isSold, () => `${wanted.join(', ')}, and really ${told}`);
    for (const session of live)
      stage.check('who has paid is in with a voice', this.#paid.isIn(session), told);
    await this.#emptied();
  }
}
