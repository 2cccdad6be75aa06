import { createHmac } from 'node:crypto';
import { clock, timeout } from '../../streams/core/clock.js';
import { AddressRefused } from './public-fetch.js';

/** Where bodies are posted, and what signs them. */
export interface Receiver {
  url: string;
  secret: string;
  /** Longest wait for an answer, in milliseconds; 10,000 by default. */
  timeoutMs?: number;
  /** Sends the request, within that time; `fetch` by default. */
  send?: (url: string, request: RequestInit, timeoutMs: number) => Promise<Response>;
}

/** What came of one try: taken, refused for good, or to be tried again, at once or not before `afterMs`. */
export type Posted =
  | { is: 'taken' }
  | { is: 'refused'; reason: string }
  | { is: 'failed'; reason: string; afterMs: number };

/**
 * Statuses by which a receiver says that it will never take this body. Others, such as 401 or 404, tell of a receiver
 * that is not set up right, and somebody may do that within the day.
 */
const forGood = new Set([400, 405, 409, 410, 413, 415, 422]);
const longestWaitMs = 3_600_000;

/** Posts JSON once. It is signed; a redirect is not followed, because nobody signed for that address. */
export async function postSigned(
  { url, secret, timeoutMs = 10_000, send = usualSend }: Receiver,
  body: string,
): Promise<Posted> {
  try {
    const request: RequestInit = {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'x-relay-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        'x-relay-timestamp': new Date(clock.now()).toISOString(),
      },
      body,
    };
    const response = await send(url, request, timeoutMs);
    await response.body?.cancel();
    if (response.ok) return { is: 'taken' };
    const reason = `answered ${response.status}`;
    if (forGood.has(response.status)) return { is: 'refused', reason };
    return { is: 'failed', reason, afterMs: waitOf(response.headers.get('retry-after')) };
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    if (cause instanceof AddressRefused) return { is: 'failed', reason: cause.message, afterMs: 0 };
    return { is: 'failed', reason: cause?.code ?? message, afterMs: 0 };
  }
}

const usualSend: NonNullable<Receiver['send']> = (url, request, timeoutMs) =>
  fetch(url, { ...request, signal: timeout(timeoutMs) });

function waitOf(retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, longestWaitMs) : 0;
}
