import { z } from 'zod';
import { parseInput } from '../operations/core/validation.js';
import type { Reply } from '../remote/service.js';

/** What a credential opens: everything over HTTP, or what a wallet's signature may read. */
export type Tier = 'keyed' | 'wallet-read';

/** Who calls a tool. */
export interface Caller {
  tier: Tier;
  /** Name of the key, or the wallet's address; it stands in the facts that the call causes. */
  actor: string;
  /** The API key it came with, for calls of the public API in its name. */
  key?: string | undefined;
  /** Id of the request that it came with, for facts to name as their cause. */
  cause?: string;
}

/** What holders of a key see and signers do not, as internal services are told of it. */
export const visibility = ({ tier }: Caller): { private?: 'true' } =>
  tier === 'keyed' ? { private: 'true' } : {};

/** A tool as it is called: arguments that have been checked, plain JSON as the result. */
export interface Tool {
  name: string;
  title: string;
  /** What it does, when to use it and what it answers, for the agent that reads the list. */
  description: string;
  input: z.ZodObject;
  /** Shape of its result, where the contract fixes one; a list stands in `items`. */
  output?: z.ZodObject;
  /** Whether it only reads, changes something, or spends value that cannot be got back. */
  effect: 'read' | 'change' | 'spend';
  /** Whether the same call twice changes no more than once; reads always do. */
  idempotent: boolean;
  /** Whether it reaches beyond this network. */
  openWorld: boolean;
  /** Whether a wallet's signature opens it too. */
  walletReadable: boolean;
  run(args: unknown, caller: Caller): Promise<unknown>;
}

interface Definition<Input extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  input?: Input;
  output?: z.ZodObject;
  effect?: Tool['effect'];
  idempotent?: boolean;
  openWorld?: boolean;
  walletReadable?: boolean;
  run(args: z.output<Input>, caller: Caller): Promise<unknown>;
}

/** Defines a tool: a read that nobody but holders of a key may use, unless said otherwise. */
export function defineTool<Input extends z.ZodObject = z.ZodObject<Record<never, never>>>(
  definition: Definition<Input>,
): Tool {
  const input = definition.input ?? (z.object({}) as unknown as Input);
  const effect = definition.effect ?? 'read';
  return {
    idempotent: effect === 'read',
    openWorld: false,
    walletReadable: false,
    ...definition,
    effect,
    input,
    run: (args, caller) => definition.run(parseInput(input, args ?? {}), caller),
  };
}

/** The JSON of a service's answer. Throws an error with the service's own words when it refused. */
export function resultOf({ status, body }: Reply): unknown {
  if (status < 400) return body;
  const { error, hint } = (body ?? {}) as { error?: unknown; hint?: unknown };
  const words = typeof error === 'string' ? error : `HTTP ${status}`;
  throw new ToolFailure(typeof hint === 'string' ? `${words}. ${hint}` : words);
}

/** A call that came to nothing for a reason that the caller should read. */
export class ToolFailure extends Error {
  override name = 'ToolFailure';
}
