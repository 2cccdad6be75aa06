import type { Socket } from 'node:net';
import { casefold } from '../../../streams/irc-grammar.js';
import type { Random } from '../random.js';
import type { World } from '../world.js';
import { Connection } from './connection.js';
import type { Fact } from './facts.js';
import { inspircd, type ServerKind } from './kinds.js';
import { Person, type PersonOptions } from './person.js';
import { Server } from './server.js';
import type { Arrived } from './state.js';
import { type Latency, SimulatedSocket } from './wire.js';

/** What a simulated network is made of. */
export interface IrcNetworkOptions {
  kind?: ServerKind;
  /** How many servers it has, linked in a row; one by default. */
  servers?: number;
  latency?: Latency;
  /** Nicks that nobody takes but operators for themselves. */
  reservedNicks?: readonly string[];
  /** What a line costs those that are throttled, in milliseconds. */
  publicCostMs?: number;
}

/** A line that a channel has been shown. */
export interface Shown extends Arrived {
  channel: string;
  server: string;
  /** Letters of the channel's modes at that moment. */
  modes: string;
}

/** What a bot has to know to come to a simulated network. */
export const credentials = {
  password: 'server-password',
  gatewayPassword: 'gateway-password',
  oper: { name: 'chanbot', password: 'oper-password' },
} as const;

const serverNames = ['irc.relay.internal', 'far.relay.internal', 'third.relay.internal'] as const;

/** A network of IRC servers in the time of a world: nothing of it is real but what it says. */
export class IrcNetwork {
  readonly world: World;
  readonly random: Random;
  readonly servers: Server[] = [];
  /** Every line that a channel was shown, where it was said, in order. */
  readonly shown: Shown[] = [];
  /** The same as each server showed it: what reached several is there for each of them, with its name. */
  readonly seen: Shown[] = [];
  readonly connections = new Set<Connection>();
  readonly latency: Latency;
  readonly #down = new Set<Server>();
  /** Links between servers, by their indices: `0-1`. */
  readonly #links = new Set<string>();
  /** When what one server has told another arrives, so that it arrives in order. */
  readonly #arrivals = new Map<string, number>();
  /** Counts up with each split, so that what was on its way then is lost. */
  readonly #epochs = new Map<string, number>();
  #refusing = false;

  constructor(world: World, options: IrcNetworkOptions = {}) {
    const { kind = inspircd, servers = 1, latency = { least: 0.2, most: 3 }, reservedNicks = [] } = options;
    this.world = world;
    this.random = world.random.fork();
    this.latency = { ...latency };
    for (const [index, name] of serverNames.slice(0, servers).entries()) {
      const server: Server = new Server({
        world,
        name,
        id: `${index + 1}RN`,
        kind,
        ...credentials,
        reservedNicks,
        publicCostMs: options.publicCostMs ?? 0,
        linked: () => this.servers.length > 1,
        leaks: () => kind.forces && this.random.chance(0.5),
        spread: (fact) => this.#spread(server, fact),
        force: (fact, home) => this.#force(server, fact, home),
        shown: ({ name }, { name: channel, modes }, message, isItsOwn) => {
          const line = { ...message, channel, server: name, modes: [...modes.keys()].join('') };
          this.seen.push(line);
          if (isItsOwn) this.shown.push(line);
        },
      });
      this.servers.push(server);
      if (index > 0) this.#links.add(`${index - 1}-${index}`);
    }
  }

  /** What an `IrcConnection` dials with, to one of the servers. */
  dial(server = 0): () => Socket {
    return () => this.connect(server) as unknown as Socket;
  }

  /** A socket on its way to one of the servers. */
  connect(server = 0): SimulatedSocket {
    const socket = new SimulatedSocket();
    const { world, random } = this;
    world.after(this.#late() * 2, () => {
      const to = this.servers[server]!;
      if (socket.destroyed) return;
      if (this.#refusing || this.#down.has(to)) return socket.gone('ECONNREFUSED');
      const ended = (connection: Connection) => this.connections.delete(connection);
      this.connections.add(
        new Connection({ world, random, latency: this.latency, server: to, socket, ended }),
      );
    });
    return socket;
  }

