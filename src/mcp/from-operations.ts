import { z } from 'zod';
import { type Call, inputOf, parseInput } from '../operations/core/call.js';
import { refuseMisspelt } from '../operations/core/misspelt.js';
import type { AnyOperation, ToolFace } from '../operations/core/operation.js';
import { ownNickMember, scopeOf, withOwnNick } from '../operations/core/rights.js';
import type { Tool } from './tools.js';

/** The tools of operations, in order. Each calls its operation, with the rights of the caller of the tool. */
export function toolsOf(operations: readonly AnyOperation[], call: Call): Tool[] {
  return tools(operations, call, (face) => !face.stdioOnly);
}

/** The tools of operations that only the tool server over standard input and output has. */
export function stdioToolsOf(operations: readonly AnyOperation[], call: Call): Tool[] {
  return tools(operations, call, (face) => face.stdioOnly === true);
}

function tools(operations: readonly AnyOperation[], call: Call, has: (face: ToolFace) => boolean): Tool[] {
  return operations.flatMap((operation) =>
    operation.tool && has(operation.tool) ? [toolOf(operation, operation.tool, call)] : [],
  );
}

function toolOf(operation: AnyOperation, face: ToolFace, call: Call): Tool {
  const { name, title, description, effect = 'read', openWorld = false } = face;
  const { walletReadable = false, ofAgents = false } = face;
  const { schema, inputFrom } = parametersOf(operation, face);
  const member = ownNickMember(operation.access);
  const isParameter = member !== undefined && !face.without?.includes(member);
  const ownNick = isParameter
    ? ((face.rename as Record<string, string> | undefined)?.[member] ?? member)
    : undefined;
  const output = face.output === 'described' ? describedOutput(operation) : face.output;
  return {
    name,
    title,
    description,
    effect,
    openWorld,
    walletReadable,
    ofAgents,
    input: schema,
    idempotent: face.idempotent ?? effect === 'read',
    scope: scopeOf(operation.access),
    ...(ownNick === undefined ? {} : { ownNick }),
    ...(output ? { output } : {}),
    run: async (args, caller) => {
      if (!takesMore(schema)) refuseMisspelt(args, Object.keys(schema.shape));
      const input = inputFrom(withOwnNick(args ?? {}, caller, ownNick));
      const result = await call(operation, input, caller);
      return face.result ? face.result(result) : result;
    },
  };
}

/** Whether members that the schema does not name are passed on. */
const takesMore = ({ def }: z.ZodObject): boolean => def.catchall !== undefined;

interface Parameters {
  schema: z.ZodObject;
  /** The operation's input. Throws like `parseInput`, under the names that the caller knows. */
  inputFrom(given: unknown): unknown;
}

function parametersOf(
  operation: AnyOperation,
  { parameters, rename = {}, without = [] }: ToolFace,
): Parameters {
  if (parameters) {
    const { schema, toInput } = parameters as { schema: z.ZodObject; toInput(given: unknown): unknown };
    return { schema, inputFrom: (given) => inputOf(operation, toInput(parseInput(schema, given))) };
  }
  const { input, invalid } = operation;
  const names = Object.keys(input.shape).filter((name) => !(without as readonly string[]).includes(name));
  const called = (name: string) => (rename as Record<string, string | undefined>)[name] ?? name;
  const renamed = (given: Record<string, unknown>) =>
    Object.fromEntries(
      names.filter((name) => called(name) in given).map((name) => [name, given[called(name)]]),
    );
  return {
    schema: z.object(Object.fromEntries(names.map((name) => [called(name), input.shape[name]!]))),
    inputFrom: (given) => parseInput(input, renamed(given as Record<string, unknown>), invalid, called),
  };
}

/** The shape of the usual answer, as an object: a list is in `items`. */
function describedOutput({ answers, id }: AnyOperation): z.ZodObject {
  const schema = answers[Number(Object.keys(answers)[0])]?.body?.schema;
  if (schema instanceof z.ZodArray) return z.object({ items: schema });
  if (!(schema instanceof z.ZodObject))
    throw new Error(`${id} does not describe an answer that a tool could have`);
  // without its name: with one it would be a reference here, and clients want an object
  return z.looseObject(schema.shape);
}
