import { z } from 'zod';
import { withoutExample } from '../operations/core/example.js';

type Json = Record<string, unknown>;

/**
 * A schema as tools are listed with it: only what means something, since each client gives all of it to its
 * model. The dialect is the one that MCP assumes, and clients of every age understand the rest.
 */
export function listedSchema(schema: z.ZodObject, of: 'input' | 'output'): Json {
  const { $schema: _, ...whole } = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-7',
    override: (of) => void withoutExample(of),
  });
  const listed = shortened(whole, of) as Json;
  // clients want the members of the whole named, also where there are none
  return { ...listed, properties: listed.properties ?? {} };
}

function shortened(value: unknown, of: 'input' | 'output'): unknown {
  if (Array.isArray(value)) return value.map((one) => shortened(one, of));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .filter((entry) => !saysNothing(entry, value as Json, of))
    .map(([name, one]) => {
      // we name its members, not the dialect
      if (name === 'properties') return [name, eachShortened(one as Json, of)];
      return [name, isText(name) ? one : shortened(one, of)];
    });
  return withoutNull(Object.fromEntries(kept), of);
}

function eachShortened(properties: Json, of: 'input' | 'output'): Json {
  return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, shortened(one, of)]));
}

const isText = (name: string) => ['default', 'const', 'enum', 'required', 'description'].includes(name);

function saysNothing([name, value]: [string, unknown], { format }: Json, of: 'input' | 'output'): boolean {
  switch (name) {
    case 'minimum':
      return of === 'output' || value === Number.MIN_SAFE_INTEGER;
    case 'maximum':
      return of === 'output' || value === Number.MAX_SAFE_INTEGER;
    // every leap year; the format says the same
    case 'pattern':
      return format === 'date-time' || format === 'date' || isOfId(value as string);
    // nobody must check an answer
    case 'format':
    case 'exclusiveMinimum':
    case 'maxLength':
    case 'maxItems':
      return of === 'output';
    case 'additionalProperties':
      return typeof value === 'object';
    case 'minLength':
      return value === 1;
    // names of members are always text
    case 'propertyNames':
      return isEmpty(value, 'type');
    case 'properties':
      return isEmpty(value);
    // an answer has its members: no model asks which of them are always there
    case 'required':
      return of === 'output' && Array.isArray(value);
    // a member that is empty by default is not listed as required: that is enough
    case 'default':
      return value === '' || value === null || (Array.isArray(value) && value.length === 0);
    default:
      return false;
  }
}

/** Whether a pattern only keeps ids apart from what leads elsewhere in a path: whoever has an id need not know it. */
const isOfId = (pattern: string): boolean => pattern.startsWith('^(?!');

/** Whether it has no members, but for one that says nothing. */
const isEmpty = (value: unknown, but?: string): boolean =>
  Object.keys(value as Json).every((name) => name === but);

/**
 * A member of an input that may be null can be left out. In an answer it is listed without its type: that is
 * the shortest way to allow null, and some clients do not understand lists of types.
 */
function withoutNull({ type, anyOf, ...schema }: Json, of: 'input' | 'output'): Json {
  const listed = Array.isArray(type) ? type.map((one) => ({ type: one })) : undefined;
  const given = (anyOf as Json[] | undefined) ?? listed;
  if (!given) return { ...(type === undefined ? {} : { type }), ...schema };
  const others = given.filter((one) => one.type !== 'null');
  const [only] = others;
  if (!only || others.length > 1) return { anyOf: of === 'input' ? others : given, ...schema };
  if (of === 'input') return { ...only, ...schema };
  const { type: _, enum: values, ...rest } = only as Json;
  return { ...rest, ...(values ? { enum: [...(values as unknown[]), null] } : {}), ...schema };
}
