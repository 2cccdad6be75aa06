import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import { Refusal } from '../../streams/core/index.js';
import type { RefusalCode } from '../../streams/refusals.js';
import type { ApiKeys } from '../auth/api-keys.js';
import { keepRawBodies } from '../auth/json-bodies.js';
import { type Binding, bindingOf } from '../operations/core/binding.js';
import { type Call, inputOf, nobody, parseInput } from '../operations/core/call.js';
import { ignoredIn, refuseMisspelt } from '../operations/core/misspelt.js';
import type { AnyOperation, Caller, HttpFace } from '../operations/core/operation.js';
import { type Needed, needsCredential, requireRight } from '../operations/core/rights.js';
import { jsonOf } from '../stores/kept-answers.js';

/** Says whether the wallet that signed a request may act for a nick. */
export interface Signers {
  /** Whether a request has a signature: then that decides, and no key that it carries. */
  presented(request: FastifyRequest): boolean;
  /** The signing wallet, if it is linked to the nick. */
  linked(request: FastifyRequest, nick: string): Promise<string>;
  /** The signing wallet, if it and the nick have proven each other. */
  proven(request: FastifyRequest, nick: string): Promise<string>;
  /** The signing wallet, and the nick if the two have proven each other. */
  own(request: FastifyRequest): Promise<{ address: string; nick: string }>;
}

/** What the routes of operations work with. */
export interface OperationRoutesOptions {
  operations: readonly AnyOperation[];
  call: Call;
  keys: ApiKeys;
  signers?: Signers;
}

/** The public routes of operations: the caller, the input, and the answer. */
export async function operationRoutes(app: FastifyInstance, options: OperationRoutesOptions): Promise<void> {
  const { operations, ...parts } = options;
  const takesWallets = ({ access }: AnyOperation) => walletOf(access) !== undefined;
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
    // signed events have their own receiver
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
    walletOf(access) !== undefined && (signers?.presented(request) ?? false);
  const given =
    http.collect ??
    ((request: FastifyRequest) => {
      const found = collect(binding, request, operation.invalid);
      const names = Object.keys(operation.input.shape);
      refuseMisspelt(request.body, names, { among: binding.body, code: operation.invalid });
      return found;
    });
  const called = (member: string) => {
    const header = binding.headers[member];
    return header === undefined ? member : header.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
  };
  const takesNothing = !http.collect && Object.keys(operation.input.shape).length === 0;
  const send = http.send ?? senderOf(operation, http);
  const callerOf = callerFinder(access, keys);
  // what is passed on is known to others
  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    tellIgnored(request, reply);
    const known = signed(request) ? undefined : await callerOf(request, reply);
    const input = takesNothing ? {} : inputOf(operation, given(request), known, called);
    const caller = known ?? (await signerOf(operation, signers!, request, input));
    return send(reply, await call(operation, input, caller));
  };
  const tellIgnored = http.collect ? () => {} : ignoredTeller(binding);
  return {
    method: http.method,
    url: urlOf(http),
    exposeHeadRoute: http.head ?? true,
    ...(http.inEveryRole ? { config: { rateLimit: false } } : {}),
    ...(needsCredential(access)
      ? {
          // before the body is read: a caller without rights need not send it
          onRequest: async (request, reply) => {
            if (signed(request)) return;
            const caller = await keys.requireCaller(request, reply);
            requireRight(access, caller);
            callers.set(request, caller);
          },
        }
      : {}),
    handler: http.inEveryRole ? countingRefused(handle) : handle,
  };
}

/** The path of a route as fastify writes it. */
export const urlOf = ({ path }: Pick<HttpFace, 'path'>) => path.replace(/\{(\w+)\}/g, ':$1');

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Probes and scrapers are never limited. Requests with a wrong key, or with none where one is needed, are. */
function countingRefused(handle: Handler): Handler {
  return async (request, reply) => {
    try {
      return await handle(request, reply);
    } catch (error) {
      if (error instanceof Refusal) await request.server.countRefused(request, reply);
      throw error;
    }
  };
}

/** The header of answers that names the parameters of a query which the operation does not know, and so ignored. */
const ignoredHeader = 'X-Ignored-Parameters';

/** Makes what tells callers that a part of their query was ignored. */
export function ignoredTeller({
  query,
}: Pick<Binding, 'query'>): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    if (!request.url.includes('?')) return;
    const ignored = ignoredIn(request.query, query);
    if (ignored !== undefined) reply.header(ignoredHeader, ignored);
  };
}

