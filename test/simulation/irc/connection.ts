import type { Random } from '../random.js';
import type { World } from '../world.js';
import type { Client } from './client.js';
import type { Server } from './server.js';
import { type Latency, Pipe, type SimulatedSocket } from './wire.js';

/** What a new connection is made of. */
export interface ConnectionOptions {
  world: World;
  random: Random;
  latency: Latency;
  server: Server;
  socket: SimulatedSocket;
  ended(connection: Connection): void;
}

/** A connection between a client's socket and its server, and what can befall it. */
export class Connection {
  readonly socket: SimulatedSocket;
  readonly server: Server;
  readonly client: Client;
  readonly #options: ConnectionOptions;
  readonly #up: Pipe;
  readonly #down: Pipe;
  /** Neither side hears of the other any more, and neither knows. */
  #isDead = false;

  constructor(options: ConnectionOptions) {
    const { world, random, latency, server, socket } = options;
    this.#options = options;
    this.socket = socket;
    this.server = server;
    this.client = server.accept({
      write: (text) => this.#down.send(Buffer.from(text)),
      close: () => {
        this.#down.end(() => socket.gone());
        this.#over();
      },
    });
    this.#up = new Pipe(world, random, latency, (bytes) => this.client.receive(bytes));
    this.#down = new Pipe(world, random, latency, (bytes) => socket.arrived(bytes));
    socket.connected(this.#up, {
      receive: (bytes) => this.client.receive(bytes),
      ended: (isReset) => {
        server.left(this.client, isReset ? 'Connection reset by peer' : 'Connection closed');
        this.#down.lose();
        this.#over();
      },
    });
  }

  /** The nick of the client, if it is registered. */
  get nick(): string | undefined {
    return this.client.user?.nick;
  }

  /** Both sides find the connection gone; of what was on its way to the server a part may have come. */
  cut(): void {
    this.#down.lose();
    this.#up.lose(false);
    this.#up.end(() => this.server.left(this.client, 'Connection reset by peer'));
    this.socket.gone('ECONNRESET');
  }

  /**
   * The client finds its connection gone, the server does not: it still has the client, and works on what was on its
   * way until its pings stay unanswered.
   */
  leaveGhost(lateMs: number): void {
    const { world } = this.#options;
    this.#isDead = true;
    this.#down.freeze();
    this.#up.freeze();
    this.client.plan(lateMs, () => this.#up.thaw());
    this.socket.gone('ETIMEDOUT');
    world.tell('irc', `${this.client.name} has left a ghost`);
  }

  /** Nothing gets through, and nobody is told. */
  freeze(): void {
    this.#up.freeze();
    this.#down.freeze();
  }

  thaw(): void {
    if (this.#isDead) return;
    this.#up.thaw();
    this.#down.thaw();
  }

  #over(): void {
    this.#options.ended(this);
  }
}
