import cors from '@fastify/cors';
import rateLimit from '@fastify/rate-limit';
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  fastify,
  LogController,
  type onRequestHookHandler,
} from 'fastify';
import type { Logger } from 'pino';
import { Refusal, Unavailable } from '../../streams/core/index.js';
import { callerAddress, isOnThisMachine, isSpokenFor } from '../auth/client-address.js';
import { readJsonBodies } from '../auth/json-bodies.js';
import { limitConnections } from './connections.js';
import { bodyLimit, refusalCode, refuseBrokenRequest, refuseExpectation, sendError } from './errors.js';
import { hostLines } from './host-lines.js';
import { pathOf, type Route, RouteMethods } from './route-methods.js';

/** A body that is compressed is refused: signatures are about the bytes as they come, and a small one may become large. */
const encoded = () =>
  new Refusal('unsupported_media_type', 'Send the body as it is, without a Content-Encoding', {
    hint: 'Send the body uncompressed, and leave the header Content-Encoding out',
  });

/** An answered request, as metrics see it. */
export interface AnsweredRequest {
  method: string;
  /** The route's pattern; `undefined` without a route. */
  route: string | undefined;
  status: number;
  seconds: number;
}

/** How the HTTP server behaves. */
export interface ServerOptions {
  logger: Logger;
  /** Requests per minute and client address; 0 lifts the limit. Callers on this machine are exempt. */
  rateLimit: number;
  /**
   * Connections that one client address may have open; 0, or none, lifts the limit. Callers on this machine are exempt, and so is
   * everybody where proxies are trusted: then connections are those of the proxies.
   */
  connectionsPerAddress?: number;
  /**
   * Proxies that are trusted to name the client: addresses and networks, or how many are in front; none by
   * default.
   */
  trustProxy?: number | string[];
  /**
   * How long a client may take to send its headers, and its whole request, 10 s and 15 s by default. How long
   * a stop waits for requests under way, 5 s by default.
   */
  timeouts?: { headersMs?: number; requestMs?: number; stopMs?: number };
  /**
   * Whether this is for other processes of the service alone, which nobody has to prove to be: no web page may ask. A page of a
   * stranger would have the browser of somebody inside do it.
   */
  inside?: boolean;
  /** Told of every answer. */
  observe?: (request: AnsweredRequest) => void;
}

const paymentHeaders = ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'];
const rateHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After'];

/** What web pages of any origin may ask, and read. */
const crossOrigin = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowedHeaders: [
    ...['Content-Type', 'Authorization', 'X-Api-Key', 'X-Mcp-Api-Key', 'PAYMENT-SIGNATURE', 'X-PAYMENT'],
    ...['Signature', 'Signature-Input', 'Content-Digest', 'Idempotency-Key', 'Last-Event-ID', 'X-EM-Api-Key'],
    ...['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'A2A-Version', 'If-None-Match'],
  ],
  // as one text: a list would be joined for each answer
  exposedHeaders: [
    ...paymentHeaders,
    ...rateHeaders,
    'WWW-Authenticate',
    'Accept-Signature',
    'ETag',
    'Link',
    'X-Ignored-Parameters',
  ].join(', '),
};