/** Whose signature opens an operation in place of a key; nobody's if it is `undefined`. */
const walletOf = (access: AnyOperation['access']) => (typeof access === 'string' ? undefined : access.wallet);

/** The senders of requests, found before their bodies were read. */
const callers = new WeakMap<FastifyRequest, Caller>();

/** Finds the caller of an operation by what its route requires, which is known from the start. */
function callerFinder(
  access: AnyOperation['access'],
  keys: ApiKeys,
): (request: FastifyRequest, reply: FastifyReply) => Caller | Promise<Caller> {
  if (typeof access === 'string') return ({ id, ip }) => ({ cause: id, address: ip, ...nobody });
  const ask = access.without === 'local' ? keys.localOrKey : keys.callerOf;
  return async (request, reply) => {
    const cause = request.id;
    const found = callers.get(request);
    if (found) return { cause, ...found };
    return { cause, address: request.ip, ...(await ask.call(keys, request, reply)) };
  };
}

/** The signer, once all else about the request is right: this check uses up the signature's nonce. */
async function signerOf(
  { access }: AnyOperation,
  signers: Signers,
  request: FastifyRequest,
  input: Record<string, unknown>,
): Promise<Caller> {
  const { wallet, as = 'nick' } = access as Needed & { wallet: NonNullable<Needed['wallet']> };
  if (wallet === 'own') {
    const { address, nick } = await signers.own(request);
    return { is: 'wallet', actor: address, nick, cause: request.id };
  }
  // a key may leave it out
  parseInput(z.object({ [as]: z.string() }), input);
  const actor = await signers[wallet](request, String(input[as]));
  return { is: 'wallet', actor, cause: request.id, address: request.ip };
}

/** A request as faces over HTTP get it. */
export interface RequestParts {
  params: unknown;
  query: unknown;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: unknown;
}

/** The input of an operation from a request, before parsing: only members in their right place. */
export function collect(
  binding: Binding,
  request: RequestParts,
  invalid?: RefusalCode,
): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  if (binding.body.length > 0) take(given, bodyOf(binding, request.body, invalid), binding.body);
  for (const name of binding.query) {
    const value = (request.query as Record<string, unknown>)[name];
    if (value !== undefined) given[name] = fromText(binding, name, value);
  }
  for (const [name, header] of Object.entries(binding.headers)) {
    const value = request.headers[header];
    if (value !== undefined) given[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  for (const name of binding.path) {
    given[name] = fromText(binding, name, (request.params as Record<string, unknown>)[name]);
  }
  return given;
}

function bodyOf(
  { bodyOptional }: Binding,
  body: unknown,
  invalid: RefusalCode | undefined,
): Record<string, unknown> {
  if (bodyOptional && (body === undefined || body === null)) return {};
  // for the usual refusal of everything that is not an object
  return parseInput(z.looseObject({}), body, invalid);
}

function take(given: Record<string, unknown>, from: Record<string, unknown>, names: readonly string[]): void {
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) given[name] = value;
  }
}

/**
 * Reads a number or a truth value from a text, for members of that type. Any other text is left for the
 * schema to refuse.
 */
function fromText({ numbers, booleans }: Binding, name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (booleans.has(name)) return value === 'true' ? true : value === 'false' ? false : value;
  if (!numbers.has(name)) return value;
  const number = Number(value);
  return Number.isNaN(number) ? value : number;
}

/**
 * Sends outputs of an operation as JSON, with the status and headers that its face says. They must not be
 * changed any more.
 */
export function senderOf(
  { answers }: AnyOperation,
  { status, headersOf, view }: Pick<Partial<HttpFace>, 'status' | 'headersOf' | 'view'>,
): (reply: FastifyReply, output: unknown) => FastifyReply {
  const usual = Number(Object.keys(answers)[0] ?? 200);
  return (reply, output) => {
    reply.code(status?.(output) ?? usual);
    if (headersOf) reply.headers(headersOf(output));
    return sendJson(reply, view ? view(output) : output);
  };
}

function sendJson(reply: FastifyReply, body: unknown): FastifyReply {
  if (typeof body !== 'object' || body === null) return reply.send(body);
  return reply.type('application/json; charset=utf-8').send(jsonOf(body));
}
