import { Mutex } from 'async-mutex';
import { parse } from 'secure-json-parse';
import { z } from 'zod';
import { Refusal } from '../../streams/core/index.js';
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
}

/** Requests of one client that wait at most. */
const mostWaiting = 20;

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

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** Takes the text of a frame; `undefined` for bytes. */
  take(text: string | undefined): void {
    let frame: unknown;
    try {
      frame = parse(text ?? '', null, { protoAction: 'error', constructorAction: 'error' });
    } catch {
      void this.#refuse(null, new Refusal('parse_error', 'A frame is one JSON object, as text'));
      return;
    }
    if (this.#waiting >= mostWaiting) {
      void this.#refuse(rpcIdOf(frame), new Refusal('rate_limited', `${mostWaiting} requests wait already`));
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
    try {
      const { id, method, params } = parseInput(Request, frame, 'invalid_request');
      await send({ jsonrpc: '2.0', id, result: await ask(method, params, await callerOf()) });
    } catch (error) {
      await this.#refuse(rpcIdOf(frame), error);
    }
  }

  async #refuse(id: string | number | null, error: unknown): Promise<void> {
    const says = rpcAnswer(error)?.error ?? { code: -32603, message: 'Something went wrong on our side' };
    await this.#options.send({ jsonrpc: '2.0', id, error: says });
  }
}
