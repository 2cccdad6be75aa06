import type { operations } from './api.js';

/** An event of the task marketplace as it is posted. */
export type MarketEvent = operations['receiveEvent']['requestBody']['content']['application/json'];
/** What became of a posted event. */
export type Received = operations['receiveEvent']['responses'][200 | 202]['content']['application/json'];

/** The headers that make the text of an event genuine: sent with exactly this text, within five minutes. */
export async function signEvent(
  secret: string,
  body: string,
  now = new Date(),
): Promise<{ 'X-EM-Signature': string; 'X-EM-Timestamp': string }> {
  // the platform's own, so that this runs wherever fetch does
  const encoder = new TextEncoder();
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), hmac, false, ['sign']);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(body)));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { 'X-EM-Signature': `sha256=${hex}`, 'X-EM-Timestamp': now.toISOString() };
}
