import type { z } from 'zod';
import { Refusal, Unavailable } from '../../streams/core/index.js';
import { boundedFetch } from '../../workers/core/fetch.js';
import { bindingOf, schemaAt } from '../operations/core/binding.js';
import type { Call } from '../operations/core/call.js';
import type { AgentCaller, Caller } from '../operations/core/caller.js';
import type { AnyOperation, Place, ServiceName } from '../operations/core/operation.js';

/**
 * The headers in which a caller of an internal service names its own caller: the actor's name,
 * percent-encoded, and its kind. For an agent key, all that is known of it, as JSON, percent-encoded.
 */
export const callerHeaders = {
  actor: 'x-relay-actor',
  is: 'x-relay-caller',
  agent: 'x-relay-agent',
  cause: 'x-request-id',
  address: 'x-relay-address',
} as const;

/**
 * How long a change may take at least, in milliseconds: its fact is tried for four seconds, and some ask somebody
 * else before. A caller that gives up earlier would be told of a failure although it was done.
 */
const changeMs = 12_000;

/**
 * Asks an internal service that runs elsewhere for one of its operations. Its refusals are thrown unchanged.
 * A service that cannot be reached, or does not answer with JSON, is a 502 that names it. `timeoutMs` is how long a
 * read may take.
 */
export function remoteService(
  name: ServiceName,
  { url, timeoutMs }: { url: string; timeoutMs: number },
): (operation: AnyOperation, input: unknown, caller: Caller) => Promise<unknown> {
  return async (operation, input, caller) => {
    const place = operation.remote!;
    const { path, ...asked } = requestOf(operation.input, place, input as Record<string, unknown>);
    const request = { ...asked, headers: { ...asked.headers, ...headersOf(caller) } };
    let answer: { status: number; headers: Headers; body: unknown };
    try {
      const response = await boundedFetch(url.replace(/\/$/, '') + path, request, {
        timeoutMs: Math.max(timeoutMs, place.timeoutMs ?? (place.method === 'get' ? 0 : changeMs)),
      });
      answer = { status: response.status, headers: response.headers, body: await response.json() };
    } catch (error) {
      if ((error as Error).name === 'SyntaxError')
        throw new Unavailable('upstream_invalid', `The ${name} service did not answer with JSON`);
      throw new Unavailable('upstream_unreachable', `The ${name} service is unreachable`);
    }
    const output = place.read?.(answer);
    if (output !== undefined) return output;
    if (answer.status >= 400) throw refusalOf(answer);
    return answer.body;
  };
}

/** Calls operations by their public routes, with the sender's rights. Outputs have their public form. */
export function publicCall(
  send: (request: ReturnType<typeof requestOf>) => Promise<{ status: number; body: unknown }>,
): Call {
  const call = async ({ input: schema, http }: AnyOperation, input: unknown): Promise<unknown> => {
    const answer = await send(requestOf(schema, http!, input as Record<string, unknown>));
    if (answer.status >= 400) throw refusalOf(answer);
    return answer.body;
  };
  return call as Call;
}

/** A service's refusal, to be passed on with its own body. */
export function refusalOf({
  status,
  headers,
  body,
}: {
  status: number;
  headers?: Headers;
  body: unknown;
}): Error {
  const { error, code, hint, details } = (body ?? {}) as Record<string, unknown>;
  const retryAfter = Number(headers?.get('retry-after') ?? 0);
  const extra = {
    ...(typeof hint === 'string' ? { hint } : {}),
    ...(Array.isArray(details) ? { details } : {}),
    ...(retryAfter > 0 ? { retryAfter } : {}),
  };
  const refusal = new Refusal(
    { code: typeof code === 'string' ? code : 'upstream_failed', status },
    typeof error === 'string' ? error : `HTTP ${status}`,
    extra,
  );
  return Object.assign(refusal, { body });
}

/** The request to a place; its path includes the query. */
function requestOf(schema: z.ZodObject, place: Place, input: Record<string, unknown>) {
  const { query, body, headers } = bindingOf(schema, place);
  const path = place.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])));
  const given = (names: readonly string[]) => names.filter((name) => input[name] !== undefined);
  // what it would be anyway is left out: a service of another kind may know the path without the parameter
  const isDefault = (name: string) => schemaAt(schema, name).safeParse(undefined).data === input[name];
  const asked = given(query).filter((name) => !isDefault(name));
  const search = new URLSearchParams(Object.fromEntries(asked.map((name) => [name, String(input[name])])));
  return {
    method: place.method.toUpperCase() as Uppercase<Place['method']>,
    path: search.size > 0 ? `${path}?${search}` : path,
    headers: {
      ...(body.length > 0 ? { 'content-type': 'application/json' } : {}),
      ...Object.fromEntries(given(Object.keys(headers)).map((name) => [headers[name]!, String(input[name])])),
    },
    ...(body.length > 0
      ? { body: JSON.stringify(Object.fromEntries(given(body).map((name) => [name, input[name]]))) }
      : {}),
  };
}

function headersOf(caller: Caller): Record<string, string> {
  const { is, actor, cause, address } = caller;
  return {
    [callerHeaders.is]: is,
    [callerHeaders.actor]: encodeURIComponent(actor),
    ...(caller.is === 'agent' ? { [callerHeaders.agent]: agentHeader(caller) } : {}),
    ...(cause === undefined ? {} : { [callerHeaders.cause]: cause }),
    ...(address === undefined ? {} : { [callerHeaders.address]: address }),
  };
}

const agentHeader = ({ key, nick, wallet, scopes }: AgentCaller): string =>
  encodeURIComponent(JSON.stringify({ key, nick, wallet, scopes }));
