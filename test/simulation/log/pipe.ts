import type { Planned, World } from '../world.js';

/** How long a message is on its way, in milliseconds. */
export interface Latency {
  least: number;
  most: number;
}

/**
 * One direction of a connection: what goes in comes out in the same order, after a while. What goes in at one moment
 * travels together, as it does in one write to a socket.
 */
export class Pipe<M> {
  readonly #world: World;
  readonly #latency: () => Latency;
  readonly #out: (message: M) => void;
  readonly #packets: { due: number; messages: M[] }[] = [];
  #writtenAt = -1;
  #lastDue = 0;
  #planned: Planned | undefined;
  #held = false;
  #isCut = false;

  constructor(world: World, latency: () => Latency, out: (message: M) => void) {
    this.#world = world;
    this.#latency = latency;
    this.#out = out;
  }

  send(message: M): void {
    if (this.#isCut) return;
    const { steps, now, random } = this.#world;
    const last = this.#packets.at(-1);
    if (last && this.#writtenAt === steps) {
      last.messages.push(message);
      return;
    }
    const { least, most } = this.#latency();
    this.#writtenAt = steps;
    this.#lastDue = Math.max(this.#lastDue, now + least + random.next() * (most - least));
    this.#packets.push({ due: this.#lastDue, messages: [message] });
    this.#plan();
  }

  /** Keeps what is in it until `release`: whoever is to read it does not. */
  hold(): void {
    this.#held = true;
    this.#callOff();
  }

  release(): void {
    this.#held = false;
    this.#plan();
  }

  /** Loses what is on its way, and all that is sent from now on. */
  cut(): void {
    this.#isCut = true;
    this.#packets.length = 0;
    this.#callOff();
  }

  #plan(): void {
    const [next] = this.#packets;
    if (this.#held || this.#planned || !next) return;
    this.#planned = this.#world.after(next.due - this.#world.now, () => {
      this.#planned = undefined;
      const packet = this.#packets.shift()!;
      for (const message of packet.messages) if (!this.#isCut) this.#out(message);
      this.#plan();
    });
  }

  #callOff(): void {
    if (this.#planned) this.#planned.cancelled = true;
    this.#planned = undefined;
  }
}
