import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type RefusalCode, refusals } from '../../streams/refusals.js';
import { errorAnswer, retryAfterOf } from './errors.js';

/** Error codes of JSON-RPC that refusals have; every other one is -32000. */
const protocolCodes: Record<string, number> = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
};
const refused = -32000;
const unauthorized = -32001;
const internal = -32603;

/** The error of an answer of JSON-RPC. */
export interface RpcError {
  code: number;
  message: string;
  data: Record<string, unknown>;
}

/** An expected error as JSON-RPC has it, with its HTTP status; `undefined` when it is a bug of ours. */
export function rpcAnswer(error: unknown): { status: number; error: RpcError } | undefined {
  const answer = errorAnswer(error as FastifyError);
  if (!answer) return undefined;
  const { error: message, code: name, ...rest } = answer.body;
  const data = { code: name, ...(answer.status === 401 ? { reason: name } : {}), ...rest };
  const code = answer.status === 401 ? unauthorized : (protocolCodes[name] ?? refused);
  return { status: answer.status, error: { code, message, data } };
}

/** Answers an error as JSON-RPC does, under the id of the request; a bug is logged with its stack. */
export function sendRpcError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string | number | null,
): FastifyReply {
  const known = rpcAnswer(error);
  if (!known) {
    request.log.error({ err: error, request_id: request.id }, 'request failed');
    const says = {
      code: internal,
      message: refusals.internal_error.says,
      data: { code: 'internal_error' satisfies RefusalCode, request_id: request.id },
    };
    return reply.code(500).send({ jsonrpc: '2.0', id, error: says });
  }
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  return reply.code(known.status).send({ jsonrpc: '2.0', id, error: known.error });
}

/** The id of what may be no request at all, as far as it can be read. */
export function rpcIdOf(value: unknown): string | number | null {
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
