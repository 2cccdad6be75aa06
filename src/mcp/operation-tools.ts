import { z } from 'zod';
import type { Caller as Asker } from '../operations/core/caller.js';
import type { AnyOperation, Call, ToolFace } from '../operations/core/operation.js';
import { inputOf, parseInput } from '../operations/core/validation.js';
import type { Caller, Tool } from './tool.js';

/** The tools of operations, in their order: each calls its operation, with the rights of whoever calls the tool. */
export function toolsOf(operations: readonly AnyOperation[], call: Call): Tool[] {
  return tools(operations, call, (face) => !face.local);
}

/** The tools of operations that only the tool server on this machine has. */
export function localToolsOf(operations: readonly AnyOperation[], call: Call): Tool[] {
  return tools(operations, call, (face) => face.local === true);
}

function tools(operations: readonly AnyOperation[], call: Call, has: (face: ToolFace) => boolean): Tool[] {
  return operations.flatMap((operation) =>
    operation.tool && has(operation.tool) ? [toolOf(operation, operation.tool, call)] : [],
  );
}

function toolOf(operation: AnyOperation, face: ToolFace, call: Call): Tool {
  const { name, title, description, effect = 'read', openWorld = false, walletReadable = false } = face;
  const { schema, toInput } = parametersOf(operation.input, face);
  const output = face.output === 'described' ? describedOutput(operation) : face.output;
  return {
    ...{ name, title, description, effect, openWorld, walletReadable, input: schema },
    idempotent: face.idempotent ?? effect === 'read',
    ...(output ? { output } : {}),
    run: async (args, caller) => {
      // under the names that the caller knows, then as the operation has it
      const given = parseInput(schema, args ?? {});
      const input = inputOf(operation, toInput(given));
      const result = await call(operation, input, askerOf(caller));
      return face.result ? face.result(result) : result;
    },
  };
}

interface Parameters {
  schema: z.ZodObject;
  toInput(given: Record<string, unknown>): unknown;
}

function parametersOf(input: z.ZodObject, { parameters, rename = {}, without = [] }: ToolFace): Parameters {
  if (parameters) return parameters as Parameters;
  const names = Object.keys(input.shape).filter((name) => !(without as readonly string[]).includes(name));
  const called = (name: string) => (rename as Record<string, string | undefined>)[name] ?? name;
  const schema = z.object(Object.fromEntries(names.map((name) => [called(name), input.shape[name]!])));
  return {
    schema,
    toInput: (given) =>
      Object.fromEntries(
        names.filter((name) => called(name) in given).map((name) => [name, given[called(name)]]),
      ),
  };
}

/** The shape of the usual answer, as an object: a list stands in `items`. */
function describedOutput({ answers, id }: AnyOperation): z.ZodObject {
  const schema = answers[Number(Object.keys(answers)[0])]?.body?.schema;
  if (schema instanceof z.ZodArray) return z.object({ items: schema });
  if (!(schema instanceof z.ZodObject))
    throw new Error(`${id} does not describe an answer that a tool could have`);
  // without its name: one with a name would be a reference here, and clients want an object
  return z.looseObject(schema.shape);
}

/** Whoever has a key may do everything here, also on this machine where there are none. */
const askerOf = ({ tier, actor, cause }: Caller): Asker => ({
  ...{ is: tier === 'keyed' ? 'key' : 'wallet', actor },
  ...(cause === undefined ? {} : { cause }),
});
