import { z } from 'zod';
import { bindingOf, schemaAt } from '../operations/core/binding.js';
import type { Access, Description, Exemplified, Refusals } from '../operations/core/description.js';
import type { AnyEventStream } from '../operations/core/event-stream.js';
import { exampleOf, partsOf } from '../operations/core/example.js';
import type { AnyOperation } from '../operations/core/operation.js';
import { moreWithKey, needsCredential, ownNickMember } from '../operations/core/rights.js';

/** The description of an operation's public route, from the operation itself. */
export function descriptionOf(operation: AnyOperation): Description {
  const { id, tag, summary, description, input, answers, example = {} } = operation;
  const http = operation.http!;
  const { path, query, body, headers, bodyOptional } = bindingOf(input, http);
  const examples = example as Record<string, unknown>;
  const member = (name: string) => memberOf(operation, name);
  const parameter = (name: string): Exemplified & { says: string } => {
    const schema = schemaAt(input, name);
    return { schema, example: examples[name] ?? exampleOf(schema, name), says: schema.description ?? name };
  };
  const part = (names: readonly string[]) =>
    z.object(Object.fromEntries(names.map((name) => [name, member(name)])));
  const given = (names: readonly string[]) => {
    const own = names.filter((name) => name in examples).map((name) => [name, examples[name]] as const);
    return own.length > 0 ? Object.fromEntries(own) : partsOf(part(names).shape);
  };
  const named = (names: readonly string[], of: (name: string) => [string, object]) =>
    Object.fromEntries(names.map(of));
  return {
    id,
    tag,
    summary,
    answers,
    ...(description ? { description } : {}),
    method: http.method,
    path: http.path,
    access: accessOf(operation),
    ...scopeOf(operation),
    ...(path.length > 0 ? { params: named(path, (name) => [name, parameter(name)]) as never } : {}),
    ...(query.length > 0 ? { query: part(query) } : {}),
    ...(Object.keys(headers).length > 0
      ? {
          headers: named(Object.keys(headers), (name) => [
            headers[name]!,
            { ...parameter(name), required: !schemaAt(input, name).safeParse(undefined).success },
          ]) as never,
        }
      : {}),
    ...(body.length > 0 && http.body !== 'bytes'
      ? { body: { schema: part(body), example: given(body), optional: bodyOptional } }
      : {}),
    ...(http.describe ?? {}),
    refusals: { ...refusalsOfWallets(operation), ...operation.refusals },
  };
}

/** A member of the input as callers may send it: an agent key knows the nick that it acts as. */
function memberOf({ input, access }: Pick<AnyOperation, 'input' | 'access'>, name: string): z.ZodType {
  const schema = schemaAt(input, name);
  if (name !== ownNickMember(access) || schema.safeParse(undefined).success) return schema;
  const says = `${schema.description ?? 'The nick that the caller acts as'}. May be left out with an agent key`;
  return schema.optional().meta({ ...schema.meta(), description: says });
}

function accessOf({ access }: Pick<AnyOperation, 'access'>): Access {
  if (typeof access === 'string') return access;
  if (access.wallet) return 'key or wallet';
  if (access.without === 'everybody') return 'open, more with a key';
  return access.without === 'local' ? 'key or local' : 'key';
}

function scopeOf({ access }: Pick<AnyOperation, 'access'>): Pick<Description, 'scope' | 'ofOwnNick'> {
  if (typeof access === 'string') return {};
  return { scope: access.scope, ofOwnNick: access.as !== undefined };
}

/** What an operation that wallets may call is refused with when the wallet is not the right one. */
function refusalsOfWallets({ access }: AnyOperation): Refusals {
  if (!needsCredential(access) || access.wallet === undefined) return {};
  if (access.wallet === 'own')
    return { nick_not_linked: true, wallet_not_verified: true, api_keys_not_configured: true };
  return {
    wallet_not_linked: 'No wallet is linked to the nick that signed',
    api_keys_not_configured: true,
    wallet_not_of_nick: true,
    ...(access.wallet === 'proven' ? { wallet_not_verified: true } : {}),
  };
}

/** The description of a stream of events. */
export function streamDescriptionOf(stream: AnyEventStream): Description {
  const { id, path, tag, summary, description, input, refusals, says, example, nothingMore } = stream;
  const { access = moreWithKey } = stream;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const params = inPath.map((name) => {
    const schema = schemaAt(input, name);
    return [name, { schema, example: exampleOf(schema), says: schema.description ?? name }];
  });
  return {
    id,
    method: 'get',
    path,
    tag,
    summary,
    description,
    access: accessOf({ access }),
    ...scopeOf({ access }),
    refusals,
    ...(inPath.length > 0 ? { params: Object.fromEntries(params) } : {}),
    query: input.omit(Object.fromEntries(inPath.map((name) => [name, true])) as never),
    answers: {
      200: { says, type: 'text/event-stream', body: { schema: z.string(), example } },
      ...(nothingMore ? { 204: { says: nothingMore } } : {}),
    },
    errors: {
      400: 'The input is not valid, or Last-Event-ID or `after` is no id of an event of this stream',
    },
  };
}

/** A description that has an example of everything that is sent or answered: its own, or that of the schema. */
export function withExamples(description: Description): Description {
  const { id, body, answers } = description;
  const filled = <E extends Exemplified>(one: E, path: string): E => ({
    ...one,
    example: one.example ?? exampleOf(one.schema, path),
  });
  return {
    ...description,
    ...(body ? { body: filled(body, id) } : {}),
    answers: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [
        status,
        { ...answer, ...(answer.body ? { body: filled(answer.body, `${id}.${status}`) } : {}) },
      ]),
    ),
  };
}
