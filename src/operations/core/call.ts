import type { z } from 'zod';
import { Refusal } from '../../../streams/core/index.js';
import type { RefusalCode } from '../../../streams/refusals.js';
import type { Caller } from './caller.js';
import type { AnyOperation, Operation, ServiceName } from './operation.js';
import { type Access, ownNickMember, requireRight, withOwnNick } from './rights.js';

export { holds, nobody, seesPrivate } from './caller.js';

/** Calls an operation from within: in this process, or where its service runs. */
export type Call = <Out, In extends z.ZodObject>(
  operation: Operation<never, In, Out>,
  input: z.output<In>,
  caller: Caller,
) => Promise<Out>;

/** A call of an operation as it ended. */
export interface EndedCall {
  operation: string;
  seconds: number;
  /** How it ended: `ok`, the code of its refusal, or `internal_error`. */
  outcome: string;
}

/** What calls are made with. */
export interface CallOptions {
  /** What the operations of this process work with. */
  parts: unknown;
  /** Asks the service of an operation, if that runs elsewhere; `undefined` for operations that run here. */
  remote(
    service: ServiceName,
  ): ((operation: AnyOperation, input: unknown, caller: Caller) => Promise<unknown>) | undefined;
  /** Told of every call. */
  observe?(call: EndedCall): void;
  /** Whether calls come from processes of ours, which have checked the caller's rights. */
  inside?: boolean;
}

/** Makes the way to call operations from within: a function call here, HTTP if their service is elsewhere. */
export function createCall({ parts, remote, observe, inside }: CallOptions): Call {
  const call = async (operation: AnyOperation, input: unknown, caller: Caller): Promise<unknown> => {
    const elsewhere = operation.remote && remote(operation.remote.service);
    const startedAt = performance.now();
    let outcome = 'ok';
    try {
      if (!inside) requireRight(operation.access, caller, input as Record<string, unknown>);
      return await (elsewhere ? elsewhere(operation, input, caller) : operation.run(input, caller, parts));
    } catch (error) {
      const { kind, code } = error as { kind?: unknown; code?: unknown };
      outcome = kind === undefined ? 'internal_error' : String(code);
      throw error;
    } finally {
      observe?.({ operation: operation.id, seconds: (performance.now() - startedAt) / 1_000, outcome });
    }
  };
  return call as Call;
}

/**
 * Parses the input of an operation. Throws like `parseInput`, with the operation's own code. A `caller` with
 * a nick may leave out the nick that it acts as. Members are `called` as the caller knows them.
 */
export function inputOf<In extends z.ZodObject>(
  { input, invalid, access = 'open' }: { input: In; invalid?: RefusalCode; access?: Access },
  given: unknown,
  caller?: Caller,
  called?: (member: string) => string,
): z.output<In> {
  const whole = caller ? withOwnNick(given, caller, ownNickMember(access)) : given;
  return parseInput(input, whole, invalid, called);
}

/**
 * Parses outside input. Throws a 400 that names the path of every bad field; a member of the input is `called` there as
 * the caller knows it.
 */
export function parseInput<S extends z.ZodType>(
  schema: S,
  input: unknown,
  code: RefusalCode = 'validation_failed',
  called: (member: string) => string = (member) => member,
): z.output<S> {
  // texts in our words cost, and most input is right
  const parsed = schema.safeParse(input);
  const result = parsed.success ? parsed : schema.safeParse(input, { error: whatIsWrong });
  if (result.success) return result.data;
  const details = result.error.issues.map(({ path: [member, ...within], message }) => {
    const field = member === undefined ? '' : [called(String(member)), ...within.map(String)].join('.');
    // a schema's own text may name the field already
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

/** What is wrong with a field, as a text that follows the field's name. */
function whatIsWrong(issue: z.core.$ZodRawIssue): string {
  const wrong = predicateOf(issue);
  return issue.path?.length ? wrong : `The body ${wrong}`;
}

function predicateOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing';
      // a member of a query that is there twice is a list, too
      return `must be ${kinds[issue.expected] ?? issue.expected}${Array.isArray(issue.input) ? ', not a list' : ''}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`;
    case 'too_small':
      return `must ${bound(issue.origin, issue.minimum, 'at least')}`;
    case 'too_big':
      return `must ${bound(issue.origin, issue.maximum, 'at most')}`;
    case 'invalid_union':
      // its `kind`, or the like, is not one that there is
      return Array.isArray(issue.options) ? `must be one of ${issue.options.join(', ')}` : 'is not valid';
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