/**
 * An HTTP server with what every route has: limits, timeouts, error bodies, cross-origin reads, one log line
 * a request.
 */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { headersMs = 10_000, requestMs = 15_000, stopMs = 5_000 } = options.timeouts ?? {};
  const app = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    // one line a request names its id itself
    childLoggerFactory: (logger) => logger,
    bodyLimit,
    trustProxy: trustOf(options.trustProxy),
    requestTimeout: requestMs,
    http: {
      headersTimeout: headersMs,
      connectionsCheckingInterval: Math.min(2_000, headersMs),
      // a request without it is refused in our words, below
      requireHostHeader: false,
    },
    keepAliveTimeout: 30_000,
    forceCloseConnections: 'idle',
    // it would be refused in the framework's words
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 300 },
    clientErrorHandler: refuseBrokenRequest,
    frameworkErrors: (error, request, reply) =>
      sendError(error, request as unknown as FastifyRequest, reply as unknown as FastifyReply),
  }) as unknown as FastifyInstance;

  let isStopping = false;
  app.addHook('preClose', async () => {
    isStopping = true;
    const late = setTimeout(() => app.server.closeAllConnections(), stopMs);
    app.server.once('close', () => clearTimeout(late));
  });

  const { connectionsPerAddress: most = 0 } = options;
  if (most > 0 && !trustsAny(options.trustProxy))
    limitConnections(app.server, most, (address) => options.logger.warn({ address, most }, crowded));

  let isWarned = false;
  readJsonBodies(app);
  app.server.on('checkExpectation', refuseExpectation);
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    reply.header('x-content-type-options', 'nosniff');
    // an answer may depend on a key, and is of this moment; what may be kept says so itself
    reply.header('cache-control', 'no-store');
    if (isStopping) {
      reply.header('connection', 'close');
      return done(new Unavailable('stopping'));
    }
    if (options.inside && request.headers.origin !== undefined)
      return done(
        new Refusal('other_origin', 'No web page may ask here: this port is for the service alone'),
      );
    if (!isWarned && isSpokenFor(request) && !isBelieved(request)) {
      isWarned = true;
      options.logger.warn(disbelief);
    }
    const hosts = hostLines(raw);
    if (hosts > 1) return done(new Refusal('bad_request', 'A request has one Host header', severalHosts));
    if (hosts === 0 && raw.httpVersion === '1.1')
      return done(new Refusal('bad_request', 'A request of HTTP/1.1 has a Host header'));
    done();
  });
  app.addHook('preParsing', (request, _reply, _body, done) => {
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    const isRead = request.method !== 'GET' && request.method !== 'HEAD' && 'content-type' in request.headers;
    done(isRead && encoding.toLowerCase() !== 'identity' ? encoded() : null);
  });

  const methods = new RouteMethods(app);
  app.decorate('routeTable', { getter: () => methods.all });
  app.addHook('onRequest', (request, reply, done) => {
    const { url = '' } = request.routeOptions;
    const allowed = url.includes(':') ? methods.ofAddress(pathOf(request)) : undefined;
    // the router would take an address of its own for a parameter
    const isOther = allowed && request.method !== 'OPTIONS' && !allowed.includes(request.method);
    return isOther ? reply.callNotFound() : done();
  });
  // before the preflights of web pages are answered, which ask for one method
  app.addHook('onRequest', (request, reply, done) => {
    const { origin, 'access-control-request-method': wanted } = request.headers;
    if (request.method !== 'OPTIONS' || (origin && wanted)) return done();
    const allowed = methods.of(request);
    if (allowed.length === 0) return reply.callNotFound();
    return reply
      .code(204)
      .header('allow', [...allowed, 'OPTIONS'].join(', '))
      .send();
  });
  if (!options.inside) await app.register(cors, crossOrigin);
  let countRefused: FastifyInstance['countRefused'] = async () => {};
  if (options.rateLimit > 0) {
    await app.register(rateLimit, {
      global: false,
      max: options.rateLimit,
      timeWindow: 60_000,
      keyGenerator: callerAddress,
      allowList: (request) => isOnThisMachine(request),
      errorResponseBuilder: (_request, context) =>
        new Refusal('rate_limited', `Too many requests: at most ${context.max} a minute`),
    });
    const limit = app.rateLimit() as (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
    countRefused = async (request, reply) => {
      if (!isOnThisMachine(request)) await limit(request, reply);
    };
    // the limit would take several turns to find out that it does not apply
    const limitOthers: onRequestHookHandler = (request, reply, done) => {
      if (isOnThisMachine(request)) return done();
      limit(request, reply).then(() => done(), done);
    };
    app.addHook('onRoute', (route) => {
      if (route.config?.rateLimit === false) return;
      // first, so that requests which are refused for their key count too
      route.onRequest = [limitOthers, ...[route.onRequest ?? []].flat()];
    });
  }

  app.decorate('countRefused', countRefused);

  app.setNotFoundHandler((request, reply) => {
    const allowed = methods.of(request);
    if (allowed.length === 0) {
      const path = pathOf(request).slice(0, 200);
      const hint = 'GET / says what is here, and /skill.md how to use it';
      return sendError(new Refusal('not_found', `There is nothing at ${path}`, { hint }), request, reply);
    }
    reply.header('allow', allowed.join(', '));
    return sendError(
      new Refusal('method_not_allowed', `${request.method} is not possible here`),
      request,
      reply,
    );
  });
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(error, request, reply));
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const { statusCode: status, elapsedTime: ms } = reply;
    const route = request.routeOptions.url;
    const path = route ?? pathOf(request).slice(0, 200);
    const level = levelOf(path, status);
    if (options.logger.isLevelEnabled(level)) {
      const line = {
        method,
        path,
        status,
        code: refusalCode(reply),
        ms: Math.round(ms * 10) / 10,
        request_id: request.id,
      };
      options.logger[level](line, 'request');
    }
    options.observe?.({ method, route, status, seconds: ms / 1_000 });
    done();
  });
  return app;
}

const disbelief =
  'A proxy names the client of each request, and TRUST_PROXY does not name the proxy. So all its clients count as one. Set TRUST_PROXY to its address';

const crowded =
  'An address has as many connections open as it may have: more are cut off. A proxy is named in TRUST_PROXY; CONNECTIONS_PER_ADDRESS is the bound';

const severalHosts = { hint: 'Send Host once. A proxy that adds one must take away that of its client' };

/** Which of the addresses that a request came through are trusted, nearest first. */
function trustOf(proxies: ServerOptions['trustProxy'] = []): NonNullable<FastifyServerOptions['trustProxy']> {
  // the framework itself trusts nobody if only their number is known
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies;
  return proxies.length > 0 && proxies;
}

function trustsAny(proxies: ServerOptions['trustProxy'] = []): boolean {
  return typeof proxies === 'number' ? proxies > 0 : proxies.length > 0;
}

/** Whether a trusted proxy is in front: then the client's address is not that of the connection. */
function isBelieved({ ips }: FastifyRequest): boolean {
  return ips !== undefined && ips.length > 1;
}

/** Probes ask all the time. Trouble of somebody else is a warning, trouble of ours an error. */
function levelOf(path: string, status: number): 'debug' | 'info' | 'warn' | 'error' {
  if (status < 400 || path === '/ready') return 'debug';
  if (status < 500) return 'info';
  return status === 502 || status === 503 ? 'warn' : 'error';
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every registered route, except those that only refuse. */
    routeTable: readonly Route[];
    /** Counts a request to a route without a limit, which is refused. Throws 429 beyond the limit of others. */
    countRefused: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  }
  interface FastifyContextConfig {
    /** Whether the route only refuses its methods in its own form: they do not count as allowed. */
    refuses?: boolean;
  }
}
