import type { z } from 'zod';

/**
 * What a schema knows about itself: its own example, if it has one (`.meta({ example })`), or those of its
 * parts.
 */
interface Kind {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  element?: z.ZodType;
  options?: readonly z.ZodType[];
  values?: readonly unknown[];
  entries?: Record<string, unknown>;
}

/**
 * An example of what a schema takes, made from those of its parts. Without an example, a number is 1, a truth
 * value is true, and an enumeration its first value. What may be null is null, and what may be left out is
 * left out. Throws if a part needs an example and has none.
 */
export function exampleOf(schema: z.ZodType, path = 'example'): unknown {
  const own = ownExample(schema);
  if (own !== undefined) return own;
  const { type, innerType, in: first, element, options, values, entries } = schema.def as unknown as Kind;
  switch (type) {
    case 'object':
      return partsOf((schema as z.ZodObject).shape, path);
    case 'array':
      return [exampleOf(element!, `${path}[]`)];
    case 'record':
      return {};
    case 'union':
      return exampleOf(options![0]!, path);
    case 'literal':
      return values![0];
    case 'enum':
      return Object.values(entries!)[0];
    case 'boolean':
      return true;
    case 'number':
      return 1;
    case 'nullable':
      return hasOwn(innerType!) ? exampleOf(innerType!, path) : null;
    case 'optional':
    case 'default':
      return hasOwn(innerType!) ? exampleOf(innerType!, path) : undefined;
    case 'pipe':
      return exampleOf(first!, path);
    default:
      throw new Error(`${path} has no example`);
  }
}

/** Examples of the members of an object, without those that are optional and have none. */
export function partsOf(shape: Record<string, z.core.SomeType>, path = 'example'): Record<string, unknown> {
  const parts = Object.entries(shape).map(
    ([name, schema]) => [name, exampleOf(schema as z.ZodType, `${path}.${name}`)] as const,
  );
  return Object.fromEntries(parts.filter(([, example]) => example !== undefined));
}

const ownExample = (schema: z.ZodType): unknown => schema.meta()?.example;

/** Whether a schema has an example, itself or in its parts. */
function hasOwn(schema: z.ZodType): boolean {
  if (ownExample(schema) !== undefined) return true;
  const { innerType, in: first, element } = schema.def as unknown as Kind;
  const { shape = {} } = schema as Partial<z.ZodObject>;
  return [innerType, first, element, ...Object.values(shape)].some((part) => part && hasOwn(part));
}

/**
 * Keeps examples out of a JSON schema: a description has them next to it. So it does with the `form` of a text, which
 * its description says well enough for a model. Returns the form.
 */
export function withoutExample({
  jsonSchema,
}: {
  jsonSchema: z.core.JSONSchema.BaseSchema;
}): string | undefined {
  const { form } = jsonSchema;
  delete jsonSchema.example;
  delete jsonSchema.form;
  return form as string | undefined;
}
