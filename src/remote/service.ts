import { Unavailable } from '../../streams/core/index.js';
import { boundedFetch } from '../../workers/core/fetch.js';

/** Where an operation of an internal service is found when the service runs elsewhere; `:name` in a path is a parameter. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** Headers that belong to what is asked and to what is answered, lower case. */
  headers?: readonly string[];
}

/** The header in which a caller of an internal service says for whom it calls. */
export const actorHeader = 'x-relay-actor';

/** What an operation is asked with: `body` for writes, `query` for reads; both plain JSON. */
export interface Input {
  /** The parameters of the path. */
  params?: Record<string, string>;
  /** Name of the key whose holder asks, for what is recorded. */
  actor?: string;
  query?: Record<string, string | number | undefined>;
  /** Those that the route names; lower case. */
  headers?: Record<string, string>;
  body?: unknown;
}

/** An operation's answer, as it goes over HTTP. */
export interface Reply {
  status: number;
  body: unknown;
  /** Seconds after which the answer may be another. */
  retryAfter?: number;
  /** Those that the route names; lower case. */
  headers?: Record<string, string>;
}

/** An internal service: its operations by name, each one the same in process and over HTTP. */
export type Service<Routes extends Record<string, Route>> = {
  [Name in keyof Routes]: (input?: Input) => Promise<Reply>;
};

/**
 * The service as its callers see it: itself when it runs in this process, else a client of its address.
 * Errors of the domain are thrown in process and are replies over HTTP; an unreachable service throws a 502
 * that names it.
 */
export function upstream<Routes extends Record<string, Route>>(
  name: string,
  routes: Routes,
  at: { service: Service<Routes> | undefined; url: string; timeoutMs: number },
): Service<Routes> {
  if (at.url === '' && at.service) return at.service;
  const operations = Object.entries(routes).map(([operation, route]) => [
    operation,
    (input: Input = {}) => callOverHttp(name, at.url, route, input, at.timeoutMs),
  ]);
  return Object.fromEntries(operations) as Service<Routes>;
}

async function callOverHttp(
  name: string,
  base: string,
  route: Route,
  input: Input,
  timeoutMs: number,
): Promise<Reply> {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(input.params?.[name] ?? ''),
  );
  const target = new URL(base.replace(/\/$/, '') + path);
  for (const [key, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) target.searchParams.set(key, String(value));
  }
  try {
    const request = {
      method: route.method,
      headers: {
        ...(input.actor === undefined ? {} : { [actorHeader]: encodeURIComponent(input.actor) }),
        ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...namedHeaders(route, (header) => input.headers?.[header]),
      },
      ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    };
    const response = await boundedFetch(target, request, { timeoutMs });
    const headers = namedHeaders(route, (header) => response.headers.get(header));
    const reply: Reply = { status: response.status, body: await response.json() };
    if (Object.keys(headers).length > 0) reply.headers = headers;
    const retryAfter = Number(response.headers.get('retry-after') ?? 0);
    return retryAfter > 0 ? { ...reply, retryAfter } : reply;
  } catch (error) {
    if ((error as Error).name === 'SyntaxError') {
      throw new Unavailable('upstream_invalid', `The ${name} service did not answer with JSON`);
    }
    throw new Unavailable('upstream_unreachable', `The ${name} service is unreachable`);
  }
}

/** The headers that a route names, as far as they are there. */
export function namedHeaders(
  { headers = [] }: Route,
  get: (header: string) => string | string[] | null | undefined,
): Record<string, string> {
  return Object.fromEntries(
    headers.flatMap((header) => {
      const value = get(header);
      return typeof value === 'string' ? [[header, value] as const] : [];
    }),
  );
}
