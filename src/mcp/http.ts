import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isExpected, Refusal } from '../../streams/core/index.js';
import type { RefusalCode } from '../../streams/refusals.js';
import type { ApiKeys } from '../auth/api-keys.js';
import type { Wallets } from '../auth/erc8128/wallets.js';
import { rpcIdOf, sendRpcError } from '../http/json-rpc.js';
import { refuseOtherMethods } from '../http/other-methods.js';
import { parseInput } from '../operations/core/call.js';
import type { Caller } from '../operations/core/operation.js';
import { OwnKey, ownKeyHeader } from '../operations/marketplace/upstream.js';
import { answerEnveloped, type Posted, readEnvelope } from './envelope.js';
import { type PostAnswer, PostTransport } from './post-transport.js';
import type { Resources } from './resources.js';
import { capabilitiesWith, createToolServer, instructions, serverInfo } from './server.js';
import type { ToolTable } from './tools.js';

/** What the MCP endpoint works with. */
export interface McpOptions {
  table: ToolTable;
  resources?: Resources;
  keys: ApiKeys;
  wallets: Pick<Wallets, 'presented' | 'verify'>;
  /** The headers of a rejection that tell how to come in. */
  challenge(reason: string): Record<string, string>;
  /**
   * Hosts and origins, besides those of this machine, that may call: `relay.example`, `https://app.example`.
   */
  allowed: readonly string[];
  /** More hosts under which this may be called, at any port if they name none. */
  hosts?: readonly string[];
}

/** The names of the key path's refusals in `data.reason`. */
const keyReasons: Record<string, RefusalCode> = {
  api_key_required: 'credential_missing',
  api_key_invalid: 'api_key_invalid',
  api_keys_not_configured: 'api_key_not_configured',
};

/** `POST /mcp`: the tools, each request on its own. A signature opens the reads, a key everything. */
export async function mcpRoutes(app: FastifyInstance, options: McpOptions): Promise<void> {
  const { keys, challenge } = options;
  const answerTo = answerer(options);
  const lower = (words: readonly string[]) => new Set(words.map((one) => one.toLowerCase()));
  const hosts = lower(options.hosts ?? []);
  const allowed = lower([...options.allowed, ...hosts]);

  // the signature is over the bytes, so this route gets them unchanged
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  app.setErrorHandler((error, request, reply) => sendRpcError(error, request, reply, idOf(request)));

  const countOne = 'createRateLimit' in app ? app.createRateLimit() : undefined;
  const tooMany = (most: number, retryAfter: number) =>
    new Refusal('rate_limited', `Too many requests: at most ${most} a minute`, { retryAfter });

  app.post(
    '/mcp',
    { onRequest: async (request) => requireAllowed(request, allowed, hosts) },
    async (request, reply) => {
      const raw = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
      const caller = await callerOf(options, request, reply, raw).catch((error: unknown) => {
        if (!isExpected(error) || error.status !== 401) throw error;
        reply.headers(challenge(error.code));
        throw error;
      });
      const ownKey = ownKeyOf(request);
      const posted = parseMessages(raw);
      const { messages } = posted;
      // each message of a batch is a request; the first has been counted with the batch
      for (let more = messages.length - 1; more > 0; more -= 1) {
        const limit = await countOne?.(request);
        if (limit && !limit.isAllowed && limit.isExceeded) throw tooMany(limit.max, limit.ttlInSeconds);
      }
      keys.countMore(caller, messages.length - 1, reply);
      const { status, text } = await answerTo(posted, request.headers, { ...caller, ...ownKey });
      if (text === undefined) return await reply.code(status).send('');
      return await reply.code(status).type('application/json; charset=utf-8').send(text);
    },
  );

  refuseOtherMethods(app, { url: '/mcp', allowed: ['POST'] }, (request, reply) => {
    const refusal = new Refusal('method_not_allowed', 'This endpoint takes POST only');
    return sendRpcError(refusal, request, reply, null);
  });
}

