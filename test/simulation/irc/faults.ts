import type { Random } from '../random.js';
import type { World } from '../world.js';
import type { Connection } from './connection.js';
import type { ModeChange } from './facts.js';
import type { IrcNetwork } from './network.js';

/** What faults are struck at. */
export interface FaultsOptions {
  world: World;
  network: IrcNetwork;
  /** Nicks of the bots. */
  nicks: readonly string[];
  channels: readonly string[];
  /** Whether the first of the bots keeps the channels, and reverts changes made in them. */
  areKept?: boolean;
}

const kinds = [
  ...['cut', 'cut often', 'ghost', 'freeze', 'crash', 'stop', 'kill', 'kick', 'split', 'lag', 'throttle'],
  ...['refuse', 'nick taken', 'nick refused', 'capability late', 'labels withdrawn', 'sendq', 'answer lost'],
  ...['host changed', 'silenced', 'shut out'],
] as const;

/** A kind of fault that befalls a network. */
export type FaultKind = (typeof kinds)[number];

/** How long linked servers take to agree, at most, in milliseconds. */
export const agreedMs = 5_000;

/** Strikes faults at a network, by chance or by name, and reverts them all. */
export class Faults {
  /** The kinds of this run: not all in every run, so that some often strike together. */
  readonly kinds: readonly FaultKind[];
  readonly #options: FaultsOptions;
  /** The chance of the fault that is struck now. */
  #random: Random;
  /** What must be done until all is well again. */
  readonly #undo = new Set<() => void>();
  #guests = 0;

  constructor(options: FaultsOptions) {
    this.#options = options;
    this.#random = options.network.random.fork();
    this.kinds = this.#random.shuffled(kinds).slice(0, this.#random.int(2, kinds.length));
  }

  /** One of the kinds. */
  any(random: Random): FaultKind {
    return random.pick(this.kinds);
  }

  /** Strikes a fault; chance decides its length and its victim. */
  strike(kind: FaultKind, random: Random): void {
    this.#random = random;
    this.#strike[kind]();
  }

