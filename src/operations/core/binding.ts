import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { RefusalCode } from '../../../streams/refusals.js';
import type { AnyOperation, HttpFace, Place } from './operation.js';
import { parseInput } from './validation.js';

/** Where each member of an input stands in a request. */
export interface Binding {
  path: readonly string[];
  query: readonly string[];
  body: readonly string[];
  headers: Readonly<Record<string, string>>;
  /** Whether a request without a body is one with an empty body. */
  bodyOptional: boolean;
}

/** A request as faces over HTTP get it. */
export interface RequestParts {
  params: unknown;
  query: unknown;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: unknown;
}

/** Where the members of an input stand in requests to a place. */
export function bindingOf(input: z.ZodObject, place: Place): Binding {
  const path = [...place.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const headers = place.headers ?? {};
  const taken = new Set([...path, ...Object.keys(headers), ...(place.without ?? [])]);
  const left = Object.keys(input.shape).filter((name) => !taken.has(name));
  const query = place.query ?? (place.method === 'get' ? left : []);
  const body = left.filter((name) => !query.includes(name));
  const bodyOptional = body.every((name) => schemaAt(input, name).safeParse(undefined).success);
  return { path, query, body, headers, bodyOptional };
}

/** The input of an operation as a request has it, to be parsed: only what stands where it belongs. */
export function collect(
  { input, invalid }: { input: z.ZodObject; invalid?: RefusalCode },
  binding: Binding,
  request: RequestParts,
): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  if (binding.body.length > 0) take(given, bodyOf(binding, request.body, invalid), binding.body);
  for (const name of binding.query) {
    const value = (request.query as Record<string, unknown>)[name];
    if (value !== undefined) given[name] = fromText(schemaAt(input, name), value);
  }
  for (const [name, header] of Object.entries(binding.headers)) {
    const value = request.headers[header];
    if (value !== undefined) given[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  for (const name of binding.path) {
    given[name] = fromText(schemaAt(input, name), (request.params as Record<string, unknown>)[name]);
  }
  return given;
}

/** The schema of a member. */
export function schemaAt(input: z.ZodObject, name: string): z.ZodType {
  return input.shape[name] as z.ZodType;
}

function bodyOf(
  { bodyOptional }: Binding,
  body: unknown,
  invalid: RefusalCode | undefined,
): Record<string, unknown> {
  if (bodyOptional && (body === undefined || body === null)) return {};
  // for the words with which everything that is no object is refused
  return parseInput(z.looseObject({}), body, invalid);
}

function take(given: Record<string, unknown>, from: Record<string, unknown>, names: readonly string[]): void {
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) given[name] = value;
  }
}

/** A number or a truth value that stands in a text, for members that are one; what is none is left for the schema to refuse. */
function fromText(schema: z.ZodType, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const kind = kindOf(schema);
  if (kind === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  if (kind !== 'number') return value;
  const number = Number(value);
  return Number.isNaN(number) ? value : number;
}

/** What a schema takes in the end, behind its defaults and options. */
function kindOf(schema: z.ZodType): string {
  const {
    type,
    innerType,
    in: first,
  } = schema.def as { type: string; innerType?: z.ZodType; in?: z.ZodType };
  const next = innerType ?? first;
  return next ? kindOf(next) : type;
}

/** Bodies as text: an answer that is given again need not be written again. */
const texts = new WeakMap<object, string>();

/** Sends the output of an operation as JSON, with the status and headers that its face says. It is not to be changed any more. */
export function sendOutput(
  reply: FastifyReply,
  operation: AnyOperation,
  output: unknown,
  face: Pick<Partial<HttpFace>, 'status' | 'headersOf' | 'view'>,
): FastifyReply {
  reply.code(face.status?.(output) ?? Number(Object.keys(operation.answers)[0] ?? 200));
  if (face.headersOf) reply.headers(face.headersOf(output));
  return sendJson(reply, face.view ? face.view(output) : output);
}

/** Sends JSON whose text is kept for as long as the value is there. */
function sendJson(reply: FastifyReply, body: unknown): FastifyReply {
  if (typeof body !== 'object' || body === null) return reply.send(body);
  const text = texts.get(body) ?? JSON.stringify(body);
  texts.set(body, text);
  return reply.type('application/json; charset=utf-8').send(text);
}
