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

/**
 * Checks the signature, then the timestamp. Any of the secrets may have signed, so that a secret can be
 * replaced while both are in use. `undefined` means that the request is genuine and fresh.
 */
export function verifyWebhook(request: SignedRequest, options: VerifyOptions): SignatureFault | undefined {
  return faultOf(request, options, (scheme, secret, signature) =>
    isSignedWith(scheme, secret, signature, request),
  );
}

/**
 * The same for a request without a body, which is about one event: signed is `<timestamp>.<event_id>`, so that what was
 * seen once opens nothing later and nothing else. `sha256=` stands before the digits where the scheme is `body`.
 */
export function verifyQuestion(
  request: { about: string } & Omit<SignedRequest, 'raw'>,
  options: VerifyOptions,
): SignatureFault | undefined {
  const { about, timestamp = '' } = request;
  return faultOf(request, options, (scheme, secret, signature) => {
    const hex = createHmac('sha256', secret).update(`${timestamp}.${about}`).digest('hex');
    return equal(signature, scheme === 'body' ? `sha256=${hex}` : hex);
  });
}

function faultOf(
  { signature, timestamp }: Omit<SignedRequest, 'raw'>,
  { secrets, schemes, now }: VerifyOptions,
  isSigned: (scheme: SignatureScheme, secret: string, signature: string) => boolean,
): SignatureFault | undefined {
  if (!signature) return 'signature_missing';
  const scheme = schemes.find((candidate) =>
    secrets.some((secret) => isSigned(candidate, secret, signature)),
  );
  if (!scheme) return 'signature_invalid';
  if (!timestamp) return 'timestamp_missing';
  const sent = scheme === 'body' ? parseIso(timestamp) : parseUnixSeconds(timestamp);
  if (sent === undefined) return lacksZone(timestamp) ? 'timestamp_zone_missing' : 'timestamp_invalid';
  return Math.abs(now.getTime() - sent) <= toleranceMs ? undefined : 'timestamp_stale';
}

/** The signature header of a body under the `body` scheme. */
export function signBody(secret: string, raw: Buffer | string): string {
  return `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`;
}

function isSignedWith(
  scheme: SignatureScheme,
  secret: string,
  signature: string,
  request: SignedRequest,
): boolean {
  if (scheme === 'timestamped') {
    const hmac = createHmac('sha256', secret)
      .update(`${request.timestamp ?? ''}.`)
      .update(request.raw);
    return equal(signature, hmac.digest('hex'));
  }
  if (equal(signature, signBody(secret, request.raw))) return true;
  const serialised = reserialise(request.raw);
  return serialised !== undefined && equal(signature, signBody(secret, serialised));
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
