import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { collect, senderOf } from '../http/operations.js';
import { bindingOf } from '../operations/core/binding.js';
import { type Call, inputOf, nobody } from '../operations/core/call.js';
import { type Caller, scopes } from '../operations/core/caller.js';
import type { AnyOperation } from '../operations/core/operation.js';
import { callerHeaders } from './client.js';

/**
 * Serves the operations of internal services over HTTP, each service under `/<name>`, for callers in other processes:
 * their address for it is `http://<host>:<port>/<name>`. There is no authentication, so these ports are for the inside
 * only.
 */
export function serveRemotely(app: FastifyInstance, operations: readonly AnyOperation[], call: Call): void {
  for (const operation of operations) {
    const place = operation.remote;
    if (!place) continue;
    const binding = bindingOf(operation.input, place);
    // spelled as the operation does, not as the public route
    const { view: _, ...face } = operation.http ?? {};
    const send = senderOf(operation, place.view ? { ...face, view: place.view } : face);
    app.route({
      method: place.method,
      url: `/${place.service}${place.path.replace(/\{(\w+)\}/g, ':$1')}`,
      handler: async (request, reply) => {
        const input = inputOf(operation, collect(binding, request, operation.invalid));
        return send(reply, await call(operation, input, callerOf(request)));
      },
    });
  }
}

type Simple = Exclude<Caller['is'], 'agent'>;
const kinds: readonly string[] = ['key', 'local', 'wallet', 'none'] satisfies Simple[];
const Agent = z.object({
  key: z.string(),
  nick: z.string(),
  wallet: z.string().nullable(),
  scopes: z.array(z.enum(scopes)),
});

function callerOf({ headers }: FastifyRequest): Caller {
  const { [callerHeaders.is]: is, [callerHeaders.actor]: actor, [callerHeaders.cause]: cause } = headers;
  const address = headers[callerHeaders.address];
  const named = {
    actor: typeof actor === 'string' ? decodeURIComponent(actor) : nobody.actor,
    ...(typeof cause === 'string' ? { cause } : {}),
    ...(typeof address === 'string' ? { address } : {}),
  };
  if (is === 'agent') {
    const told = decodeURIComponent(String(headers[callerHeaders.agent]));
    return { ...named, is, ...Agent.parse(JSON.parse(told)) };
  }
  return { ...named, is: kinds.includes(String(is)) ? (is as Simple) : 'none' };
}
