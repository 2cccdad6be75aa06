import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { isExpected, type Refusal } from '../../streams/core/index.js';
import { withoutExample } from '../operations/core/example.js';
import type { Caller, Tier, Tool } from './tool.js';

/** How many tools a tier has, and what they can do. */
export interface TierCounts {
  tools: number;
  mutating: number;
  moves_money: number;
}

/** A call of a tool as it ended, for the log. */
export type ObserveCall = (call: {
  tool: string;
  tier: Tier;
  actor: string;
  ms: number;
  failed: boolean;
}) => void;

/** The JSON-RPC error of a tool that does not exist, and of one outside the caller's tier: they look alike. */
export class UnknownTool extends Error {
  readonly code = -32602;
  constructor(name: string) {
    super(`Unknown tool: ${name}`);
  }
}

/** The tools by tier, with their descriptions made once for all requests. */
export class ToolTable {
  readonly #tiers: Record<Tier, Map<string, Tool>>;
  readonly #lists: Record<Tier, ListedTool[]>;
  readonly #observe: ObserveCall | undefined;
  readonly #bug: ((error: unknown, tool: string) => void) | undefined;

  constructor(
    tools: readonly Tool[],
    told: { call?: ObserveCall; bug?: (error: unknown, tool: string) => void } = {},
  ) {
    const byName = (some: readonly Tool[]) => new Map(some.map((tool) => [tool.name, tool]));
    const readable = tools.filter(({ walletReadable }) => walletReadable);
    this.#tiers = { keyed: byName(tools), 'wallet-read': byName(readable) };
    this.#lists = { keyed: tools.map(listed), 'wallet-read': readable.map(listed) };
    this.#observe = told.call;
    this.#bug = told.bug;
  }

  list(tier: Tier): ListedTool[] {
    return this.#lists[tier];
  }

  counts(tier: Tier): TierCounts {
    const tools = [...this.#tiers[tier].values()];
    return {
      tools: tools.length,
      mutating: tools.filter(({ effect }) => effect !== 'read').length,
      moves_money: tools.filter(({ effect }) => effect === 'spend').length,
    };
  }

  /** Calls a tool. What goes wrong in it is a result that says so; throws `UnknownTool` only. */
  async call(name: string, args: unknown, caller: Caller): Promise<CallToolResult> {
    const tool = this.#tiers[caller.tier].get(name);
    if (!tool) throw new UnknownTool(name);
    const startedAt = performance.now();
    const end = (failed: boolean) => {
      const ms = Math.round((performance.now() - startedAt) * 10) / 10;
      this.#observe?.({ tool: name, tier: caller.tier, actor: caller.actor, ms, failed });
    };
    try {
      const result = await tool.run(args, caller);
      end(false);
      return {
        content: [{ type: 'text', text: JSON.stringify(result, null, 2) }],
        ...(tool.output ? { structuredContent: structured(result) } : {}),
      };
    } catch (error) {
      end(true);
      if (!isExpected(error)) this.#bug?.(error, name);
      return { content: [{ type: 'text', text: `Error: ${whatWentWrong(error)}` }], isError: true };
    }
  }
}

function listed({ name, title, description, input, output, ...tool }: Tool): ListedTool {
  const reads = tool.effect === 'read';
  return {
    name,
    title,
    description,
    inputSchema: schemaOf(input) as ListedTool['inputSchema'],
    ...(output ? { outputSchema: schemaOf(output) as NonNullable<ListedTool['outputSchema']> } : {}),
    annotations: {
      title,
      readOnlyHint: reads,
      ...(reads ? {} : { destructiveHint: tool.effect === 'spend' }),
      idempotentHint: tool.idempotent,
      openWorldHint: tool.openWorld,
    },
  };
}

/** In the dialect that clients of every age understand. */
function schemaOf(schema: z.ZodObject): unknown {
  return z.toJSONSchema(schema, { io: 'input', target: 'draft-7', override: withoutExample });
}

/** Structured content is an object: a list stands in `items`. */
function structured(result: unknown): Record<string, unknown> {
  return Array.isArray(result) ? { items: result } : (result as Record<string, unknown>);
}

function whatWentWrong(error: unknown): string {
  if (!isExpected(error)) return 'Something went wrong on our side';
  const { details, hint } = error.kind === 'refusal' ? error.extra : ({} as Refusal['extra']);
  if (details) return details.map(fieldAndFault).join('; ');
  return hint === undefined ? error.message : `${error.message}. ${hint}`;
}

function fieldAndFault({ path, message }: { path: string; message: string }): string {
  if (path === '') return message;
  return `${path}: ${message.startsWith(`${path} `) ? message.slice(path.length + 1) : message}`;
}
