import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { RefusalCode } from '../../../streams/refusals.js';
import type { Caller } from './caller.js';
import type { Answer, Description, Exemplified, Refusals, Tag } from './description.js';
import { type Access, scope } from './rights.js';

export type { Caller } from './caller.js';
export type { Access } from './rights.js';

/** Where an operation is over HTTP, and where each member of its input is in a request. */
export interface Place {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With the input members that it contains in braces: `/channels/{name}/members`. */
  path: string;
  /** Members in the query. By default, all that are not in the path of a GET, and none of another method. */
  query?: readonly string[];
  /** Members in headers, with the header's name in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** Members that are not taken from requests. */
  without?: readonly string[];
}

/** The route of an operation in the public API. */
export interface HttpFace<Out = unknown> extends Place {
  /** Status of an answer if there are several; by default the lowest of `answers`. */
  status?(output: Out): number;
  /** Headers of an answer. */
  headersOf?(output: Out): Record<string, string>;
  /** The body, if the contract spells it in another way than the operation does. */
  view?(output: Out): unknown;
  /** Makes the input of a request that does not follow the rules of `Place`. */
  collect?(request: FastifyRequest): unknown;
  /** Answered by processes of every role, without a rate limit; but requests that are refused are limited like others. */
  inEveryRole?: boolean;
  /** Sends an output that is no JSON. */
  send?(reply: FastifyReply, output: Out): FastifyReply;
  /** `false`: no HEAD for this GET, because others do the work for it. */
  head?: false;
  /** `bytes`: the body comes exactly as it was sent. */
  body?: 'json' | 'bytes';
  /** Parts of the route's description that replace the derived ones. */
  describe?: Partial<Description>;
}

/** An operation as a tool for agents. */
export interface ToolFace<In extends z.ZodObject = z.ZodObject, Out = unknown> {
  name: string;
  title: string;
  /** For the agent that reads the list: what it does, when to use it and what it answers. */
  description: string;
  /** Names of parameters that differ from those of the input: `{ id: 'incident_id' }`. */
  rename?: Partial<Record<keyof z.output<In> & string, string>>;
  /** Members of the input that are not parameters. */
  without?: readonly (keyof z.output<In> & string)[];
  /** The parameters, if the rules above do not give them, and how they become the input. */
  parameters?: { schema: z.ZodObject; toInput(given: never): z.input<In> };
  /**
   * Shape of the result. `described` is that of the usual answer, with a list in `items`. None by default.
   */
  output?: z.ZodObject | 'described';
  /** The result, if it is not the output of the operation. */
  result?(output: Out): unknown;
  /** Whether it only reads (the default), changes something, or spends value that cannot be got back. */
  effect?: 'read' | 'change' | 'spend';
  /** Whether the same call twice changes no more than once; reads always do. */
  idempotent?: boolean;
  /** Whether it reaches beyond this network. */
  openWorld?: boolean;
  /** Whether a wallet's signature opens it too. */
  walletReadable?: boolean;
  /**
   * Whether only the tool server over standard input and output has it, which asks a running service for it with an
   * operator's key.
   */
  stdioOnly?: boolean;
  /** Whether only holders of agent keys have it, besides the tools of the contract. */
  ofAgents?: boolean;
}

/** The internal services of the contract. */
export type ServiceName =
  | 'bridge'
  | 'turnstile'
  | 'guardian'
  | 'mrserv'
  | 'channelserv'
  | 'sentinel'
  | 'multibrain'
  | 'verification';

/** Where an operation is when its internal service runs elsewhere. */
export interface RemoteFace<Out = unknown> extends Place {
  service: ServiceName;
  /** The body, if the status and headers say the rest of the output. */
  view?(output: Out): unknown;
  /** The output from such an answer; `undefined` if it is a refusal. */
  read?(answer: { status: number; headers: Headers; body: unknown }): Out | undefined;
  /** How long it may take at least, in milliseconds, if the usual time is too short. */
  timeoutMs?: number;
}

/**
 * Something that this service can be asked, described once. Its faces (route, description, tool, remote
 * service) are derived from this value. The output of an operation with a remote face is plain JSON, and its
 * parsed input can be parsed again.
 */
export interface Operation<Parts = unknown, In extends z.ZodObject = z.ZodObject, Out = unknown> {
  /** Unique; `operationId` in the description of the API. */
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** Who may call it; see `rights.ts`. */
  access: Access;
  input: In;
  /** Code of the refusal of an invalid input; `validation_failed` by default. */
  invalid?: RefusalCode;
  /** An input for readers of the description, if the examples of its members do not fit. */
  example?: Partial<z.input<In>>;
  /** The good answers, each under its HTTP status. The lowest status is the usual one. */
  answers: Record<number, Answer>;
  /** What it may be refused with, besides the refusals of every operation of its kind. */
  refusals: Refusals;
  http?: HttpFace<Out>;
  tool?: ToolFace<In, Out>;
  remote?: RemoteFace<Out>;
  run(input: z.output<In>, caller: Caller, parts: Parts): Promise<Out>;
}

// biome-ignore lint/suspicious/noExplicitAny: what holds operations of all kinds cannot name their types
export type AnyOperation = Operation<any, any, any>;

/**
 * The usual answer, in place of `answers`: its status (200 by default), its description, and its JSON body.
 */
interface UsualAnswer {
  status?: number;
  says?: string;
  output?: z.ZodType | Exemplified;
}

type WithDefaults = 'access' | 'input' | 'answers' | 'refusals' | 'tag' | 'summary';
type Definition<Parts, In extends z.ZodObject, Out> = Omit<Operation<Parts, In, Out>, 'id' | WithDefaults> &
  Partial<Pick<Operation<Parts, In, Out>, WithDefaults>> &
  UsualAnswer;

/** Makes an operation. By default it is open, without input and without a described answer. */
export function defineOperation<Out, Parts, In extends z.ZodObject = z.ZodObject<Record<never, never>>>(
  id: string,
  { status = 200, says, output, ...definition }: Definition<Parts, In, Out>,
): Operation<Parts, In, Out> {
  return {
    id,
    tag: 'System',
    summary: '',
    access: 'open',
    input: z.object({}) as unknown as In,
    answers: says === undefined ? {} : { [status]: { says, ...(output ? { body: bodyOf(output) } : {}) } },
    refusals: {},
    ...definition,
  };
}

/** Makes operations that have something in common, each like `defineOperation`. */
export function operationsOf(common: { tag: Tag; access?: Access }) {
  return <Out, Parts, In extends z.ZodObject = z.ZodObject<Record<never, never>>>(
    id: string,
    definition: Definition<Parts, In, Out>,
  ) => defineOperation(id, { ...common, ...definition });
}

/** Makes an operation for whoever runs the service. */
export const defineForOperators = operationsOf({ tag: 'Operations', access: scope('operate') });

const bodyOf = (output: z.ZodType | Exemplified): Exemplified =>
  output instanceof z.ZodType ? { schema: output } : output;
