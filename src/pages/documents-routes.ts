import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DiscoveryDocument } from './discovery/documents.js';

/** The documents that describe the service, for agents that look for a way in. */
export async function discoveryRoutes(
  app: FastifyInstance,
  { documents }: { documents: readonly DiscoveryDocument[] },
): Promise<void> {
  for (const { paths, type, text, headers = {} } of documents) {
    const document = documentOf({ type, text });
    for (const path of paths) {
      app.get(path, async (request, reply) => sendDocument(request, reply.headers(headers), document));
    }
  }
}

/** A document as it is sent. */
export interface Document {
  type: string;
  bytes: Buffer;
  etag: string;
}

/** Makes what is sent again and again, once. */
export function documentOf({ type, text }: { type: string; text: string | Buffer }): Document {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
  return { type, bytes: typeof text === 'string' ? Buffer.from(text) : text, etag };
}

/** Sends a document that seldom changes, or only says that the caller has it. */
export function sendDocument(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { type, bytes, etag }: Document,
): FastifyReply {
  reply.headers({ etag, 'cache-control': 'public, max-age=3600' });
  const known = (headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  if (known.includes(etag) || known.includes('*')) return reply.code(304).send();
  // a text would get a charset after its type, which JSON does not have
  return reply.header('content-type', type).send(bytes);
}
