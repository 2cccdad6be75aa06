import type { FastifyRequest } from 'fastify';
import { componentsOf, isSignatureFault, noncePath, signaturePolicy } from './erc8128/policy.js';

/** Name of what credentials are asked for. */
const realm = 'svc';

/** What decides over the parts that a signature must cover. */
export interface RequestShape {
  hasQuery: boolean;
  hasBody: boolean;
}

/** The shape of a request, also of one whose body has not been read. */
export function shapeOf({ url, headers }: Pick<FastifyRequest, 'url' | 'headers'>): RequestShape {
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  return { hasQuery: /\?./.test(url), hasBody };
}

/**
 * Whether a request has the headers of a signature (`Signature` or `Signature-Input`). If so, the signature alone
 * decides who the caller is. A key in the same request is not tried.
 */
export function showsSignature({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers.signature !== undefined || headers['signature-input'] !== undefined;
}

/**
 * Headers for a request whose credential was refused, `WWW-Authenticate` first: the API key, which is all that common
 * clients can read, then the wallet's signature. After a signature they say what one must cover.
 */
export function challengeHeaders(
  reason: string,
  shape: RequestShape,
  resourceMetadata?: string,
): Record<string, string> {
  const missing = reason.endsWith('_missing') || reason.endsWith('_required');
  const bearer = [
    `realm="${realm}"`,
    `error="${missing ? 'invalid_request' : 'invalid_token'}"`,
    `error_description="${reason}"`,
    ...(resourceMetadata ? [`resource_metadata="${resourceMetadata}"`] : []),
  ];
  return {
    'www-authenticate': `Bearer ${bearer.join(', ')}, ERC8128 realm="${realm}", nonce_endpoint="${noncePath}"`,
    ...(isSignatureFault(reason) ? { 'accept-signature': acceptedSignature(shape) } : {}),
  };
}

/** Value of `Accept-Signature` (RFC 9421): the signature that a request like this one needs. */
function acceptedSignature(shape: RequestShape): string {
  const components = componentsOf(shape).map((name) => `"${name}"`);
  return `${signaturePolicy.label}=(${components.join(' ')});keyid;created;expires;nonce`;
}
