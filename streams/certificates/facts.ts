import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';

/** The certificates that TLS endpoints of the network show. */
export const certificates = defineStream({
  name: 'CERTIFICATES',
  description: 'The certificates that TLS endpoints of the network show.',
  subjects: ['certificates.>'],
  share: 0.1,
  facts: {
    /** An endpoint was looked at; told when that changed, and once a day. */
    'certificate.checked': z.object({
      host: z.string(),
      port: z.int(),
      /** ISO 8601. */
      checked_at: z.string(),
      /** What it showed; null when it showed none. */
      certificate: z
        .object({
          issuer: z.string(),
          subject: z.string(),
          /** ISO 8601, and so is `valid_to`. */
          valid_from: z.string(),
          valid_to: z.string(),
          /** Why it is not trusted; null when it is. */
          distrust: z.string().nullable(),
        })
        .nullable(),
      /** Why it showed none; null when it did. */
      error: z.string().nullable(),
    }),
  },
});

export type CertificateFact = FactOf<typeof certificates>;
/** What was found at an endpoint. */
export type CertificateCheck = CertificateFact['data'];

/** Subject of an endpoint: what changed there depends on what was seen there before. */
export function certificateSubject({ host, port }: { host: string; port: number }): string {
  return `certificates.${Buffer.from(host.toLowerCase()).toString('base64url')}.${port}`;
}