  /** Everything is well again, also where servers have to agree on it first. */
  calm(): void {
    const { world, channels } = this.#options;
    world.tell('fault', 'calm');
    for (const undo of [...this.#undo]) undo();
    if (this.#options.areKept) return;
    for (const ms of [0, agreedMs])
      world.after(ms, () => {
        for (const channel of channels) this.#change(channel, '-');
      });
  }

  /** Reverts something after a while, or when all should be well. */
  #for(least: number, most: number, undo: () => void): void {
    const planned = this.#options.world.after(this.#random.int(least, most), () => done());
    const done = () => {
      planned.cancelled = true;
      if (this.#undo.delete(done)) undo();
    };
    this.#undo.add(done);
  }

  #connection(random = this.#random): Connection | undefined {
    const { network, nicks } = this.#options;
    const all = [...network.connections];
    const own = all.filter(({ nick }) => nick === undefined || nicks.includes(nick));
    return all.length === 0 ? undefined : random.pick(own.length > 0 ? own : all);
  }

  #server(): number {
    return this.#random.int(0, this.#options.network.servers.length - 1);
  }

  readonly #strike: Record<FaultKind, () => void> = {
    cut: () => this.#connection()?.cut(),
    'cut often': () => {
      const { world } = this.#options;
      const random = this.#random;
      this.#connection()?.cut();
      // also while the next ones are being registered
      for (let n = random.int(1, 3); n > 0; n--)
        world.after(random.int(0, 4_000), () => this.#connection(random)?.cut());
    },
    ghost: () => this.#connection()?.leaveGhost(this.#random.int(0, 8_000)),
    freeze: () => {
      const connection = this.#connection();
      connection?.freeze();
      if (connection) this.#for(100, 15_000, () => connection.thaw());
    },
    crash: () => this.#restart(false),
    stop: () => this.#restart(true),
    kill: () => this.#options.network.kill(this.#random.pick(this.#options.nicks)),
    kick: () => {
      const { network, nicks, channels } = this.#options;
      network.kick(this.#random.pick(nicks), this.#random.pick(channels));
    },
    split: () => {
      const { network } = this.#options;
      if (network.servers.length < 2) return;
      const one = this.#random.int(0, network.servers.length - 2);
      network.split(one, one + 1);
      this.#for(100, 15_000, () => network.relink(one, one + 1));
    },
    lag: () => {
      const { latency } = this.#options.network;
      latency.most = this.#random.int(50, 2_000);
      this.#for(500, 10_000, () => {
        latency.most = 3;
      });
    },
    throttle: () => {
      const client = this.#connection()?.client;
      if (!client) return;
      client.costMs = this.#random.int(50, 1_000);
      this.#for(1_000, 10_000, () => {
        client.costMs = 0;
      });
    },
    refuse: () => {
      const { network } = this.#options;
      network.refuse(true);
      this.#connection()?.cut();
      this.#for(500, 10_000, () => network.refuse(false));
    },
    'nick taken': () => {
      const { network, nicks, world } = this.#options;
      this.#connection()?.cut();
      const random = this.#random;
      world.after(random.int(1, 40), () => {
        this.#random = random;
        const guest = network.person(this.#random.pick(nicks), { server: this.#server() });
        this.#for(2_000, 40_000, () => guest.quit());
      });
    },
    'nick refused': () => {
      const { network, nicks } = this.#options;
      const nick = this.#random.pick(nicks);
      const server = this.#server();
      network.refuseNick(nick, this.#random.pick(['432', '433', '436', '437']), server);
      this.#connection()?.cut();
      this.#for(500, 30_000, () => network.refuseNick(nick, undefined, server));
    },
    'capability late': () => {
      const { network, world } = this.#options;
      const server = this.#server();
      const capability = `late-${++this.#guests}`;
      if (this.#random.chance(0.5)) this.#connection()?.cut();
      const offered = this.#random.pick(['sasl', capability]);
      world.after(this.#random.int(0, 1_500), () => network.offer(offered, server));
    },
    'labels withdrawn': () => {
      const { network } = this.#options;
      const server = this.#server();
      if (!network.servers[server]!.capabilities.has('labeled-response')) return;
      network.withdraw('labeled-response', server);
      this.#for(500, 20_000, () => network.offer('labeled-response', server));
    },
    sendq: () => {
      const connection = this.#connection();
      connection?.server.close(connection.client, 'SendQ exceeded');
    },
    'answer lost': () => this.#connection()?.client.swallow.push({ isDone: this.#random.chance(0.5) }),
    'host changed': () => {
      const client = this.#connection()?.client;
      if (!client?.user) return;
      client.server.happen({
        is: 'host',
        user: client.user.id,
        host: `host${this.#random.int(1, 99)}.example`,
      });
      client.server.flush();
    },
    silenced: () => {
      const { channels, network, nicks } = this.#options;
      const channel = this.#random.pick(channels);
      if (this.#options.areKept) {
        // what is changed while the keeper is away is left as it is found
        const { members } = network.servers[0]!.channel(channel) ?? {};
        const isSeen = [...(members?.keys() ?? [])].some(({ nick }) => nick === nicks[0]);
        if (isSeen) this.#change(channel, '+');
        return;
      }
      this.#change(channel, '+');
      this.#for(500, 10_000, () => this.#change(channel, '-'));
    },
    'shut out': () => {
      const connection = this.#connection();
      if (!connection) return;
      if (!connection.client.user) connection.client.numeric('465', 'You are banned from this server.');
      connection.server.close(connection.client, 'K-Lined: for a while');
    },
  };

  /** Modes that keep everybody without rights from speaking or coming in, even a bot. */
  #change(channel: string, sign: '+' | '-'): void {
    const server = this.#options.network.servers[0]!;
    const changes: ModeChange[] = ['m', 'i'].map((letter) => ({ sign, letter }));
    for (const nick of sign === '+' ? this.#options.nicks : []) {
      const user = server.user(nick)?.id;
      if (user !== undefined && this.#random.chance(0.7))
        for (const letter of ['o', 'v']) changes.push({ sign: '-', letter, value: nick, user });
    }
    if (server.channel(channel))
      server.happen({ is: 'mode', by: { server: server.name }, channel, changes, at: server.now });
    server.flush();
  }

  #restart(isClean: boolean): void {
    const { network } = this.#options;
    const server = this.#server();
    network.stop(server, isClean);
    this.#for(50, 8_000, () => network.start(server));
  }
}
