import { createHmac, timingSafeEqual } from 'node:crypto';
import { lacksZone } from '../words/times.js';

/** How a producer may sign: `body` over the JSON body, `timestamped` over `<timestamp>.<raw body>`. */
export type SignatureScheme = 'body' | 'timestamped';

/** A webhook request as far as its signature is concerned. */
export interface SignedRequest {
  raw: Buffer;
  signature: string | undefined;
  timestamp: string | undefined;
}

/** Why a webhook is rejected; each one is a 401 of the catalogue. */
export type SignatureFault =
  | 'signature_missing'
  | 'signature_invalid'
  | 'timestamp_missing'
  | 'timestamp_invalid'
  | 'timestamp_zone_missing'
  | 'timestamp_stale';

/** What requests are checked with. */
interface VerifyOptions {
  secrets: string[];
  schemes: SignatureScheme[];
  now: Date;
}

/** How far a webhook's timestamp may be from our clock, in milliseconds, either way. */
const toleranceMs = 300_000;
const iso8601 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/;

/** A genuine request with the secret that signed it, or what is wrong with the request, and how it has to be signed if that is clear. */
export type Verified =
  | { secret: string; fault?: undefined }
  | { secret?: undefined; fault: SignatureFault; scheme?: SignatureScheme | undefined };

/** Whether a secret signed a request, in the ways of each scheme, the usual one first. */
type Ways = Record<SignatureScheme, ((secret: string) => boolean)[]>;

/**
 * Checks the signature, then the timestamp. Any of the secrets may have signed, so that a secret can be
 * replaced while both are in use.
 */
export function verifyWebhook(request: SignedRequest, options: VerifyOptions): Verified {
  const { raw, signature = '', timestamp = '' } = request;
  let serialised: string | undefined | null = null;
  return verified(request, options, {
    body: [
      (secret) => equal(signature, signBody(secret, raw)),
      (secret) => {
        // once for all secrets
        if (serialised === null) serialised = reserialise(raw);
        return serialised !== undefined && equal(signature, signBody(secret, serialised));
      },
    ],
    timestamped: [(secret) => equal(signature, signTimestamped(secret, timestamp, raw))],
  });
}

/**
 * The same for a request without a body, which is about one event: signed is `<timestamp>.<event_id>`, so that what was
 * seen once opens nothing later and nothing else. `sha256=` comes before the digits where the scheme is `body`.
 */
export function verifyQuestion(
  request: { about: string } & Omit<SignedRequest, 'raw'>,
  options: VerifyOptions,
): Verified {
  const { about, signature = '', timestamp = '' } = request;
  const hexOf = (secret: string) => signTimestamped(secret, timestamp, about);
  return verified(request, options, {
    body: [(secret) => equal(signature, `sha256=${hexOf(secret)}`)],
    timestamped: [(secret) => equal(signature, hexOf(secret))],
  });
}

function verified(
  { signature, timestamp }: Omit<SignedRequest, 'raw'>,
  { secrets, schemes, now }: VerifyOptions,
  ways: Ways,
): Verified {
  const scheme = schemes.length === 1 ? schemes[0] : undefined;
  if (!signature) return { fault: 'signature_missing', scheme };
  for (const scheme of schemes) {
    for (const isSigned of ways[scheme]) {
      const secret = secrets.find(isSigned);
      if (secret === undefined) continue;
      const fault = faultOfTime(scheme, timestamp, now);
      return fault ? { fault, scheme } : { secret };
    }
  }
  return { fault: 'signature_invalid', scheme };
}

function faultOfTime(
  scheme: SignatureScheme,
  timestamp: string | undefined,
  now: Date,
): SignatureFault | undefined {
  if (!timestamp) return 'timestamp_missing';
  const sent = scheme === 'body' ? parseIso(timestamp) : parseUnixSeconds(timestamp);
  if (sent === undefined)
    return scheme === 'body' && lacksZone(timestamp) ? 'timestamp_zone_missing' : 'timestamp_invalid';
  return Math.abs(now.getTime() - sent) <= toleranceMs ? undefined : 'timestamp_stale';
}

/** The headers of a signed body, as a service takes it that has these schemes. */
export function signedHeaders(
  secret: string,
  raw: Buffer | string,
  { schemes, now }: Pick<VerifyOptions, 'schemes' | 'now'>,
): Record<'x-em-signature' | 'x-em-timestamp', string> {
  if (schemes.includes('body'))
    return { 'x-em-signature': signBody(secret, raw), 'x-em-timestamp': now.toISOString() };
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  return { 'x-em-signature': signTimestamped(secret, timestamp, raw), 'x-em-timestamp': timestamp };
}

function signTimestamped(secret: string, timestamp: string, raw: Buffer | string): string {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(raw).digest('hex');
}

/** The signature header of a body under the `body` scheme. */
export function signBody(secret: string, raw: Buffer | string): string {
  return `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`;
}

/** Some producers sign what their JSON library writes and send it with other white space. */
function reserialise(raw: Buffer): string | undefined {
  try {
    const text = raw.toString('utf8');
    const serialised = JSON.stringify(JSON.parse(text));
    return serialised === text ? undefined : serialised;
  } catch {
    return undefined;
  }
}

function equal(given: string, expected: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}

function parseIso(text: string): number | undefined {
  if (!iso8601.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

function parseUnixSeconds(text: string): number | undefined {
  return /^\d{9,11}$/.test(text) ? Number(text) * 1_000 : undefined;
}
