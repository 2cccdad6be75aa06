import type { IncomingHttpHeaders } from 'node:http';
import { ErrorCode, isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { RefusalCode } from '../../streams/refusals.js';
import { jsonOf } from '../stores/kept-answers.js';
import type { PostAnswer } from './post-transport.js';

/** The version of MCP in which each request says by itself which version it speaks. */
export const envelopedVersion = '2026-07-28';

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';
const infoKey = 'io.modelcontextprotocol/serverInfo';

/** Codes that this version has besides those of JSON-RPC. */
const headerMismatch = -32020;
const unsupportedVersion = -32022;
/** What is not there is a wrong parameter in this version. */
const noResource = -32002;

/** How long lists and texts may be kept by the one who asked, in milliseconds. */
const keepMs = 60_000;
/** Results that say how long they may be kept. */
const keepable: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'server/discover',
]);
/** Methods that came to their end with the older versions. */
const ended: ReadonlySet<string> = new Set(['initialize', 'ping']);
/** The parameter that `Mcp-Name` repeats. */
const named: Record<string, string> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** What a request carries: one message, or a list of them. */
export interface Posted {
  messages: readonly JSONRPCMessage[];
  isBatch: boolean;
}

/** How messages must be answered: as in the older versions, as in this one, or with an objection. */
export type Envelope =
  | { is: 'older' }
  | { is: 'enveloped'; message: JSONRPCMessage }
  | { is: 'refused'; answer: PostAnswer };

const metaOf = (message: JSONRPCMessage): Record<string, unknown> | undefined => {
  const { _meta } = ('params' in message ? message.params : undefined) ?? {};
  return typeof _meta === 'object' && _meta !== null ? (_meta as Record<string, unknown>) : undefined;
};
const says = (message: JSONRPCMessage) => versionKey in (metaOf(message) ?? {});

/** Reads which version messages speak. The body decides; the headers repeat it for proxies. */
export function readEnvelope({ messages, isBatch }: Posted, headers: IncomingHttpHeaders): Envelope {
  const [message] = messages;
  if (!message || isBatch) {
    if (!messages.some(says)) return { is: 'older' };
    return refused(undefined, ErrorCode.InvalidRequest, `A batch is not possible in ${envelopedVersion}`, {
      code: 'invalid_request',
      hint: 'Send each request on its own',
    });
  }
  const version = headerOf(headers, 'mcp-protocol-version');
  if (!says(message)) {
    if (version !== envelopedVersion || !('method' in message)) return { is: 'older' };
    if (!isJSONRPCRequest(message)) return { is: 'enveloped', message };
    return wrongEnvelope(message, versionKey, 'is missing');
  }
  const claimed = metaOf(message)![versionKey];
  if (typeof claimed !== 'string') return wrongEnvelope(message, versionKey, 'must be a text');
  if (claimed !== envelopedVersion)
    return refused(message, unsupportedVersion, `This server does not speak ${claimed.slice(0, 40)}`, {
      code: 'version_unsupported',
      supported: [envelopedVersion],
      requested: claimed.slice(0, 40),
      hint: `Ask again in ${envelopedVersion}, or begin with initialize to speak an older version`,
    });
  if (!isJSONRPCRequest(message)) return { is: 'enveloped', message };
  const capabilities = metaOf(message)![capabilitiesKey];
  if (typeof capabilities !== 'object' || capabilities === null)
    return wrongEnvelope(message, capabilitiesKey, 'must be an object');
  const field = named[message.method];
  const name = field && message.params?.[field];
  for (const [header, wanted] of [
    ['MCP-Protocol-Version', claimed],
    ['Mcp-Method', message.method],
    ...(typeof name === 'string' ? [['Mcp-Name', name] as const] : []),
  ] as const) {
    const sent = decoded(headerOf(headers, header.toLowerCase()));
    if (sent === wanted) continue;
    const wrong = sent === undefined ? 'is missing' : 'is not what the body says';
    return refused(message, headerMismatch, `${header} ${wrong}`, {
      code: 'header_mismatch',
      hint: `${header} repeats the body, so that proxies need not read it`,
    });
  }
  return { is: 'enveloped', message };
}

const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : undefined;
};

/** The text of a header; what is no ASCII is sent as `=?base64?…?=`. */
function decoded(text: string | undefined): string | undefined {
  const [, base64] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(text ?? '') ?? [];
  return base64 === undefined ? text : Buffer.from(base64, 'base64').toString('utf8');
}

function wrongEnvelope(message: JSONRPCMessage, key: string, wrong: string): Envelope {
  const path = `params._meta.${key}`;
  return refused(message, ErrorCode.InvalidParams, `${path} ${wrong}`, {
    code: 'validation_failed',
    details: [{ path, message: `${path} ${wrong}` }],
    hint: `In ${envelopedVersion} each request has ${versionKey} and ${capabilitiesKey}`,
  });
}

function refused(
  message: JSONRPCMessage | undefined,
  code: number,
  text: string,
  data: { code: RefusalCode } & Record<string, unknown>,
): Envelope & { is: 'refused' } {
  const id = message && 'id' in message ? (message.id ?? null) : null;
  const answer = { jsonrpc: '2.0', id, error: { code, message: text, data } };
  return { is: 'refused', answer: { status: 400, text: JSON.stringify(answer) } };
}

/** What this server says of itself, instead of at the begin of a session. */
export interface Introduction {
  info: { name: string; version: string };
  capabilities: object;
  instructions: string;
}

/** Answers one message of this version by a server of the older ones, which knows the same methods. */
export async function answerEnveloped(
  message: JSONRPCMessage,
  { info, capabilities, instructions }: Introduction,
  ask: (message: JSONRPCMessage) => Promise<JSONRPCMessage | undefined>,
): Promise<PostAnswer> {
  if (!isJSONRPCRequest(message)) return { status: 202 };
  const { id, method } = message;
  if (ended.has(method)) {
    const text = `There is no ${method} in ${envelopedVersion}`;
    const hint = 'server/discover says what this server can do';
    const { answer } = refused(message, ErrorCode.MethodNotFound, text, { code: 'unknown_method', hint });
    return { ...answer, status: 404 };
  }
  const introduction = { supportedVersions: [envelopedVersion], capabilities, instructions };
  const answer =
    method === 'server/discover'
      ? { jsonrpc: '2.0' as const, id, result: introduction as Record<string, unknown> }
      : await ask(message);
  if (answer && 'result' in answer)
    return { status: 200, text: `{"result":${resultText(method, answer.result, info)},${endOf(id)}` };
  if (!answer || !('error' in answer)) return { status: 202 };
  const { error } = answer;
  const code = error.code === noResource ? ErrorCode.InvalidParams : error.code;
  return {
    status: code === ErrorCode.MethodNotFound ? 404 : 200,
    text: `{"error":${JSON.stringify({ ...error, code })},${endOf(id)}`,
  };
}

const endOf = (id: string | number) => `"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;

/** A result with what this version adds to all of them. */
function resultText(method: string, result: Record<string, unknown>, info: Introduction['info']): string {
  const added = {
    resultType: 'complete',
    ...(keepable.has(method) ? { ttlMs: keepMs, cacheScope: 'private' } : {}),
    _meta: { ...(result._meta as object | undefined), [infoKey]: info },
  };
  if (result._meta !== undefined) return JSON.stringify({ ...result, ...added });
  // the text of what is answered again and again is there already
  const rest = jsonOf(result).slice(1);
  return `${JSON.stringify(added).slice(0, -1)}${rest === '}' ? rest : `,${rest}`}`;
}
