import type { Transformer } from 'node:stream/web';
import { clock } from '../../streams/core/clock.js';

/** Sends a request: `fetch`, or a wrapper around it. */
export type Send = (request: Request) => Promise<Response>;

/** What an answer over HTTP may cost at most. */
export interface Bounds {
  /** Of headers and body together, in milliseconds. Without it only the signal of the request ends it. */
  timeoutMs?: number | undefined;
  /** Of the body, in bytes. Without it there is no bound. */
  maxBytes?: number | undefined;
  /** What sends the request; the global `fetch` by default. */
  send?: Send | undefined;
}

/** The body of an answer is larger than its reader accepts. */
export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge';

  constructor(
    /** The HTTP status of the answer. */
    readonly status: number,
    maxBytes: number,
  ) {
    super(`the body is larger than ${maxBytes} bytes`);
  }
}

/**
 * `fetch`, with a time and a signal that bound the whole answer. Plain `fetch` may wait for ever. The runtime
 * holds the signal of a `Request`, and a timeout within `AbortSignal.any`, only weakly, so they can be
 * collected while the answer is read.
 *
 * Throws like `fetch`. It throws a `TimeoutError` when the answer is late, and the signal's reason when that
 * aborts. Reading the body throws the same, and `BodyTooLarge`. Each of these closes the connection, and so
 * does cancelling the body.
 */
export async function boundedFetch(
  input: string | URL | Request,
  init: RequestInit = {},
  { timeoutMs, maxBytes = Number.POSITIVE_INFINITY, send = globalThis.fetch }: Bounds = {},
): Promise<Response> {
  const { request, signal, ended, over } = begin(input, init, timeoutMs);
  const answering = (async () => await send(request))();
  try {
    const response = await Promise.race([answering, ended]);
    if (!response.body) {
      over();
      return response;
    }
    const { readable, writable } = new TransformStream(boundedTo(maxBytes, response.status));
    const bounded = new Response(readable, response);
    Object.defineProperty(bounded, 'url', { value: response.url });
    void response.body.pipeTo(writable, { signal }).then(over, over);
    return bounded;
  } catch (error) {
    over();
    // an answer that still comes is dropped
    answering.then(({ body }) => body?.cancel()).catch(() => undefined);
    throw error;
  }
}

/**
 * What must not be collected while its answer lasts: a collected request does not pass on that it was
 * aborted.
 */
const underWay = new Set<object>();

/**
 * A request with the one signal that ends it. The signal aborts on timeout or with the caller's signal, until
 * the request is over.
 */
function begin(
  input: string | URL | Request,
  init: RequestInit,
  timeoutMs: number | undefined,
): { request: Request; signal: AbortSignal; ended: Promise<never>; over: () => void } {
  const end = new AbortController();
  const { signal } = end;
  const callers = init.signal ?? (input instanceof Request ? input.signal : undefined);
  const request = new Request(input, { ...init, signal });
  const { ended, forget } = endOf(signal);
  const leave = () => end.abort(callers?.reason);
  const timer = timeoutMs === undefined ? undefined : clock.setTimeout(() => end.abort(late()), timeoutMs);
  const held = { input, request, callers };
  underWay.add(held);
  callers?.addEventListener('abort', leave);
  if (callers?.aborted) leave();
  const over = () => {
    clock.clearTimeout(timer);
    callers?.removeEventListener('abort', leave);
    forget();
    underWay.delete(held);
  };
  return { request, signal, ended, over };
}

/**
 * `ended` rejects with the signal's reason when it aborts, until `forget`. The runtime keeps the listeners of a request's
 * signal until the request is collected. One in `begin` would hold the request, and so would the errors that it is answered with.
 */
function endOf(signal: AbortSignal): { ended: Promise<never>; forget: () => void } {
  let forget = () => {};
  const ended = new Promise<never>((_, reject) => {
    const end = () => reject(signal.reason);
    signal.addEventListener('abort', end);
    forget = () => signal.removeEventListener('abort', end);
  });
  ended.catch(() => undefined);
  return { ended, forget };
}

/** The error of `AbortSignal.timeout`. */
function late(): DOMException {
  return new DOMException('The operation was aborted due to timeout', 'TimeoutError');
}

function boundedTo(maxBytes: number, status: number): Transformer<Uint8Array, Uint8Array> {
  let bytes = 0;
  return {
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new BodyTooLarge(status, maxBytes);
      controller.enqueue(chunk);
    },
  };
}
