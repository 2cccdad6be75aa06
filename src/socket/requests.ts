import { Mutex } from 'async-mutex';
import { parse } from 'secure-json-parse';
import { z } from 'zod';
import { clock } from '../../streams/core/clock.js';
import { Refusal } from '../../streams/core/index.js';
import { refusals } from '../../streams/refusals.js';
import { rpcAnswer, rpcIdOf } from '../http/json-rpc.js';
import { parseInput } from '../operations/core/call.js';
import type { Caller } from '../operations/core/caller.js';

/** Does what a method says, for a caller. Throws `method_not_found` for one that there is not. */
export type Ask = (method: string, params: Record<string, unknown>, caller: Caller) => Promise<unknown>;

/** What the requests of one socket work with. */
export interface RequestsOptions {
  ask: Ask;
  /** Who asks; looked up for each request. It counts the request, and throws 401 once the key is not good any more. */
  callerOf(): Promise<Caller>;
  send(frame: object): Promise<void>;
  /** Ends the socket of a client that asks much and can be answered nothing. */
  giveUp(reason: string): void;
}

/** Requests of one client that wait at most. */
const mostWaiting = 20;
/** Refusals in a minute that count as asking too much, after which a client is let go. */
const mostRefusals = 100;
const minuteMs = 60_000;

const Request = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(100), z.number()]),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
});

/** The requests of one socket: done in their order, one at a time, and answered under their ids. */
export class Requests {
  readonly #options: RequestsOptions;
  readonly #turn = new Mutex();
  #waiting = 0;
  /** Frames of this minute that were refused for nothing but being there. */
  #refusals = 0;
  #minute = clock.elapsed();
  #isOver = false;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** Takes the text of a frame; `undefined` for bytes. */
  take(text: string | undefined): void {
    if (this.#isOver) return;
    let frame: unknown;
    try {
      frame = parse(text ?? '', null, { protoAction: 'error', constructorAction: 'error' });
    } catch {
      void this.#turnDown(null, new Refusal('parse_error', 'A frame is one JSON object, as text'));
      return;
    }
    if (this.#waiting >= mostWaiting) {
      void this.#turnDown(
        rpcIdOf(frame),
        new Refusal('rate_limited', `${mostWaiting} requests wait already`),
      );
      return;
    }
    this.#waiting += 1;
    void this.#turn
      .runExclusive(() => this.#answer(frame))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  async #answer(frame: unknown): Promise<void> {
    const { ask, callerOf, send } = this.#options;
    if (this.#isOver) return;
    try {
      const caller = await callerOf();
      const { id, method, params } = parseInput(Request, frame, 'invalid_request');
      await send({ jsonrpc: '2.0', id, result: await ask(method, params, caller) });
    } catch (error) {
      const isTooMany = error instanceof Refusal && error.code === 'rate_limited';
      await (isTooMany ? this.#turnDown(rpcIdOf(frame), error) : this.#refuse(rpcIdOf(frame), error));
    }
  }

  /** Refuses a frame that cost its sender nothing. Whoever sends many of those is let go. */
  async #turnDown(id: string | number | null, refusal: Refusal): Promise<void> {
    if (clock.elapsed() - this.#minute > minuteMs) {
      this.#minute = clock.elapsed();
      this.#refusals = 0;
    }
    this.#refusals += 1;
    const isLast = this.#refusals === mostRefusals;
    if (isLast) this.#isOver = true;
    await this.#refuse(id, refusal);
    if (isLast) this.#options.giveUp(`${mostRefusals} frames refused in a minute`);
  }

  async #refuse(id: string | number | null, error: unknown): Promise<void> {
    const says = rpcAnswer(error)?.error ?? { code: -32603, message: refusals.internal_error.says };
    await this.#options.send({ jsonrpc: '2.0', id, error: says });
  }
}
