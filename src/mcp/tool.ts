import type { z } from 'zod';

/** What a credential opens: everything over HTTP, or what a wallet's signature may read. */
export type Tier = 'keyed' | 'wallet-read';

/** Who calls a tool. */
export interface Caller {
  tier: Tier;
  /** Name of the key, or the wallet's address; it stands in the facts that the call causes. */
  actor: string;
  /** Id of the request that it came with, for facts to name as their cause. */
  cause?: string;
}

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
