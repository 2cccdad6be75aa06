import type { z } from 'zod';
import { Refusal } from '../streams/core/index.js';

/** Parses what came from outside; throws a 400 that names the path of every bad field. */
export function parseInput<S extends z.ZodType>(
  schema: S,
  input: unknown,
  code = 'validation_failed',
): z.output<S> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const details = result.error.issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message,
  }));
  const first = details[0];
  throw new Refusal(
    code,
    400,
    first ? `Invalid input: ${first.path || 'body'}: ${first.message}` : 'Invalid input',
    {
      details,
    },
  );
}
