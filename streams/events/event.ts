import { createHash } from 'node:crypto';
import { z } from 'zod';

/** The body of an event: a JSON object whose known fields are read with care, whatever their type. */
export type MarketPayload = Record<string, unknown>;

const maxDepth = 64;

// A deeper value parses, but cannot be written as JSON again, and the log has to write it. This check does
// not recurse either.
function isShallow(payload: MarketPayload): boolean {
  let level: object[] = [payload];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= maxDepth) return false;
    const next: object[] = [];
    for (const node of level) {
      for (const child of Object.values(node)) {
        if (typeof child === 'object' && child !== null) next.push(child);
      }
    }
    level = next;
  }
  return true;
}

/**
 * What is not printable up to U+FFFF, control and format characters and the ends of lines, and half of a pair. It is
 * spelt so that readers of the API's description know the pattern, whose regular expressions have no `\\p`.
 */
const unprintable =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ud800-\\udfff\\ufeff\\ufff9-\\ufffb';
const printableText = new RegExp(
  `^(?=.*\\S)(?:[^${unprintable}]|[\\ud800-\\udbff][\\udc00-\\udfff]){1,200}$`,
);

function printable(field: string) {
  const error = `${field} must be 1 to 200 printable characters, not all of them blank`;
  return z
    .string(`${field} must be a string`)
    .regex(printableText, { error, abort: true })
    .refine((text) => !/\p{Cf}/u.test(text), error);
}

/**
 * The webhook body. Unknown keys next to the four are dropped; unknown keys of the payload are kept. A
 * payload is nested at most 64 levels deep. Ids are compared exactly as sent.
 */
export const MarketEvent = z.object({
  // `.` and `..` cannot be part of an address: nobody could ask for such an event
  event_id: printable('event_id').regex(/^(?!\.{1,2}$)/, 'event_id must not be . or ..'),
  event_type: z
    .string('event_type must be a string')
    .regex(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,99}$/, 'event_type must be 1 to 100 of A-Z a-z 0-9 _ . : / -'),
  source: printable('source'),
  payload: z
    .record(z.string(), z.unknown(), 'payload must be a JSON object')
    .refine(isShallow, `payload must not be nested more than ${maxDepth} levels deep`),
});

/** An event of the task marketplace as it was sent, checked against `MarketEvent`. */
export type MarketEvent = z.output<typeof MarketEvent>;

/**
 * Other names that producers use for fields of the payload. Where several are present, the first one counts.
 */
export const payloadAliases = {
  id: ['task_id'],
  bounty_usdc: ['bounty_usd', 'amount_usd'],
  network: ['payment_network', 'chain'],
} as const;
const aliases = Object.entries(payloadAliases);

/**
 * The payload under the contract's names, whatever names the producer uses. Without a network, it is `base`.
 */
export function normalisePayload(payload: MarketPayload): MarketPayload {
  const normal: MarketPayload = { ...payload };
  for (const [field, others] of aliases) {
    for (const other of others) normal[field] ??= payload[other];
  }
  normal.network ??= 'base';
  return normal;
}

/**
 * The NATS subject token of an event id. A plain id is its own token. Any other becomes `~` and the base64url
 * SHA-256 of its UTF-8. No two valid ids share a token, since a plain id never begins with `~`.
 */
export function eventToken(eventId: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(eventId)) return eventId;
  return `~${createHash('sha256').update(eventId).digest('base64url')}`;
}
