import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import type { ApiKeys } from '../auth/api-keys.js';
import { keepRawBodies } from '../auth/raw-body.js';
import { type Binding, bindingOf, collect, sendOutput } from '../operations/core/binding.js';
import { type Caller, nobody } from '../operations/core/caller.js';
import type { AnyOperation, Call } from '../operations/core/operation.js';
import { inputOf, parseInput } from '../operations/core/validation.js';

/** Says whether the wallet that signed a request may act for a nick. */
export interface Signers {
  /** Whether a request shows a signature: then that decides, and no key that it may carry. */
  presented(request: FastifyRequest): boolean;
  /** The wallet that signed, if it is linked with the nick. */
  linked(request: FastifyRequest, nick: string): Promise<string>;
  /** The wallet that signed, if it and the nick have proven each other. */
  proven(request: FastifyRequest, nick: string): Promise<string>;
}

/** What the routes of operations work with. */
export interface OperationRoutesOptions {
  operations: readonly AnyOperation[];
  call: Call;
  keys: ApiKeys;
  signers?: Signers;
}

/** The public routes of operations: who calls, with which input, and the answer. */
export async function operationRoutes(app: FastifyInstance, options: OperationRoutesOptions): Promise<void> {
  const { operations, ...parts } = options;
  const takesWallets = ({ access }: AnyOperation) => typeof access === 'object';
  await app.register(async (scope) => {
    // what wallets sign is the bytes
    keepRawBodies(scope);
    for (const operation of operations.filter(takesWallets)) scope.route(routeOf(operation, parts));
  });
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    for (const operation of operations.filter(({ http }) => http?.body === 'bytes'))
      scope.route(routeOf(operation, parts));
  });
  for (const operation of operations) {
    // signed events have a receiver of their own
    if (operation.access === 'signed event') continue;
    if (operation.http && operation.http.body !== 'bytes' && !takesWallets(operation))
      app.route(routeOf(operation, parts));
  }
}

function routeOf(
  operation: AnyOperation,
  { call, keys, signers }: Omit<OperationRoutesOptions, 'operations'>,
): RouteOptions {
  const http = operation.http!;
  const { access } = operation;
  const binding = bindingOf(operation.input, http);
  const signed = (request: FastifyRequest) =>
    typeof access === 'object' && (signers?.presented(request) ?? false);
  return {
    method: http.method,
    url: http.path.replace(/\{(\w+)\}/g, ':$1'),
    exposeHeadRoute: http.head ?? true,
    ...(http.inEveryRole ? { config: { rateLimit: false } } : {}),
    ...(access !== 'key' && typeof access !== 'object'
      ? {}
      : // before the body is read: who may not call need not send one
        { onRequest: async (request) => void (signed(request) || keys.require(request)) }),
    handler: async (request, reply) => {
      const known = signed(request) ? undefined : callerOf(operation, keys, request);
      const input = inputOf(operation, given(operation, binding, request));
      const caller = known ?? (await signerOf(operation, signers!, request, input));
      const output = await call(operation, input, caller);
      return http.send ? http.send(reply, output) : sendOutput(reply, operation, output, http);
    },
  };
}

function given(operation: AnyOperation, binding: Binding, request: FastifyRequest): unknown {
  const { collect: own } = operation.http!;
  return own ? own(request) : collect(operation, binding, request);
}

function callerOf({ access }: AnyOperation, keys: ApiKeys, request: FastifyRequest): Caller {
  const cause = request.id;
  if (access === 'open' || access === 'payment') return { ...nobody, cause };
  if (access === 'key or local') return { ...keys.localOrKey(request), cause };
  return {
    ...(access === 'open, more with a key' ? keys.callerOf(request) : keys.requireCaller(request)),
    cause,
  };
}

/** Who signed, once all else about the request is right: the signature's nonce is used up by looking at it. */
async function signerOf(
  { access }: AnyOperation,
  signers: Signers,
  request: FastifyRequest,
  input: Record<string, unknown>,
): Promise<Caller> {
  const { wallet, of } = access as { wallet: 'linked' | 'proven'; of: string };
  // a key may leave it out
  parseInput(z.object({ [of]: z.string() }), input);
  const actor = await signers[wallet](request, String(input[of]));
  return { is: 'wallet', actor, cause: request.id };
}