/** The caller of a request with these bytes. Throws 401 for a missing or wrong credential. */
async function callerOf(
  { keys, wallets }: Pick<McpOptions, 'keys' | 'wallets'>,
  request: FastifyRequest,
  reply: FastifyReply,
  body: Buffer,
): Promise<Caller> {
  // a failed signature is not tried as a key, nor the other way round
  if (wallets.presented(request)) {
    const { address } = await wallets.verify(request, body);
    return { is: 'wallet', actor: address, cause: request.id };
  }
  try {
    const caller = await keys.requireCaller(request, reply);
    // without configured keys, a caller on this machine may do here what a key may
    return { ...(caller.is === 'local' ? { is: 'key', actor: caller.actor } : caller), cause: request.id };
  } catch (error) {
    const reason = isExpected(error) && keyReasons[error.code];
    if (!reason) throw error;
    // in words that know of wallets too
    throw new Refusal(reason);
  }
}

/** The headers that are looked at in the words of the routes of the marketplace. */
const Passed = z.object({ [ownKeyHeader]: OwnKey.optional() });

/** The caller's own credential of the marketplace, if there is one. Throws 400 `validation_failed` for one that is not one. */
function ownKeyOf({ headers }: FastifyRequest): Pick<Caller, 'marketplaceKey'> {
  const { [ownKeyHeader]: marketplaceKey } = parseInput(Passed, { [ownKeyHeader]: headers[ownKeyHeader] });
  return marketplaceKey === undefined ? {} : { marketplaceKey };
}

/** Answers messages, each request with a server of its own, in the version of the protocol that it is in. */
function answerer({ table, resources }: Pick<McpOptions, 'table' | 'resources'>) {
  const introduction = { info: serverInfo, capabilities: capabilitiesWith(resources), instructions };
  return async (posted: Posted, headers: FastifyRequest['headers'], caller: Caller): Promise<PostAnswer> => {
    const envelope = readEnvelope(posted, headers);
    if (envelope.is === 'refused') return envelope.answer;
    const { 'mcp-protocol-version': version } = headers;
    const server = createToolServer(table, caller, resources);
    const transport = new PostTransport();
    await server.connect(transport);
    // neither is closed: after the answers nothing is under way any more
    if (envelope.is === 'older')
      return await transport.exchange(posted.messages, typeof version === 'string' ? version : undefined);
    return await answerEnveloped(
      envelope.message,
      introduction,
      async (message) => (await transport.answersTo([message]))[0],
    );
  };
}

/**
 * A page of another site must not reach this server through a browser on this machine or in this network (DNS
 * rebinding). So the caller must say where it thinks it is, and where it comes from.
 */
function requireAllowed(
  { headers }: FastifyRequest,
  allowed: ReadonlySet<string>,
  hosts: ReadonlySet<string>,
): void {
  const known = (host: string, origin: string) =>
    /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/.test(host) || allowed.has(host) || allowed.has(origin);
  const host = headers.host?.toLowerCase() ?? '';
  const origin = headers.origin?.toLowerCase();
  const isKnownHost = known(host, host) || hosts.has(host.replace(/:\d+$/, ''));
  if (isKnownHost && (origin === undefined || known(origin.replace(/^https?:\/\//, ''), origin))) return;
  throw new Refusal('host_not_allowed');
}

/** The messages of a batch, or a single one. */
function parseMessages(raw: Buffer): Posted {
  let body: unknown;
  try {
    body = JSON.parse(raw.toString('utf8'));
  } catch {
    throw new Refusal('parse_error');
  }
  const found = (Array.isArray(body) ? body : [body]).map((one) => JSONRPCMessageSchema.safeParse(one));
  const messages = found.flatMap(({ data }) => (data ? [data] : []));
  if (messages.length === 0 || messages.length < found.length) throw new Refusal('invalid_request');
  return { messages, isBatch: Array.isArray(body) };
}

/** The id of the request that is answered, as far as it can be read. */
function idOf({ body }: FastifyRequest): string | number | null {
  try {
    return rpcIdOf(JSON.parse((body as Buffer).toString('utf8')));
  } catch {
    return null;
  }
}
