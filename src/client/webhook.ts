import type { operations } from './api.js';

/** An event of the task marketplace as it is posted. */
export type MarketEvent = operations['receiveEvent']['requestBody']['content']['application/json'];
/** What became of a posted event. */
export type Received = operations['receiveEvent']['responses'][200 | 202]['content']['application/json'];

/** What became of a posted event. */
export type EventReceipt = operations['getEventReceipt']['responses'][200]['content']['application/json'];

interface SignatureHeaders {
  'X-EM-Signature': string;
  'X-EM-Timestamp': string;
}

/** The headers that make the text of an event genuine: sent with exactly this text, within five minutes. */
export async function signEvent(secret: string, body: string, now = new Date()): Promise<SignatureHeaders> {
  return { 'X-EM-Signature': await signatureOf(secret, body), 'X-EM-Timestamp': now.toISOString() };
}

/** The headers with which its producer asks what became of an event, within five minutes. */
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
