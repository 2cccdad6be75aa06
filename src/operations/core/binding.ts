import type { z } from 'zod';
import type { Place } from './operation.js';

/** Where each member of an input is in a request. */
export interface Binding {
  path: readonly string[];
  query: readonly string[];
  body: readonly string[];
  headers: Readonly<Record<string, string>>;
  /** Members that are numbers, which are text in paths and queries. */
  numbers: ReadonlySet<string>;
  /** The same for truth values. */
  booleans: ReadonlySet<string>;
  /** Whether a request without a body counts as one with an empty body. */
  bodyOptional: boolean;
}

/** Where the members of an input are in requests to a place. */
export function bindingOf(input: z.ZodObject, place: Place): Binding {
  const path = [...place.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const headers = place.headers ?? {};
  const taken = new Set([...path, ...Object.keys(headers), ...(place.without ?? [])]);
  const left = Object.keys(input.shape).filter((name) => !taken.has(name));
  const query = place.query ?? (place.method === 'get' ? left : []);
  const body = left.filter((name) => !query.includes(name));
  const bodyOptional = body.every((name) => schemaAt(input, name).safeParse(undefined).success);
  const ofKind = (kind: string) =>
    new Set(Object.keys(input.shape).filter((name) => kindOf(schemaAt(input, name)) === kind));
  return {
    path,
    query,
    body,
    headers,
    bodyOptional,
    numbers: ofKind('number'),
    booleans: ofKind('boolean'),
  };
}

/** The type that a schema takes in the end, below its defaults and options. */
function kindOf(schema: z.ZodType): string {
  const {
    type,
    innerType,
    in: first,
  } = schema.def as { type: string; innerType?: z.ZodType; in?: z.ZodType };
  const next = innerType ?? first;
  return next ? kindOf(next) : type;
}

/** The schema of a member. */
export function schemaAt(input: z.ZodObject, name: string): z.ZodType {
  return input.shape[name] as z.ZodType;
}
