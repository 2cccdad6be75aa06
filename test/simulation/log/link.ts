import type { World } from '../world.js';
import { type Latency, Pipe } from './pipe.js';
import type { WireMessage } from './wire.js';

/** What a client tells the server. */
export type ToServer =
  | { is: 'publish'; message: WireMessage }
  | { is: 'subscribe'; sid: number; subject: string; queue: string | undefined }
  | { is: 'unsubscribe'; sid: number; after: number | undefined }
  | { is: 'ping' }
  | { is: 'end' };

/** What the server tells a client. */
export type ToClient = { is: 'message'; sid: number; message: WireMessage } | { is: 'pong' };

/** A subscription as the server knows it. */
export interface Subscribed {
  link: Link;
  sid: number;
  subject: string;
  queue: string | undefined;
  received: number;
  /** Ends with so many messages. */
  most: number | undefined;
}

/** The end of a link that a client holds. */
export interface ClientEnd {
  receive(message: ToClient): void;
  /** The connection broke; told once, and not after `cut` by the client itself. */
  broken(): void;
}

/** One connection between a client and the server, from its beginning to its end. */
export class Link {
  readonly name: string;
  readonly subscriptions = new Map<number, Subscribed>();
  readonly #up: Pipe<ToServer>;
  readonly #down: Pipe<ToClient>;
  readonly #world: World;
  readonly #client: ClientEnd;
  #serverKnows = true;
  #clientKnows = true;

  constructor(
    world: World,
    options: {
      name: string;
      latency: () => Latency;
      client: ClientEnd;
      server: (link: Link, message: ToServer) => void;
    },
  ) {
    this.#world = world;
    this.name = options.name;
    this.#client = options.client;
    this.#up = new Pipe(world, options.latency, (message) => options.server(this, message));
    this.#down = new Pipe(world, options.latency, (message) => options.client.receive(message));
  }

  /** Whether the client believes in it. */
  get isUp(): boolean {
    return this.#clientKnows;
  }

  /** Whether the server believes in it. */
  get isServed(): boolean {
    return this.#serverKnows;
  }

  toServer(message: ToServer): void {
    this.#up.send(message);
  }

  toClient(message: ToClient): void {
    this.#down.send(message);
  }

  /** The server does not read any more, until `thaw`. */
  freeze(): void {
    this.#up.hold();
  }

  thaw(): void {
    this.#up.release();
  }

  /**
   * Loses everything on its way. Each end hears of it so many milliseconds later; a client that never does
   * notices by its pings.
   */
  cut(clientAfterMs: number | undefined, serverAfterMs: number, forget: (link: Link) => void): void {
    this.#up.cut();
    this.#down.cut();
    if (this.#serverKnows) {
      this.#world.after(serverAfterMs, () => {
        this.#serverKnows = false;
        forget(this);
      });
    }
    if (clientAfterMs !== undefined && this.#clientKnows) {
      this.#world.after(clientAfterMs, () => {
        if (!this.#clientKnows) return;
        this.#clientKnows = false;
        this.#client.broken();
      });
    }
  }

  /** The client leaves. The server hears of it after all that was sent before. */
  leave(): void {
    this.#clientKnows = false;
    this.#down.cut();
    this.#up.send({ is: 'end' });
  }

  /** The server has heard of the end. */
  ended(): void {
    this.#serverKnows = false;
    this.#up.cut();
  }
}
