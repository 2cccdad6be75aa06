import { z } from 'zod';

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
