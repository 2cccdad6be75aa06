import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { isExpected, type Refusal, type Unavailable } from '../../streams/core/index.js';
import { refusals } from '../../streams/refusals.js';
import { type Call, inputOf, parseInput } from '../operations/core/call.js';
import { isOperator, type Scope } from '../operations/core/caller.js';
import { letPassIn, refuseMisspelt } from '../operations/core/misspelt.js';
import type { AnyOperation, Caller, ToolFace } from '../operations/core/operation.js';
import { ownNickMember, requireScope, scopeOf, withOwnNick } from '../operations/core/rights.js';
import { indentedJsonOf, jsonOf, keep } from '../stores/kept-answers.js';
import { listedSchema } from './schema.js';

/** What a credential opens: everything over HTTP, or what a wallet's signature may read. */
export type Tier = 'keyed' | 'wallet-read';

/** A tool as it is called: checked arguments, plain JSON as the result. */
export interface Tool {
  name: string;
  title: string;
  /** For the agent that reads the list: what it does, when to use it and what it answers. */
  description: string;
  input: z.ZodObject;
  /** Shape of its result, if the contract fixes one; a list is in `items`. */
  output?: z.ZodObject;
  /** Whether it only reads, changes something, or spends value that cannot be got back. */
  effect: 'read' | 'change' | 'spend';
  /** Whether the same call twice changes no more than once; reads always do. */
  idempotent: boolean;
  /** Whether it reaches beyond this network. */
  openWorld: boolean;
  /** Whether a wallet's signature opens it too. */
  walletReadable: boolean;
  /** Whether only holders of agent keys have it, besides the tools of the contract. */
  ofAgents: boolean;
  /** What an agent key must be good for. */
  scope: Scope;
  /** The parameter with the nick that the caller acts as. Holders of an agent key leave it out. */
  ownNick?: string;
  run(args: unknown, caller: Caller): Promise<unknown>;
}

/** The result of a listing. */
export interface ToolList extends Record<string, unknown> {
  tools: ListedTool[];
}

/** How many tools a tier has, and what they can do. */
export interface TierCounts {
  tools: number;
  mutating: number;
  moves_money: number;
}

/** A finished call of a tool, for the log. */
export type ObserveCall = (call: {
  tool: string;
  tier: Tier | 'agent';
  actor: string;
  ms: number;
  failed: boolean;
}) => void;

/**
 * The JSON-RPC error of a tool that does not exist, and of one outside the caller's tier: they look the same.
 */
export class UnknownTool extends Error {
  readonly code = -32602;
  readonly data: { code: 'unknown_tool'; nearest?: string; hint: string };

  /** `names` are the tools that the caller has. */
  constructor(name: string, names: readonly string[], tier: Tier | 'agent') {
    const nearest = nearestOf(name, names);
    super(`Unknown tool: ${name}${nearest ? `. Did you mean ${nearest}?` : ''}`);
    const hint = `tools/list names what you can call: ${names.length}.${
      tier === 'wallet-read'
        ? " A wallet's signature opens tools that read; a key opens more, see /auth.md."
        : ''
    }`;
    this.data = { code: 'unknown_tool', ...(nearest ? { nearest } : {}), hint };
  }
}

/** A name with at most so many wrong letters counts as a typing error. */
const mostWrong = 4;
const longestName = 64;

function nearestOf(name: string, names: readonly string[]): string | undefined {
  if (names.length === 0 || name.length > longestName) return undefined;
  const nearest = closest(name.toLowerCase(), names as string[]);
  const wrong = distance(name.toLowerCase(), nearest);
  return wrong <= mostWrong && wrong <= name.length / 2 ? nearest : undefined;
}

/**
 * The tools by tier. How a tool is listed is made once, when somebody asks for it: most of what a start would take goes into
 * the schemas.
 */
export class ToolTable {
  readonly #tiers: Record<Tier | 'agent', Map<string, Tool>>;
  readonly #listed = new Map<Tool, ListedTool>();
  readonly #lists = new Map<Tier, ToolList>();
  /** As holders of agent keys see them, by the scopes of their keys. */
  readonly #listsOfAgents = new Map<string, ToolList>();
  readonly #observe: ObserveCall | undefined;
  readonly #bug: ((error: unknown, tool: string) => void) | undefined;

  constructor(
    tools: readonly Tool[],
    told: { call?: ObserveCall; bug?: (error: unknown, tool: string) => void } = {},
  ) {
    const byName = (some: readonly Tool[]) => new Map(some.map((tool) => [tool.name, tool]));
    const contract = tools.filter(({ ofAgents }) => !ofAgents);
    const readable = contract.filter(({ walletReadable }) => walletReadable);
    this.#tiers = { keyed: byName(contract), 'wallet-read': byName(readable), agent: byName(tools) };
    this.#observe = told.call;
    this.#bug = told.bug;
  }

