import type { FastifyInstance } from 'fastify';
import type { Input, Reply } from '../remote/service.js';
import type { Caller } from './tool.js';

/** One call of this service's own public API. */
export interface GatewayRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with its parameters encoded: `path` makes one. */
  path: string;
  query?: Input['query'];
  body?: unknown;
}

/** Calls the public API in the name of a tool's caller: with his rights, and on record as his. */
export type Gateway = (caller: Caller, request: GatewayRequest) => Promise<Reply>;

/** A path of the public API; its parameters become one segment each. */
export function path(parts: TemplateStringsArray, ...parameters: (string | number)[]): string {
  return parts.reduce((text, part, index) => text + encodeURIComponent(parameters[index - 1]!) + part);
}

/** The public API of a server in this process, without a socket in between. */
export function gatewayOf(server: FastifyInstance): Gateway {
  return async ({ key }, { method = 'GET', path, query = {}, body }) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const answer = await server.inject({
      method,
      url: path,
      query: Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
      headers: {
        host: 'localhost',
        ...(key === undefined ? {} : { 'x-api-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, body: answer.payload === '' ? null : JSON.parse(answer.payload) };
  };
}
