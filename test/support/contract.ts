import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { Contract, type Violation } from '../contract/contract.js';

let contract: Contract | undefined;

/** Told of each answer that the description of the API does not know; a test fails by default. */
export let report = (violation: Violation): void => {
  const { exchange, reason } = violation;
  const { method, url, route, status, body } = exchange;
  const message = `${method} ${url} (${route}) answered ${status}, which openapi.json does not have: ${reason}\n${body?.slice(0, 500)}`;
  // not into the request, which would answer it
  setImmediate(() => {
    throw new Error(message);
  });
};

/** Hands violations to somebody else, from every server that is made from now on. */
export function reportTo(other: typeof report): void {
  report = other;
  watch();
}

function holdToContract(server: FastifyInstance): void {
  server.addHook('onSend', async (request, reply, payload) => {
    // nobody gets an answer whose reader is gone
    if (request.raw.socket.destroyed) return payload;
    contract ??= new Contract();
    const exchange = {
      method: request.method,
      url: request.url.slice(0, 300),
      route: request.routeOptions.url?.replace(/:(\w+)/g, '{$1}'),
      status: reply.statusCode,
      contentType: reply.getHeader('content-type')?.toString(),
      body: textOf(payload),
    };
    const reason = contract.reasonAgainst(exchange);
    if (reason) report({ exchange, reason });
    return payload;
  });
}

function textOf(payload: unknown): string | undefined {
  if (payload === undefined || payload === null) return '';
  if (typeof payload === 'string') return payload;
  return Buffer.isBuffer(payload) ? payload.toString() : undefined;
}

const watched = (message: unknown) => holdToContract((message as { fastify: FastifyInstance }).fastify);

/** From now on every server of this process is held to the description. */
function watch(): void {
  unsubscribe('fastify.initialization', watched);
  subscribe('fastify.initialization', watched);
}

// benchmarks use the same stage, and must not be slowed
if (process.env.TAP) watch();
