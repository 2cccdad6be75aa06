import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { RefusalCode } from '../../../streams/refusals.js';
import type { Caller } from './caller.js';
import type { Answer, Description, Exemplified, Refusals, Tag } from './description.js';
import type { Access } from './rights.js';

export type { Caller } from './caller.js';
export type { Access } from './rights.js';

/** Where an operation is found over HTTP, and where each member of its input stands in a request. */
export interface Place {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** With the members of the input that stand in it in braces: `/channels/{name}/members`. */
  path: string;
  /** Members that stand in the query; all that are not in the path of a GET, none of another method. */
  query?: readonly string[];
  /** Members that stand in headers, with the header's name in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** Members that are not taken from requests. */
  without?: readonly string[];
}

/** The route of an operation in the public API. */
export interface HttpFace<Out = unknown> extends Place {
  /** Status of an answer where there are several; else the lowest of `answers`. */
  status?(output: Out): number;
  /** Headers of an answer. */
  headersOf?(output: Out): Record<string, string>;
  /** The body, where the contract spells it otherwise than the operation does. */
  view?(output: Out): unknown;
  /** Makes the input of a request that does not follow the rules of `Place`. */
  collect?(request: FastifyRequest): unknown;
  /** Answered by processes of every role, as often as somebody asks. */
  inEveryRole?: boolean;
  /** Sends an output that is no JSON. */
  send?(reply: FastifyReply, output: Out): FastifyReply;
  /** `false`: a GET cannot be asked for its headers alone, because others do the work for it. */
  head?: false;
  /** `bytes`: the body comes as it was sent, whatever it means. */
  body?: 'json' | 'bytes';
  /** What the description of the route has in place of what is derived. */
  describe?: Partial<Description>;
}

/** An operation as a tool for agents. */
export interface ToolFace<In extends z.ZodObject = z.ZodObject, Out = unknown> {
  name: string;
  title: string;
  /** What it does, when to use it and what it answers, for the agent that reads the list. */
  description: string;
  /** Names of parameters where they differ from those of the input: `{ id: 'incident_id' }`. */
  rename?: Partial<Record<keyof z.output<In> & string, string>>;
  /** Members of the input that are no parameters. */
  without?: readonly (keyof z.output<In> & string)[];
  /** The parameters, where the rules above do not give them, and how they become the input. */
  parameters?: { schema: z.ZodObject; toInput(given: never): z.input<In> };
  /** Shape of the result; `described` is the one of the usual answer, a list in `items`. None by default. */
  output?: z.ZodObject | 'described';
  /** The result, where it is not the output of the operation. */
  result?(output: Out): unknown;
  /** Whether it only reads (the default), changes something, or spends value that cannot be got back. */
  effect?: 'read' | 'change' | 'spend';
  /** Whether the same call twice changes no more than once; reads always do. */
  idempotent?: boolean;
  /** Whether it reaches beyond this network. */
  openWorld?: boolean;
  /** Whether a wallet's signature opens it too. */
  walletReadable?: boolean;
  /** Whether only the tool server on this machine has it, which asks a running service for it. */
  local?: boolean;
  /** Whether holders of agent keys alone have it, beside the tools of the contract. */
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

/** Where an operation is found when the internal service that it belongs to runs elsewhere. */
export interface RemoteFace<Out = unknown> extends Place {
  service: ServiceName;
  /** The body, where the status and headers say the rest of the output. */
  view?(output: Out): unknown;
  /** The output from such an answer; `undefined` where it is a refusal. */
  read?(answer: { status: number; headers: Headers; body: unknown }): Out | undefined;
  /** How long it may take at least, in milliseconds, where the usual time is too short. */
  timeoutMs?: number;
}

/**
 * Something that can be asked of this service, described once: its faces (route, description, tool, remote service) are
 * derived from this value. The output of one with a remote face is plain JSON, and its parsed input may be parsed again.
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
  /** Code of the refusal of an input that is not valid; `validation_failed` by default. */
  invalid?: RefusalCode;
  /** An input for readers of the description, where the examples of its members do not do. */
  example?: Partial<z.input<In>>;
  /** By status; the lowest is the usual one. */
  answers: Record<number, Answer>;
  /** What it may be refused with beside what every operation of its kind may. */
  refusals: Refusals;
  http?: HttpFace<Out>;
  tool?: ToolFace<In, Out>;
  remote?: RemoteFace<Out>;
  run(input: z.output<In>, caller: Caller, parts: Parts): Promise<Out>;
}

// biome-ignore lint/suspicious/noExplicitAny: what holds operations of all kinds cannot name their types
export type AnyOperation = Operation<any, any, any>;

/** The usual answer, in place of `answers`: its status (200 by default), what it says in words, and its JSON body. */
interface UsualAnswer {
  status?: number;
  says?: string;
  output?: z.ZodType | Exemplified;
}

type WithDefaults = 'access' | 'input' | 'answers' | 'refusals' | 'tag' | 'summary';
type Definition<Parts, In extends z.ZodObject, Out> = Omit<Operation<Parts, In, Out>, 'id' | WithDefaults> &
  Partial<Pick<Operation<Parts, In, Out>, WithDefaults>> &
  UsualAnswer;

/** Makes an operation: open, without input and without an answer to describe, unless said otherwise. */
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

const bodyOf = (output: z.ZodType | Exemplified): Exemplified =>
  output instanceof z.ZodType ? { schema: output } : output;
