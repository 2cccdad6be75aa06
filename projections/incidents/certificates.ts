import {
  type alertTiers,
  type CertificateFact,
  daysUntil,
  expiryStatus,
} from '../../streams/certificates/index.js';
import type { Recorded } from '../../streams/core/index.js';
import { type RowOf, Rows } from '../core/rows.js';
import type { Tx } from '../core/sql.js';

/** The certificate of an endpoint; times are ISO 8601. */
export interface CertificateView {
  host: string;
  port: number;
  issuer: string | null;
  subject: string | null;
  valid_from: string | null;
  valid_to: string | null;
  days_until_expiry: number | null;
  /** The label of the alert tier that the expiry has reached; `unchecked` before the first look. */
  status: 'ok' | 'unchecked' | 'unreachable' | (typeof alertTiers)[number]['label'];
  /** Whether the certificate is one that clients of the endpoint accept; null when it was not seen. */
  trusted: boolean | null;
  /** Why it is not trusted, or was not seen. */
  error: string | null;
  /** When that was last recorded: when it was news, or the first look of the day. */
  last_check_at: string | null;
}

/** What was found at an endpoint as it is stored. */
export const certificateRows = new Rows({
  host: 'text collate "C"',
  port: 'integer',
  issuer: 'text',
  subject: 'text',
  valid_from: 'timestamptz',
  valid_to: 'timestamptz',
  distrust: 'text',
  error: 'text',
  checked_at: 'timestamptz not null',
});

/** Folds what was found at endpoints; what an endpoint last showed stays known while it cannot be reached. */
export async function foldCertificates(
  tx: Tx,
  facts: Recorded<CertificateFact>[],
  schema: string,
): Promise<void> {
  for (const { data } of facts) {
    const { host, port, certificate, error, checked_at } = data;
    await tx.query(
      `insert into ${schema}.certificates as c values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (host, port) do update set error = excluded.error, checked_at = excluded.checked_at,
         issuer = case when excluded.error is null then excluded.issuer else c.issuer end,
         subject = case when excluded.error is null then excluded.subject else c.subject end,
         valid_from = case when excluded.error is null then excluded.valid_from else c.valid_from end,
         valid_to = case when excluded.error is null then excluded.valid_to else c.valid_to end,
         distrust = case when excluded.error is null then excluded.distrust else c.distrust end`,
      [
        ...[host.toLowerCase(), port, certificate?.issuer ?? null, certificate?.subject ?? null],
        ...[certificate?.valid_from ?? null, certificate?.valid_to ?? null],
        ...[certificate?.distrust ?? null, error, checked_at],
      ],
    );
  }
}

/** The certificates of these endpoints at `now`, in their order. */
export async function certificateViews(
  sql: Tx,
  schema: string,
  places: readonly { host: string; port: number }[],
  now: Date,
): Promise<CertificateView[]> {
  const rows = await sql.query<RowOf<typeof certificateRows>>(
    `select * from ${schema}.certificates where host = any($1::text[])`,
    [places.map(({ host }) => host.toLowerCase())],
  );
  return places.map(({ host, port }) => {
    const row = rows.find((row) => row.host === host.toLowerCase() && row.port === port);
    return certificateView({ host, port }, row, now);
  });
}

function certificateView(
  place: { host: string; port: number },
  row: RowOf<typeof certificateRows> | undefined,
  now: Date,
): CertificateView {
  const { valid_from = null, valid_to = null, error = null, distrust = null } = row ?? {};
  const expiry = valid_to ? expiryStatus(valid_to, now) : 'unchecked';
  return {
    ...place,
    issuer: row?.issuer ?? null,
    subject: row?.subject ?? null,
    valid_from: valid_from?.toISOString() ?? null,
    valid_to: valid_to?.toISOString() ?? null,
    days_until_expiry: valid_to && daysUntil(valid_to, now),
    // a certificate that has run out is the worse news
    status: error !== null && expiry !== 'EXPIRED' ? 'unreachable' : expiry,
    trusted: valid_to ? distrust === null : null,
    error: error ?? distrust,
    last_check_at: row?.checked_at.toISOString() ?? null,
  };
}
