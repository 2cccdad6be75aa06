import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal, Unavailable } from '../../streams/core/index.js';

/** The places of one event stream in this process: a number in total, and a number for one address. */
export class StreamPlaces {
  readonly #most: number;
  readonly #ofOneReader: number;
  readonly #taken = new Map<string, number>();
  #count = 0;

  constructor(most: number, ofOneReader: number) {
    this.#most = most;
    this.#ofOneReader = ofOneReader;
  }

  /** Places that are taken now. */
  get count(): number {
    return this.#count;
  }

  /**
   * Takes a place for an address. Without an address only the total counts. Returns a function that frees it,
   * once. Throws 503 `too_many_viewers`, 429 `too_many_streams`.
   */
  take(address: string | undefined): () => void {
    if (this.#count >= this.#most) throw new Unavailable('too_many_viewers');
    const own = address === undefined ? 0 : (this.#taken.get(address) ?? 0);
    if (own >= this.#ofOneReader) throw new Refusal('too_many_streams');
    this.#count += 1;
    if (address !== undefined) this.#taken.set(address, own + 1);
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      this.#count -= 1;
      if (address !== undefined) this.#give(address);
    };
  }

  #give(address: string): void {
    const left = this.#taken.get(address)! - 1;
    if (left > 0) this.#taken.set(address, left);
    else this.#taken.delete(address);
  }
}

const watched = new WeakMap<Socket, Set<() => void>>();

/**
 * Tells once that nobody waits for an answer any more: it was given, or the connection is gone. The
 * connection itself is watched too: a pipelined answer that waits for another is never told of its end. Tells
 * at once if all is over already.
 */
export function whenGone(
  { raw: request }: FastifyRequest,
  { raw: response }: FastifyReply,
  tell: () => void,
) {
  const { socket } = request;
  if (socket.destroyed || response.destroyed) return tell();
  let leaving = watched.get(socket);
  if (!leaving) {
    const all = new Set<() => void>();
    leaving = all;
    watched.set(socket, all);
    socket.once('close', () => {
      for (const leave of [...all]) leave();
    });
  }
  const leave = () => {
    leaving.delete(leave);
    response.off('close', leave);
    tell();
  };
  leaving.add(leave);
  response.once('close', leave);
}
