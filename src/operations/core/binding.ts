import type { z } from 'zod';
import type { Place } from './operation.js';

/** Where each member of an input stands in a request. */
export interface Binding {
  path: readonly string[];
  query: readonly string[];
  body: readonly string[];
  headers: Readonly<Record<string, string>>;
  /** Whether a request without a body is one with an empty body. */
  bodyOptional: boolean;
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

/** The schema of a member. */
export function schemaAt(input: z.ZodObject, name: string): z.ZodType {
  return input.shape[name] as z.ZodType;
}
