import type { WireParam } from '../../../projections/core/sql.js';
import { type Latency, Pipe } from '../log/pipe.js';
import type { World } from '../world.js';

/** A request of a client to the store; those of a connection come one after the other. */
export interface StoreRequest {
  text: string;
  params: readonly WireParam[] | undefined;
}

/**
 * The result of a request: the rows and the command it turned out to be, or an error as the driver throws it.
 */
export type StoreReply = { rows: Record<string, unknown>[]; command: string } | { error: Error };

/** A connection as the server holds it. */
export interface ServerEnd {
  request(request: StoreRequest): void;
  /** The client is gone. */
  gone(): void;
}

/** A connection as its client holds it. */
export interface StoreClientEnd {
  reply(reply: StoreReply): void;
  /** It broke; told once. */
  broken(error: Error): void;
}

/** An error with a code, as a driver or the system throws it. */
export function errorOf(message: string, code?: string): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

/** One connection between a client and the store. */
export class StoreLink {
  readonly #up: Pipe<StoreRequest | 'end'>;
  readonly #down: Pipe<StoreReply>;
  readonly #world: World;
  readonly #client: StoreClientEnd;
  #isClientTold = false;
  #isServerTold = false;
  readonly #server: ServerEnd;

  constructor(world: World, latency: () => Latency, client: StoreClientEnd, server: ServerEnd) {
    this.#world = world;
    this.#client = client;
    this.#server = server;
    this.#up = new Pipe(world, latency, (request) =>
      request === 'end' ? this.#left() : server.request(request),
    );
    this.#down = new Pipe(world, latency, (reply) => client.reply(reply));
  }

  ask(request: StoreRequest): void {
    this.#up.send(request);
  }

  answer(reply: StoreReply): void {
    this.#down.send(reply);
  }

  hold(): void {
    this.#up.hold();
  }

  release(): void {
    this.#up.release();
  }

  /** The client leaves. The server hears of it after all that was asked before. */
  leave(): void {
    this.#isClientTold = true;
    this.#down.cut();
    this.#up.send('end');
  }

  /** Loses what is on its way. Each end hears of it so many milliseconds later. */
  cut(error: Error, clientAfterMs = 0, serverAfterMs = 0): void {
    this.#up.cut();
    this.#down.cut();
    this.#world.after(serverAfterMs, () => this.#left());
    this.#world.after(clientAfterMs, () => {
      if (this.#isClientTold) return;
      this.#isClientTold = true;
      this.#client.broken(error);
    });
  }

  #left(): void {
    if (this.#isServerTold) return;
    this.#isServerTold = true;
    this.#up.cut();
    this.#server.gone();
  }
}
