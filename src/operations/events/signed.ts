import { z } from 'zod';
import type { RefusalCode } from '../../../streams/refusals.js';

/** The timestamp of signed requests, as it is described. */
export const timestampHeader = {
  schema: z.string(),
  example: '2026-01-31T12:00:00Z',
  says: 'When it was sent, ISO 8601 with its zone; at most five minutes from our clock',
  required: true,
};

/** What a signed request is refused with, its wrong signature apart. */
export const signatureRefusals = {
  signature_missing: true,
  timestamp_missing: true,
  timestamp_invalid: true,
  timestamp_zone_missing: true,
  timestamp_stale: true,
  webhook_secret_not_configured: true,
} as const;

const unixSeconds = 'Send the seconds since 1970, such as 1769860800';
/** What a refused request is told otherwise where the timestamp is signed with the body. */
export const ofTimestamped: { [name in RefusalCode]?: { says?: string; hint: string } } = {
  signature_missing: {
    hint: 'Sign the timestamp, a point and the body: /producers.md has a command that does',
  },
  event_signature_invalid: {
    says: 'X-EM-Signature does not match the timestamp and the body',
    hint: 'Check three things. The HMAC-SHA256 is over X-EM-Timestamp, a point and the bytes of the body, as they are sent. Its key is the secret that you share with the operator. The header has the hexadecimal digits alone, in lower case. /producers.md has a command that signs',
  },
  timestamp_missing: { hint: unixSeconds },
  timestamp_invalid: { says: 'X-EM-Timestamp is not a time in Unix seconds', hint: unixSeconds },
};
