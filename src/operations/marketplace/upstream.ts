import { Pool } from 'undici';
import { z } from 'zod';
import { Exchange, type MarketplaceAnswer } from './exchange.js';

/** One pool for all callers: more would only queue inside the marketplace. */
const connections = 64;

/** Headers of a caller that the marketplace gets. Everything else, above all credentials, stays here. */
export const requestHeaders = ['content-type', 'idempotency-key', 'accept-language'];

/** Header in which a caller sends their own credential of the marketplace. */
export const ownKeyHeader = 'x-em-api-key';

/** A caller's own credential, in a form that is safe in a header; nothing else is passed on. */
export const OwnKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,512}$/, 'must be a key of 1 to 512 visible ASCII characters');

/** What is asked of the marketplace. */
export interface MarketplaceRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** The path after `/api/v1`, with its query, percent-encoded. */
  path: string;
  /** The caller's, of `requestHeaders`. */
  headers: Record<string, string>;
  /** The bytes of the body, as they came. */
  body?: Uint8Array | undefined;
  /** The caller's own credential, which is sent in place of ours. It is kept out of every record. */
  ownKey?: string | undefined;
  requestId: string;
}

/**
 * The task marketplace at `EM_URL`. Nothing is asked twice: only the caller can decide to repeat a change.
 * Throws `Unavailable` (502) with the codes `marketplace_unreachable`, `marketplace_timeout` and
 * `marketplace_invalid`. After the first two a change may still have been made.
 */
export class Marketplace {
  readonly #pool: Pool;
  readonly #prefix: string;
  readonly #timeoutMs: number;
  /** That every request has. */
  readonly #headers: Record<string, string>;

  constructor(options: { url: string; apiKey: string; timeoutMs: number }) {
    const { origin, pathname } = new URL(options.url);
    this.#prefix = `${pathname.replace(/\/$/, '')}/api/v1`;
    this.#timeoutMs = options.timeoutMs;
    this.#headers = {
      accept: 'application/json',
      'user-agent': 'relay-network',
      ...(options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {}),
    };
    this.#pool = new Pool(origin, {
      connections,
      // a pipelined request would also wait for the answer before it
      pipelining: 1,
      connect: { timeout: options.timeoutMs },
      keepAliveTimeout: 10_000,
    });
  }

  async ask({
    method,
    path,
    headers,
    body,
    ownKey,
    requestId,
  }: MarketplaceRequest): Promise<MarketplaceAnswer> {
    return await new Promise((resolve, reject) => {
      const exchange = new Exchange(this.#timeoutMs, resolve, reject);
      const own = ownKey === undefined ? {} : { authorization: `Bearer ${ownKey}` };
      const sent = { ...headers, ...this.#headers, ...own, 'x-request-id': requestId };
      try {
        this.#pool.dispatch(
          { method, path: this.#prefix + path, headers: sent, body: body ?? null },
          exchange,
        );
      } catch (error) {
        exchange.onError(error as Error);
      }
    });
  }

  /** Closes its connections; requests under way fail. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

export type { MarketplaceAnswer } from './exchange.js';
