import { z } from 'zod';
import type { RefusalCode } from '../../streams/refusals.js';

/** The version of the agent-to-agent protocol that is spoken. */
export const protocolVersion = '0.3.0';

/** Error codes of JSON-RPC and of the protocol, by the codes that the catalogue of refusals has for them. */
const rpcCodes = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal_error: -32603,
  task_not_found: -32001,
  task_not_cancelable: -32002,
  push_not_supported: -32003,
  unsupported_operation: -32004,
  content_type_not_supported: -32005,
  no_extended_card: -32007,
} as const satisfies Partial<Record<RefusalCode, number>>;

/** A request that is answered with an error of JSON-RPC. */
export class RpcFault extends Error {
  override name = 'RpcFault';
  constructor(
    readonly kind: keyof typeof rpcCodes,
    message: string,
    /** The bad fields, with their paths. */
    readonly details?: readonly object[],
    /** What to do. */
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** The answer of one request. */
export type RpcAnswer = { jsonrpc: '2.0'; id: string | number | null } & (
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown } }
);

/** An error as it is answered. */
export function faultAnswer(
  id: string | number | null,
  { kind, message, details, hint }: RpcFault,
): RpcAnswer {
  return {
    jsonrpc: '2.0',
    id,
    error: {
      code: rpcCodes[kind],
      message,
      data: { code: kind, ...(details && { details }), ...(hint && { hint }) },
    },
  };
}

const Id = z.union([z.string().max(1_000), z.int(), z.null()]);

/** What makes a request one. Its method is looked at first, then its parameters, then its id. */
export const Envelope = z.object({
  jsonrpc: z.literal('2.0'),
  method: z.string(),
  params: z.unknown().optional(),
});

/** What a request has besides, so that it can be answered. */
export const Answerable = z.object({ id: Id });

/** The id of what may be no request at all, to answer it under; null where it has none. */
export function idOf(request: unknown): string | number | null {
  const id = Id.safeParse((request as { id?: unknown } | null)?.id);
  return id.success ? id.data : null;
}

const Part = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('text'), text: z.string() }),
  z.looseObject({ kind: z.literal('data'), data: z.record(z.string(), z.unknown()) }),
  z.looseObject({ kind: z.literal('file'), file: z.record(z.string(), z.unknown()) }),
]);
const Name = z.string().min(1).max(200);

/** What is said to an agent, or by one. */
export const Message = z.looseObject({
  kind: z.literal('message').default('message'),
  messageId: Name,
  role: z.enum(['user', 'agent']),
  parts: z.array(Part).min(1).max(100),
  taskId: Name.optional(),
  contextId: Name.optional(),
});
export type Message = z.output<typeof Message>;

/** Parameters of `message/send`. */
export const SendParams = z.object({
  message: Message,
  configuration: z
    .looseObject({
      acceptedOutputModes: z.array(z.string()).optional(),
      historyLength: z.int().min(0).optional(),
      pushNotificationConfig: z.unknown().optional(),
    })
    .optional(),
});

/** Parameters of `tasks/get` and `tasks/cancel`. */
export const TaskParams = z.object({ id: Name, historyLength: z.int().min(0).optional() });

/** What was asked and what came of it. */
export interface Task {
  kind: 'task';
  id: string;
  contextId: string;
  status: {
    state: 'completed' | 'failed' | 'input-required' | 'canceled';
    /** ISO 8601. */
    timestamp: string;
    message?: Message;
  };
  artifacts?: { artifactId: string; name: string; parts: unknown[] }[];
  history: Message[];
}
