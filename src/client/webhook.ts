import type { operations } from './api.js';

/** An event as a producer posts it: `event_id`, `event_type`, `source`, `payload`. */
export type MarketEvent = operations['receiveEvent']['requestBody']['content']['application/json'];
/** The answer to a posted event: its channels and its line, or what a dry run found. */
export type Received = operations['receiveEvent']['responses'][200 | 202]['content']['application/json'];

/** What became of a posted event: its status, and each of its channels. */
export type EventReceipt = operations['getEventReceipt']['responses'][200]['content']['application/json'];

/** The two headers of a signed request to the webhook. */
export interface SignatureHeaders {
  /** `sha256=` and the HMAC in hex. */
  'X-EM-Signature': string;
  /** When it was signed, as ISO 8601 in UTC. */
  'X-EM-Timestamp': string;
}

/** Signs the body of an event, for other HTTP clients. Send the headers with exactly this text, within five minutes. */
export async function signEvent(secret: string, body: string, now = new Date()): Promise<SignatureHeaders> {
  return { 'X-EM-Signature': await signatureOf(secret, body), 'X-EM-Timestamp': now.toISOString() };
}

/** Signs the question what became of an event, for other HTTP clients. Send the headers within five minutes. */
export async function signQuestion(
  secret: string,
  eventId: string,
  now = new Date(),
): Promise<SignatureHeaders> {
  const timestamp = now.toISOString();
  return {
    'X-EM-Signature': await signatureOf(secret, `${timestamp}.${eventId}`),
    'X-EM-Timestamp': timestamp,
  };
}

async function signatureOf(secret: string, text: string): Promise<string> {
  // the platform's own, so that this runs wherever fetch does
  const encoder = new TextEncoder();
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), hmac, false, ['sign']);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text)));
  return `sha256=${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
