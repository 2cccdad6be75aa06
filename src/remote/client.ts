import { Refusal, Unavailable } from '../../streams/core/index.js';
import { boundedFetch } from '../../workers/core/fetch.js';
import { bindingOf } from '../operations/core/binding.js';
import type { Caller } from '../operations/core/caller.js';
import type { AnyOperation, ServiceName } from '../operations/core/operation.js';

/** The headers in which a caller of an internal service says for whom it calls: the name, percent-encoded, and what he is. */
export const callerHeaders = { actor: 'x-relay-actor', is: 'x-relay-caller', cause: 'x-request-id' } as const;

/**
 * Asks an internal service that runs elsewhere for one of its operations. What it refuses is thrown as it said it; a
 * service that cannot be reached, or does not answer with JSON, is a 502 that names it.
 */
export function remoteService(
  name: ServiceName,
  { url, timeoutMs }: { url: string; timeoutMs: number },
): (operation: AnyOperation, input: unknown, caller: Caller) => Promise<unknown> {
  return async (operation, input, caller) => {
    const place = operation.remote!;
    const { target, request } = requestOf(operation, url, input as Record<string, unknown>, caller);
    let answer: { status: number; headers: Headers; body: unknown };
    try {
      const response = await boundedFetch(target, request, {
        timeoutMs: Math.max(timeoutMs, place.timeoutMs ?? 0),
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

/** What an internal service refused, to be passed on with its own body. */
export function refusalOf({
  status,
  headers,
  body,
}: {
  status: number;
  headers: Headers;
  body: unknown;
}): Error {
  const { error, code, hint, details } = (body ?? {}) as Record<string, unknown>;
  const retryAfter = Number(headers.get('retry-after') ?? 0);
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

function requestOf(operation: AnyOperation, base: string, input: Record<string, unknown>, caller: Caller) {
  const place = operation.remote!;
  const { query, body, headers } = bindingOf(operation.input, place);
  const path = place.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])));
  const target = new URL(base.replace(/\/$/, '') + path);
  for (const name of query) if (input[name] !== undefined) target.searchParams.set(name, String(input[name]));
  const given = (names: readonly string[]) =>
    Object.fromEntries(names.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]));
  return {
    target,
    request: {
      method: place.method.toUpperCase(),
      headers: {
        [callerHeaders.is]: caller.is,
        [callerHeaders.actor]: encodeURIComponent(caller.actor),
        ...(caller.cause === undefined ? {} : { [callerHeaders.cause]: caller.cause }),
        ...(body.length > 0 ? { 'content-type': 'application/json' } : {}),
        ...Object.fromEntries(
          Object.entries(headers).flatMap(([name, header]) =>
            input[name] === undefined ? [] : [[header, String(input[name])]],
          ),
        ),
      },
      ...(body.length > 0 ? { body: JSON.stringify(given(body)) } : {}),
    },
  };
}
