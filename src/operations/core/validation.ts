import type { z } from 'zod';
import { Refusal } from '../../../streams/core/index.js';
import type { RefusalCode } from '../../../streams/refusals.js';

/** Parses the input of an operation; throws like `parseInput`, with the operation's own code. */
export function inputOf<In extends z.ZodObject>(
  { input, invalid }: { input: In; invalid?: RefusalCode },
  given: unknown,
): z.output<In> {
  return parseInput(input, given, invalid);
}

/** Parses what came from outside; throws a 400 that names the path of every bad field. */
export function parseInput<S extends z.ZodType>(
  schema: S,
  input: unknown,
  code: RefusalCode = 'validation_failed',
): z.output<S> {
  const result = schema.safeParse(input, { error: whatIsWrong });
  if (result.success) return result.data;
  const details = result.error.issues.map(({ path, message }) => {
    const field = path.map(String).join('.');
    // a schema's own words may name the field already
    return {
      path: field,
      message: message.startsWith(field || 'The body') ? message : `${field} ${message}`,
    };
  });
  throw new Refusal(code, details.map(({ message }) => message).join('; '), { details });
}

const kinds: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  record: 'a JSON object',
};

/** What is wrong with a field, as it goes on behind the field's name. */
function whatIsWrong(issue: z.core.$ZodRawIssue): string {
  const wrong = predicateOf(issue);
  return issue.path?.length ? wrong : `The body ${wrong}`;
}

function predicateOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing';
      return `must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`;
    case 'too_small':
      return `must ${bound(issue.origin, issue.minimum, 'at least')}`;
    case 'too_big':
      return `must ${bound(issue.origin, issue.maximum, 'at most')}`;
    case 'unrecognized_keys':
      return `must not have ${issue.keys.join(', ')}`;
    default:
      return 'is not valid';
  }
}

function bound(origin: string, limit: number | bigint, word: 'at least' | 'at most'): string {
  if (origin === 'string' && word === 'at least' && limit === 1) return 'not be empty';
  if (origin === 'string') return `have ${word} ${limit} characters`;
  if (origin === 'array') return `have ${word} ${limit} entries`;
  return `be ${word} ${limit}`;
}