  /** Somebody who is no part of the product. */
  person(nick: string, { server = 0, ...of }: PersonOptions & { server?: number } = {}): Person {
    return new Person(this.servers[server]!, nick, { password: credentials.password, ...of });
  }

  /** Who has a nick, as the first server knows. */
  has(nick: string): boolean {
    return this.servers[0]!.user(nick) !== undefined;
  }

  isUp(server = 0): boolean {
    return !this.#down.has(this.servers[server]!);
  }

  /** New connections are refused (true), or taken again (false). */
  refuse(on: boolean): void {
    this.#refusing = on;
  }

  /** A server ends, in order or not. Its users are gone, its channels but those that it has saved, and every history. */
  stop(server = 0, clean = false): void {
    const ending = this.servers[server]!;
    if (this.#down.has(ending)) return;
    this.world.tell('irc', `${ending.name} ${clean ? 'stops' : 'crashes'}`);
    for (let other = 0; other < this.servers.length; other++) if (other !== server) this.split(server, other);
    this.#down.add(ending);
    ending.stop(clean);
    ending.flush();
  }

  /** It is back, and linked as before. */
  start(server = 0): void {
    const starting = this.servers[server]!;
    if (!this.#down.delete(starting)) return;
    this.world.tell('irc', `${starting.name} starts`);
    starting.start();
    for (const other of [server - 1, server + 1]) if (this.servers[other]) this.relink(server, other);
  }

  /** Ends the link between two servers: each side takes the users of the other for gone. */
  split(one: number, other: number): void {
    const link = linkOf(one, other);
    if (!this.#links.delete(link)) return;
    this.world.tell('irc', `split ${link}`);
    const here = this.#reachable(one);
    const there = this.#reachable(other);
    const forget = (side: number[], gone: number[], [ours, theirs]: readonly [number, number]) => {
      for (const index of side) {
        const server = this.servers[index]!;
        const homes = new Set(gone.map((of) => this.servers[of]!.name));
        for (const of of gone) this.#lose(index, of);
        const reason = `${this.servers[ours]!.name} ${this.servers[theirs]!.name}`;
        for (const user of [...server.users.values()])
          if (homes.has(user.home)) server.apply({ is: 'quit', user: user.id, reason });
        server.flush();
      }
    };
    forget(here, there, [one, other]);
    forget(there, here, [other, one]);
  }

  /** Links two servers: each tells the other all that it knows. */
  relink(one: number, other: number): void {
    const link = linkOf(one, other);
    const isDown = [one, other].some((index) => this.#down.has(this.servers[index]!));
    if (Math.abs(one - other) !== 1 || this.#links.has(link) || isDown) return;
    this.world.tell('irc', `link ${link}`);
    const here = this.#reachable(one);
    const there = this.#reachable(other);
    this.#links.add(link);
    const bursts = [here, there].map((side) => side.map((index) => burstOf(this.servers[index]!)));
    for (const [index, [from, to]] of [[here, there] as const, [there, here] as const].entries())
      for (const [at, of] of from.entries())
        for (const target of to) for (const fact of bursts[index]![at]!) this.#tell(of, target, fact);
  }

  /** Ends a user's session as an operator or the server does. */
  kill(nick: string, reason = 'Killed (root (Go away))'): void {
    const server = this.servers[0]!;
    const user = server.user(nick);
    if (user) server.happen({ is: 'killed', by: { server: server.name }, user: user.id, reason });
    server.flush();
  }

  /** Puts a user out of a channel, as its operators may. */
  kick(nick: string, channel: string, reason = 'Out'): void {
    const server = this.servers[0]!;
    const user = server.user(nick);
    if (user) server.happen({ is: 'kick', by: { server: server.name }, user: user.id, channel, reason });
    server.flush();
  }

  /** Sets a channel's topic, as its operators may. */
  setTopic(channel: string, text: string): void {
    const server = this.servers[0]!;
    const by = { server: server.name };
    if (server.channel(channel)) server.happen({ is: 'topic', by, channel, text, at: server.now });
    server.flush();
  }

  /** A server refuses a nick (432, 433, 436, 437), or nothing any more. */
  refuseNick(nick: string, numeric: string | undefined, server = 0): void {
    const { refusedNicks } = this.servers[server]!;
    if (numeric === undefined) refusedNicks.delete(casefold(nick));
    else refusedNicks.set(casefold(nick), numeric);
  }

  /** A server offers something more, as when services link. */
  offer(capability: string, server = 0): void {
    this.#news(server, 'NEW', capability);
  }

  /** A server takes something away, as when a module is unloaded. */
  withdraw(capability: string, server = 0): void {
    this.#news(server, 'DEL', capability);
  }

  #news(index: number, what: 'NEW' | 'DEL', capability: string): void {
    const server = this.servers[index]!;
    if (what === 'NEW') server.capabilities.add(capability);
    else server.capabilities.delete(capability);
    for (const client of server.clients) {
      if (what === 'DEL') client.capabilities.delete(capability);
      if (client.has('cap-notify')) client.send(server.name, {}, 'CAP', client.name, what, capability);
    }
    server.flush();
  }

  #late(): number {
    const { least, most } = this.latency;
    return least + (most - least) * this.random.next();
  }

  #spread(from: Server, fact: Fact): void {
    if (this.servers.length === 1) return;
    const index = this.servers.indexOf(from);
    for (const to of this.#reachable(index)) if (to !== index) this.#tell(index, to, fact);
  }

  #force(from: Server, fact: Fact, home: string): void {
    const to = this.servers.findIndex(({ name }) => name === home);
    const index = this.servers.indexOf(from);
    if (this.#reachable(index).includes(to)) this.#tell(index, to, fact);
  }

  /** One server tells another, which hears of it a moment later. */
  #tell(from: number, to: number, fact: Fact): void {
    const path = `${from}>${to}`;
    const at = Math.max(this.#arrivals.get(path) ?? 0, this.world.now + this.#late());
    this.#arrivals.set(path, at);
    const epoch = this.#epochs.get(path) ?? 0;
    this.world.after(at - this.world.now, () => {
      if ((this.#epochs.get(path) ?? 0) !== epoch) return;
      const server = this.servers[to]!;
      server.apply(fact);
      server.flush();
    });
  }

  /** What is on its way between two servers is lost. */
  #lose(one: number, other: number): void {
    for (const path of [`${one}>${other}`, `${other}>${one}`])
      this.#epochs.set(path, (this.#epochs.get(path) ?? 0) + 1);
  }

  #reachable(from: number): number[] {
    const found = [from];
    for (const index of found) {
      for (const other of [index - 1, index + 1])
        if (this.#links.has(linkOf(index, other)) && !found.includes(other)) found.push(other);
    }
    return found;
  }
}

const linkOf = (one: number, other: number): string => `${Math.min(one, other)}-${Math.max(one, other)}`;

/** All that a server tells one that is linked to it: its own users, and its channels with those in them. */
function burstOf(server: Server): Fact[] {
  const own = [...server.users.values()].filter(({ home }) => home === server.name);
  const facts: Fact[] = own.map(({ client: _, channels: __, ...user }) => ({
    is: 'user',
    user,
    burst: true,
  }));
  for (const channel of server.channels.values()) {
    const members = [...channel.members].filter(([user]) => user.home === server.name);
    facts.push({
      is: 'channel',
      from: server.name,
      name: channel.name,
      since: channel.since,
      modes: [...channel.modes],
      bans: [...channel.bans],
      topic: channel.topic,
      members: members.map(([user, status]) => ({ user: user.id, status: [...status].join('') })),
    });
  }
  return [...facts, { is: 'burst over', from: server.name }];
}
