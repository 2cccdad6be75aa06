import type { Dispatcher } from 'undici';
import { Unavailable } from '../../../streams/core/index.js';
import type { RefusalCode } from '../../../streams/refusals.js';

/** Largest answer that is passed on, in bytes. */
const answerLimit = 8 * 1024 * 1024;

/** Headers of an answer that the caller gets. */
const passedOn = new Set([
  ...['content-type', 'retry-after', 'etag', 'last-modified', 'cache-control', 'idempotency-key'],
  ...['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
]);
const isJson = /^application\/([\w.-]+\+)?json\b/i;

/** The marketplace's answer; `body` is JSON text, or empty without a body. */
export interface MarketplaceAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/**
 * One request and its whole answer, as the connection reports them: a stream for each answer would cost more
 * than all other work on it. Ends once, with the answer or with `Unavailable`, at the latest after
 * `timeoutMs`.
 */
export class Exchange implements Dispatcher.DispatchHandlers {
  readonly #resolve: (answer: MarketplaceAnswer) => void;
  readonly #reject: (error: Unavailable) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #abort: (() => void) | undefined;
  #isOver = false;
  #status = 0;
  #headers: Record<string, string> = {};
  #size = 0;

  constructor(
    timeoutMs: number,
    resolve: (answer: MarketplaceAnswer) => void,
    reject: (error: Unavailable) => void,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => {
      this.#fail(unavailable('marketplace_timeout'));
    }, timeoutMs);
  }

  /** There is a connection for it. A request that has waited too long for one is not sent any more. */
  onConnect(abort: () => void): void {
    this.#abort = abort;
    if (this.#isOver) abort();
  }

  onHeaders(status: number, raw: Buffer[]): boolean {
    if (status < 200) return true; // an answer is to follow
    this.#status = status;
    for (let n = 0; n + 1 < raw.length; n += 2) {
      const name = raw[n]!.toString('latin1').toLowerCase();
      if (!passedOn.has(name)) continue;
      const value = raw[n + 1]!.toString('latin1');
      const before = this.#headers[name];
      this.#headers[name] = before === undefined ? value : `${before}, ${value}`;
    }
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size > answerLimit) this.#fail(invalid('answered with more than is passed on'));
    else this.#chunks.push(chunk);
    return true;
  }

  onComplete(): void {
    if (this.#isOver) return;
    const [first] = this.#chunks;
    const body = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#size);
    const wrong = this.#size > 0 && wrongWith(this.#headers['content-type'], body);
    if (wrong) this.#fail(invalid(wrong));
    else {
      this.#end();
      const { 'cache-control': kept } = this.#headers;
      if (kept !== undefined) this.#headers['cache-control'] = keptPrivately(kept);
      this.#resolve({ status: this.#status, headers: this.#headers, body });
    }
  }

  onError(error: Error): void {
    this.#fail(unavailable('marketplace_unreachable', undefined, error));
  }

  #fail(error: Unavailable): void {
    if (this.#isOver) return;
    this.#end();
    this.#reject(error);
    this.#abort?.();
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}

/**
 * How long an answer may be kept, by its asker alone. It was given to the operator's credential, or the caller's own, and
 * caches on the way to the caller know neither.
 */
function keptPrivately(cacheControl: string): string {
  const others = cacheControl.split(',').map((part) => part.trim());
  const kept = others.filter((part) => !/^(public|private|s-maxage=.*|)$/i.test(part));
  return ['private', ...kept].join(', ');
}

function wrongWith(contentType: string | undefined, body: Buffer): string | undefined {
  if (!isJson.test(contentType ?? '')) return 'did not answer with JSON';
  try {
    JSON.parse(body.toString());
    return undefined;
  } catch {
    return 'answered with broken JSON';
  }
}

function invalid(what: string): Unavailable {
  return unavailable('marketplace_invalid', `The task marketplace ${what}`);
}

function unavailable(code: RefusalCode, message?: string, cause?: unknown): Unavailable {
  const error = new Unavailable(code, message);
  if (cause !== undefined) error.cause = cause;
  return error;
}