  /** The tools of a caller; the same value each time. */
  listFor(caller: Caller): ToolList {
    if (caller.is !== 'agent') return this.#listOf(isOperator(caller) ? 'keyed' : 'wallet-read');
    const good = caller.scopes.join(' ');
    let list = this.#listsOfAgents.get(good);
    if (!list) {
      const theirs = [...this.#tiers.agent.values()].filter(({ scope }) => caller.scopes.includes(scope));
      list = keep({ tools: theirs.map((tool) => forAgents(tool, this.#listedAs(tool))) });
      this.#listsOfAgents.set(good, list);
    }
    return list;
  }

  list(tier: Tier): ListedTool[] {
    return this.#listOf(tier).tools;
  }

  #listOf(tier: Tier): ToolList {
    const tools = () => [...this.#tiers[tier].values()].map((tool) => this.#listedAs(tool));
    const list = this.#lists.get(tier) ?? keep({ tools: tools() });
    this.#lists.set(tier, list);
    return list;
  }

  #listedAs(tool: Tool): ListedTool {
    const known = this.#listed.get(tool) ?? listed(tool);
    this.#listed.set(tool, known);
    return known;
  }

  counts(tier: Tier): TierCounts {
    const tools = [...this.#tiers[tier].values()];
    return {
      tools: tools.length,
      mutating: tools.filter(({ effect }) => effect !== 'read').length,
      moves_money: tools.filter(({ effect }) => effect === 'spend').length,
    };
  }

  /** The caller's tool with a name, and the tier that its credential opens. */
  #find(name: string, caller: Caller): { tier: Tier | 'agent'; tool: Tool | undefined } {
    const tier = isOperator(caller) ? 'keyed' : caller.is === 'agent' ? 'agent' : 'wallet-read';
    return { tier, tool: this.#tiers[tier].get(name) };
  }

  /** Calls a tool. An error in it is a result that says so; throws `UnknownTool` only. */
  async call(name: string, args: unknown, caller: Caller): Promise<CallToolResult> {
    const { tier, tool } = this.#find(name, caller);
    if (!tool)
      throw new UnknownTool(
        name,
        this.listFor(caller).tools.map((tool) => tool.name),
        tier,
      );
    const startedAt = performance.now();
    const end = (failed: boolean) => {
      const ms = Math.round((performance.now() - startedAt) * 10) / 10;
      this.#observe?.({ tool: name, tier, actor: caller.actor, ms, failed });
    };
    try {
      requireScope(caller, tool.scope);
      const result = await tool.run(args, caller);
      end(false);
      const ignored = takesMore(tool.input) ? [] : letPassIn(args, Object.keys(tool.input.shape));
      return {
        content: [{ type: 'text', text: textOf(result, tier) }],
        ...(tool.output ? { structuredContent: structured(result) } : {}),
        ...(ignored.length > 0 ? { _meta: { ignored_arguments: ignored } } : {}),
      };
    } catch (error) {
      end(true);
      if (!isExpected(error)) this.#bug?.(error, name);
      const code = isExpected(error) ? error.code : 'internal_error';
      const hint = hintOf(error);
      const said = [`Error: ${whatWentWrong(error)}`, `Code: ${code}`, ...(hint ? [`Hint: ${hint}`] : [])];
      return {
        content: said.map((text) => ({ type: 'text', text })),
        isError: true,
        _meta: { code, ...(isExpected(error) ? { status: error.status } : {}) },
      };
    }
  }
}

/** A result as JSON: for agents in as few tokens as it takes, else indented as in the contract. */
function textOf(result: unknown, tier: Tier | 'agent'): string {
  if (tier !== 'agent') return indentedJsonOf(result);
  return typeof result === 'object' && result !== null ? jsonOf(result) : JSON.stringify(result);
}

/** A tool as it is listed for callers whose nick is known: they need not name it. */
function forAgents(tool: Tool, found: ListedTool): ListedTool {
  if (tool.ownNick === undefined) return found;
  const required = found.inputSchema.required?.filter((name) => name !== tool.ownNick);
  return { ...found, inputSchema: { ...found.inputSchema, ...(required ? { required } : {}) } };
}

function listed({ name, title, description, input, output, ...tool }: Tool): ListedTool {
  const reads = tool.effect === 'read';
  const ofKeys = `Scope: ${tool.scope}${tool.ownNick ? ', for their own nick' : ''}.`;
  return {
    name,
    title,
    description: `${description} ${ofKeys}`,
    inputSchema: listedSchema(input, 'input') as ListedTool['inputSchema'],
    ...(output
      ? { outputSchema: listedSchema(output, 'output') as NonNullable<ListedTool['outputSchema']> }
      : {}),
    annotations: {
      readOnlyHint: reads,
      // only changes have further properties
      ...(reads ? {} : { destructiveHint: tool.effect === 'spend' }),
      ...(reads || tool.idempotent ? { idempotentHint: true } : {}),
      openWorldHint: tool.openWorld,
    },
  };
}

/** Structured content is an object: a list is in `items`. */
function structured(result: unknown): Record<string, unknown> {
  return Array.isArray(result) ? { items: result } : (result as Record<string, unknown>);
}

function whatWentWrong(error: unknown): string {
  if (!isExpected(error)) return refusals.internal_error.says;
  const { details } = extraOf(error);
  return details ? details.map(fieldAndFault).join('; ') : error.message;
}

/** What to do about a refusal; where fields are named, they say it. */
function hintOf(error: unknown): string | undefined {
  const { details, hint } = isExpected(error) ? extraOf(error) : {};
  return details ? undefined : hint;
}

const extraOf = (error: Refusal | Unavailable): Refusal['extra'] =>
  error.kind === 'refusal' ? error.extra : {};

function fieldAndFault({ path, message }: { path: string; message: string }): string {
  if (path === '') return message;
  return `${path}: ${message.startsWith(`${path} `) ? message.slice(path.length + 1) : message}`;
}

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
