import cors from '@fastify/cors';
import rateLimit from '@fastify/rate-limit';
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { isExpected, Refusal } from '../../streams/core/index.js';
import { isLoopback } from '../auth/api-keys.js';

/** Largest request body, in bytes. */
export const bodyLimit = 256 * 1024;

/** How the HTTP server behaves. */
export interface ServerOptions {
  logger: Logger;
  /** Requests per minute and client address; 0 lifts the limit. Callers on this machine are exempt. */
  rateLimit: number;
  /** How long a client may take to send its headers, and its whole request; 10 s and 15 s by default. */
  timeouts?: { headersMs: number; requestMs: number };
}

const paymentHeaders = ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'];
const rateHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After'];

/** An HTTP server with the manners of every route: limits, time-outs, error bodies, cross-origin reads, one log line a request. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { headersMs, requestMs } = options.timeouts ?? { headersMs: 10_000, requestMs: 15_000 };
  const app = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    requestTimeout: requestMs,
    http: { headersTimeout: headersMs, connectionsCheckingInterval: Math.min(2_000, headersMs) },
    keepAliveTimeout: 30_000,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 300 },
    clientErrorHandler: refuseBrokenRequest,
  }) as unknown as FastifyInstance;

  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: [
      ...['Content-Type', 'Authorization', 'X-Api-Key', 'X-Mcp-Api-Key', 'PAYMENT-SIGNATURE', 'X-PAYMENT'],
      ...['Signature', 'Signature-Input', 'Content-Digest', 'Idempotency-Key', 'Last-Event-ID'],
    ],
    exposedHeaders: [...paymentHeaders, ...rateHeaders, 'WWW-Authenticate', 'Accept-Signature'],
  });
  if (options.rateLimit > 0) {
    await app.register(rateLimit, {
      max: options.rateLimit,
      timeWindow: 60_000,
      allowList: (request) => isLoopback(request.ip),
      errorResponseBuilder: (_request, context) =>
        new Refusal('rate_limited', 429, `Too many requests: at most ${context.max} a minute`),
    });
  }

  const patterns: { method: string; pattern: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) patterns.push({ method: one, pattern: pathPattern(url) });
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0]!;
    const allowed = new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method));
    if (allowed.size === 0) {
      return reply.code(404).send({ error: `There is nothing at ${path.slice(0, 200)}`, code: 'not_found' });
    }
    return reply
      .code(405)
      .header('allow', [...allowed].join(', '))
      .send({ error: `${request.method} is not possible here`, code: 'method_not_allowed' });
  });
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(error, request, reply));
  app.addHook('onResponse', async (request, reply) => {
    const line = {
      method: request.method,
      path: request.routeOptions.url ?? request.url.split('?')[0]!.slice(0, 200),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      request_id: request.id,
    };
    options.logger[levelOf(line.path, line.status)](line, 'request');
  });
  return app;
}

/** Probes ask all the time; what is somebody else's trouble is a warning, what is ours an error. */
function levelOf(path: string, status: number): 'debug' | 'info' | 'warn' | 'error' {
  if (status < 400 || path === '/ready') return 'debug';
  if (status < 500) return 'info';
  return status === 502 || status === 503 ? 'warn' : 'error';
}

const fastifyCodes: Record<string, { status: number; code: string; message: string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    status: 413,
    code: 'payload_too_large',
    message: `The body may have ${bodyLimit} bytes at most`,
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    status: 415,
    code: 'unsupported_media_type',
    message: 'Send the body as application/json',
  },
};

function sendError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (isExpected(error)) {
    if (error.kind === 'unavailable') reply.header('retry-after', String(error.retryAfter));
    if (error.status === 401 && !reply.hasHeader('www-authenticate'))
      reply.header('www-authenticate', 'Bearer');
    const extra = error.kind === 'refusal' ? error.extra : {};
    return reply.code(error.status).send({ error: error.message, code: error.code, ...extra });
  }
  const known = fastifyCodes[error.code];
  if (known) return reply.code(known.status).send({ error: known.message, code: known.code });
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return reply.code(error.statusCode).send({ error: error.message, code: 'bad_request' });
  }
  request.log.error({ err: error, request_id: request.id }, 'request failed');
  return reply.code(500).send({
    error: 'Something went wrong on our side',
    code: 'internal_error',
    request_id: request.id,
  });
}

/** Bytes that are no HTTP request, or one that took too long: answered in the shape of every other error. */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: import('node:net').Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const large = error.code === 'HPE_HEADER_OVERFLOW';
  const status = late
    ? '408 Request Timeout'
    : large
      ? '431 Request Header Fields Too Large'
      : '400 Bad Request';
  const body = JSON.stringify({
    error: late ? 'The request took too long to arrive' : 'This is not a readable HTTP request',
    code: late ? 'request_timeout' : large ? 'headers_too_large' : 'bad_request',
  });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function pathPattern(url: string): RegExp {
  const escaped = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+');
  return new RegExp(`^${escaped === '\\*' ? '$^' : escaped}/?$`);
}
