import { EventEmitter } from 'node:events';
import type { Random } from '../random.js';
import type { Planned, World } from '../world.js';

/** How long what is sent is on its way, in milliseconds. */
export interface Latency {
  least: number;
  most: number;
}

/** One direction of a connection: bytes arrive late, in order, and cut at odd places. */
export class Pipe {
  #free = 0;
  #frozen = false;
  #held: (() => void)[] = [];
  #onTheirWay: Planned[] = [];
  #ended = false;

  constructor(
    private readonly world: World,
    private readonly random: Random,
    private readonly latency: Latency,
    private readonly arrive: (bytes: Buffer) => void,
  ) {}

  send(bytes: Buffer): void {
    if (this.#ended) return;
    const { random } = this;
    let from = 0;
    while (bytes.length - from > 1 && random.chance(0.15)) {
      const to = random.int(from + 1, bytes.length - 1);
      this.#plan(bytes.subarray(from, to));
      from = to;
    }
    this.#plan(bytes.subarray(from));
  }

  /** Nothing more is sent. The end arrives after all that is on its way. */
  end(arrived: () => void): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#later(arrived);
  }

  /** Loses what is on its way, all of it or from some point on. */
  lose(all = true): void {
    const waiting = this.#onTheirWay.filter((planned) => !planned.cancelled);
    const kept = all ? 0 : this.random.int(0, waiting.length);
    for (const planned of waiting.slice(kept)) planned.cancelled = true;
    this.#onTheirWay = waiting.slice(0, kept);
    if (all) this.#held = [];
  }

  freeze(): void {
    this.#frozen = true;
  }

  thaw(): void {
    this.#frozen = false;
    for (const step of this.#held.splice(0)) step();
  }

  #plan(bytes: Buffer): void {
    this.#later(() => this.arrive(bytes));
  }

  #later(step: () => void): void {
    const { least, most } = this.latency;
    const at = Math.max(this.#free, this.world.now + least + (most - least) * this.random.next());
    this.#free = at;
    const planned = this.world.after(at - this.world.now, () => {
      this.#onTheirWay.shift();
      if (this.#frozen) this.#held.push(step);
      else step();
    });
    this.#onTheirWay.push(planned);
  }
}

/** What a client's socket is connected with. */
export interface Peer {
  receive(bytes: Buffer): void;
  /** The client's end of the connection is closed: `reset` when it was not closed in order. */
  ended(reset: boolean): void;
}

/** The client's end of a simulated connection, with as much of `net.Socket` as a transport uses. */
export class SimulatedSocket extends EventEmitter {
  writableEnded = false;
  destroyed = false;
  #up: Pipe | undefined;
  #peer: Peer | undefined;

  /** The connection is made: bytes go to the peer through this pipe. */
  connected(up: Pipe, peer: Peer): void {
    if (this.destroyed) {
      peer.ended(true);
      return;
    }
    this.#up = up;
    this.#peer = peer;
    this.emit('connect');
  }

  write(data: string | Buffer): boolean {
    if (!this.destroyed && !this.writableEnded)
      this.#up?.send(typeof data === 'string' ? Buffer.from(data) : data);
    return true;
  }

  end(): this {
    if (this.writableEnded) return this;
    this.writableEnded = true;
    const peer = this.#peer;
    if (!this.destroyed) this.#up?.end(() => peer?.ended(false));
    return this;
  }

  resetAndDestroy(): this {
    return this.destroy();
  }

  destroy(error?: Error): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    const peer = this.#peer;
    this.#up?.lose(false);
    this.#up?.end(() => peer?.ended(true));
    this.#close(error);
    return this;
  }

  /** Bytes have come. */
  arrived(bytes: Buffer): void {
    if (!this.destroyed) this.emit('data', bytes);
  }

  /** The connection is gone, by the network's or the server's doing. */
  gone(code?: string): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#close(code ? Object.assign(new Error(`${code}: the connection is gone`), { code }) : undefined);
  }

  #close(error: Error | undefined): void {
    process.nextTick(() => {
      if (error) this.emit('error', error);
      this.emit('close', error !== undefined);
    });
  }
}
