import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import type { CertificateCheck } from '../../streams/certificates/index.js';
import { within } from '../../streams/core/clock.js';
import { cleanText, cutToBytes } from '../../streams/irc-grammar.js';

/** A TLS endpoint; an IPv6 address has no brackets. */
export interface Endpoint {
  host: string;
  port: number;
}

/** Names in certificates can be anything: only this much of one is kept, in bytes. */
const nameBytes = 200;

/**
 * What a TLS endpoint shows to a client, by a handshake and nothing more. Never throws: an unreachable
 * endpoint is a result too.
 */
export async function probe(
  { host, port }: Endpoint,
  {
    timeoutMs,
    signal,
    ca,
    now,
  }: { timeoutMs: number; signal: AbortSignal; ca?: string | undefined; now: Date },
): Promise<CertificateCheck> {
  const about = { host, port, checked_at: now.toISOString() };
  try {
    const certificate = await handshake({ host, port }, { timeoutMs, signal, ca });
    return { ...about, certificate, error: null };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { ...about, certificate: null, error: signal.aborted ? 'ABORTED' : (code ?? message) };
  }
}

async function handshake(
  { host, port }: Endpoint,
  { timeoutMs, signal, ca }: { timeoutMs: number; signal: AbortSignal; ca: string | undefined },
): Promise<NonNullable<CertificateCheck['certificate']>> {
  const socket = connect({
    host,
    port,
    ...(isIP(host) ? {} : { servername: host }),
    ...(ca === undefined ? {} : { ca }),
    // untrusted certificates are reported too
    rejectUnauthorized: false,
  });
  const failure = (code: string) => Object.assign(new Error(code), { code });
  const closed = once(socket, 'close').then(() => Promise.reject(failure('ECONNRESET')));
  try {
    await within(Promise.race([once(socket, 'secureConnect'), closed]), timeoutMs, {
      failure: failure('ETIMEDOUT'),
      signal,
    });
    return seen(socket);
  } finally {
    closed.catch(() => undefined);
    socket.on('error', () => undefined); // what the other end says to our leaving
    socket.destroy();
  }
}

function seen(socket: TLSSocket): NonNullable<CertificateCheck['certificate']> {
  const certificate = socket.getPeerCertificate();
  const { authorized, authorizationError } = socket;
  return {
    issuer: nameOf(certificate.issuer),
    subject: nameOf(certificate.subject),
    valid_from: new Date(certificate.valid_from).toISOString(),
    valid_to: new Date(certificate.valid_to).toISOString(),
    // an error, or only its code
    distrust: authorized
      ? null
      : ((authorizationError as NodeJS.ErrnoException).code ?? String(authorizationError)),
  };
}

function nameOf(name: PeerCertificate['subject']): string {
  const [text = ''] = [name.CN ?? name.O ?? ''].flat();
  return cutToBytes(cleanText(text), nameBytes);
}
