import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { isExpected, type Log, type Position, Refusal } from '../../../streams/core/index.js';
import { audit, auditSubject } from '../../../streams/marketplace/index.js';
import type { Marketplace, MarketplaceAnswer, MarketplaceRequest } from './upstream.js';

/** A call that changes something at the marketplace, and its caller. */
export interface MarketplaceCall extends MarketplaceRequest {
  method: 'POST' | 'DELETE';
  /** Name of the key whose holder asks. */
  actor: string;
  /** Path here, without the query. */
  publicPath: string;
  /** The task that it is about, if that can be told. */
  taskId: string | null;
}

const notKnown =
  'It is not known whether it was done: look at the task before you repeat it, and send an Idempotency-Key';

/**
 * Makes calls that change something at the marketplace, with a record of each. A call is recorded before it
 * is made, so that none can be made without a record, and again when it has ended, whatever the result.
 */
export class MarketplaceCalls {
  readonly #log: Log;
  readonly #marketplace: Marketplace;
  readonly #logger: Logger;
  /** Up to where this process has recorded calls: a caller who lists them wants to see their own. */
  recorded: Position | undefined;

  constructor(parts: { log: Log; marketplace: Marketplace; logger: Logger }) {
    this.#log = parts.log;
    this.#marketplace = parts.marketplace;
    this.#logger = parts.logger;
  }

  /**
   * Makes the call, once. Throws 503 `log_unavailable` if it cannot be recorded: then it is not made.
   * Otherwise throws a 502 with the marketplace's code.
   */
  async make(call: MarketplaceCall): Promise<MarketplaceAnswer> {
    const { actor, publicPath, taskId, requestId, method, body } = call;
    const origin = { by: actor, cause: requestId };
    const started = await this.#log.append(
      audit,
      auditSubject,
      {
        type: 'call.started',
        data: {
          actor,
          method,
          path: publicPath,
          task_id: taskId,
          request_id: requestId,
          body_sha256: createHash('sha256')
            .update(body ?? '')
            .digest('hex'),
        },
      },
      origin,
    );
    const before = performance.now();
    const end = async (status: number, error: string | null) => {
      const ms = Math.round((performance.now() - before) * 10) / 10;
      const fact = { type: 'call.ended' as const, data: { call: started.seq, status, ms, error } };
      try {
        this.recorded = await this.#log.append(audit, auditSubject, fact, origin);
      } catch (cause) {
        // it was made: the caller's answer must not hide what the marketplace said
        this.#logger.error({ call: started.seq, status, err: cause }, 'end of an audited call not recorded');
      }
    };
    try {
      const answer = await this.#marketplace.ask(call);
      await end(answer.status, null);
      return answer;
    } catch (error) {
      if (!isExpected(error)) throw error;
      await end(error.status, error.code);
      // no Retry-After: a client that repeats by itself might pay twice
      throw new Refusal({ code: error.code, status: error.status }, error.message, { hint: notKnown });
    }
  }
}
