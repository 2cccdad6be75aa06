import { signBody } from '../../../src/auth/webhook-signature.js';
import { webhookSecret } from '../../support/app.js';
import type { Dice } from './dice.js';
import { anything, bytes, texts } from './hostile.js';
import { likely, type Schema, sampleOf, spoiled, words } from './schema.js';
import type { Wanted } from './wire.js';

/** The key that the service under test knows. */
export const key = 'f'.repeat(40);

/** An operation in the description of the API. */
export interface Described {
  operationId: string;
  method: string;
  path: string;
  parameters?: { in: 'path' | 'query' | 'header'; name: string; schema: Schema; example?: unknown }[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
}

/** A tool as the tool server lists it. */
export interface Listed {
  name: string;
  inputSchema: Schema;
  outputSchema?: Schema;
}

/** What requests are made from. */
export interface Sources {
  operations: Described[];
  named: Record<string, Schema>;
  tools: Listed[];
  /** Skills of the A2A agent. */
  skills: readonly string[];
}

const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'get',
  'F\0O',
];
const types = [
  ...[
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json; charset=utf-16',
    'text/plain',
  ],
  ...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/vnd.api+json'],
  ...['', '/', 'application/json, application/json', 'application/xml', 'a'.repeat(2_000)],
];

/** The request that a seed makes: valid, nearly valid or hostile, to any operation. */
export function requestOf(dice: Dice, sources: Sources): Wanted {
  const operation = dice.one(sources.operations);
  const wanted: Wanted = {
    method: operation.method.toUpperCase(),
    target: pathOf(operation, dice) + queryOf(operation, dice),
    headers: [],
    body: undefined,
  };
  const isRpc = operation.operationId === 'callTools' || operation.operationId === 'askAgent';
  const value = isRpc ? rpcOf(operation.operationId, dice, sources) : bodyOf(operation, dice, sources.named);
  if (value !== undefined) {
    const text = JSON.stringify(dice.chance(0.4) ? spoiled(value, dice) : value) ?? 'null';
    wanted.body = dice.chance(0.15) ? bytes(dice, text) : Buffer.from(text);
    wanted.headers.push(['Content-Type', dice.chance(0.07) ? dice.one(types) : 'application/json']);
  } else if (dice.chance(0.05)) {
    wanted.body = bytes(dice, '{"a":1}');
    wanted.headers.push(['Content-Type', dice.one(types)]);
  }
  wanted.headers.push(...credentialsOf(operation, wanted, dice), ...oddHeaders(dice));
  if (dice.chance(0.03)) wanted.method = dice.one(methods);
  if (dice.chance(0.02))
    wanted.target = dice.one([
      wanted.target.toUpperCase(),
      `/${wanted.target}`,
      `${wanted.target}/`,
      `/${dice.one(texts)}`,
      '*',
      'http://elsewhere.example/',
    ]);
  return wanted;
}

function pathOf({ path, parameters = [] }: Described, dice: Dice): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((one) => one.in === 'path' && one.name === name);
    const known = [String(parameter?.example), ...(likely[name] ?? words)];
    const text = dice.one(dice.chance(0.75) ? known : texts);
    return dice.chance(0.04) ? text : encoded(text);
  });
}

function queryOf({ parameters = [] }: Described, dice: Dice): string {
  const given = parameters
    .filter((one) => one.in === 'query' && dice.chance(0.6))
    .flatMap(({ name, schema }) => {
      const value = dice.chance(0.3) ? anything(dice, 4) : sampleOf(schema, dice);
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const pair = `${dice.chance(0.04) ? `${name}[]` : name}=${dice.chance(0.03) ? text : encoded(text ?? '')}`;
      return dice.chance(0.06) ? [pair, `${name}=${encoded(dice.one(texts))}`] : [pair];
    });
  if (dice.chance(0.08)) given.push(`${encoded(dice.one(texts))}=${encoded(dice.one(texts))}`);
  if (dice.chance(0.03))
    given.push(dice.one(['&&&', '=', '%', '__proto__[x]=1', `a=${'&a='.repeat(2_000)}`]));
  return given.length > 0 ? `?${given.join('&')}` : '';
}

/** Percent-encoded; a surrogate without its other half becomes the bytes that it would have. */
function encoded(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\0')).replaceAll(
    '%00',
    text.includes('\0') ? '%00' : '%ED%A0%80',
  );
}

function bodyOf({ requestBody }: Described, dice: Dice, named: Record<string, Schema>): unknown {
  const content = requestBody?.content['application/json'];
  if (!content || dice.chance(0.03)) return undefined;
  return dice.chance(0.3) ? content.example : sampleOf(content.schema, dice, named);
}

function rpcOf(id: string, dice: Dice, { tools, skills }: Sources): unknown {
  const envelope = (method: string, params: unknown) => ({
    jsonrpc: '2.0',
    id: dice.below(1_000),
    method,
    params,
  });
  if (id === 'askAgent') {
    const data = { skill: dice.one(skills), limit: dice.below(20) };
    const parts = dice.chance(0.6)
      ? [{ kind: 'data', data }]
      : [{ kind: 'text', text: dice.one([...skills, ...texts]) }];
    const message = { kind: 'message', messageId: dice.one(words), role: 'user', parts };
    return dice.one([
      envelope('message/send', { message }),
      envelope(dice.one(['tasks/get', 'tasks/cancel', 'tasks/resubscribe', 'message/stream']), {
        id: dice.one(words),
        message,
      }),
      envelope(
        dice.one(['tasks/pushNotificationConfig/set', 'agent/getAuthenticatedExtendedCard', dice.one(texts)]),
        anything(dice),
      ),
    ]);
  }
  const tool = dice.one(tools);
  const call = envelope('tools/call', { name: tool.name, arguments: sampleOf(tool.inputSchema, dice) });
  if (dice.chance(0.8)) return call;
  return dice.one<() => unknown>([
    () => envelope('tools/list', {}),
    () =>
      envelope('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'f', version: '1' },
      }),
    () => [call, envelope('ping', {})],
    () => ({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    () => envelope(dice.one(texts), anything(dice)),
  ])();
}

function credentialsOf({ operationId }: Described, { body }: Wanted, dice: Dice): Wanted['headers'] {
  if (operationId === 'receiveEvent' && dice.chance(0.85)) {
    return [
      ['X-EM-Signature', signBody(webhookSecret, body ?? Buffer.alloc(0))],
      ['X-EM-Timestamp', dice.chance(0.1) ? dice.one(texts) : new Date().toISOString()],
    ];
  }
  if (operationId === 'buyAccess' && dice.chance(0.6)) {
    const proof = {
      x402Version: dice.one([1, 2, 3]),
      scheme: 'exact',
      network: 'base',
      payload: anything(dice),
      accepted: anything(dice),
    };
    const value = dice.chance(0.8) ? Buffer.from(JSON.stringify(proof)).toString('base64') : dice.one(texts);
    return [[dice.one(['PAYMENT-SIGNATURE', 'X-PAYMENT']), value]];
  }
  if (dice.chance(0.7))
    return [
      dice.one([
        ['X-Api-Key', key],
        ['X-Mcp-Api-Key', key],
        ['Authorization', `Bearer ${key}`],
      ]),
    ];
  if (dice.chance(0.6)) return [];
  return dice.one<() => Wanted['headers']>([
    () => [['X-Api-Key', dice.one(texts)]],
    () => [['Authorization', dice.one([`Basic ${key}`, 'Bearer', `bearer ${key}`, dice.one(texts)])]],
    () => [
      ['X-Api-Key', key],
      ['X-Api-Key', 'wrong'],
    ],
    () => signatureOf(dice),
  ])();
}

/** Message signatures that look right from far enough. */
function signatureOf(dice: Dice): Wanted['headers'] {
  const now = Math.floor(Date.now() / 1_000);
  const components = dice.one([
    '"@authority" "@method" "@path" "content-digest"',
    '"@method"',
    '',
    '"\0"',
    texts.at(-1)!,
  ]);
  const keyid = dice.one([
    'erc8128:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    'erc8128:1:0x0',
    dice.one(texts),
  ]);
  const input = `eth=(${components});created=${now};expires=${now + dice.one([60, 300, 1e9])};nonce="${dice.one(words)}";keyid="${keyid}"`;
  const digest = dice.one(['sha-256=:AAAA:', 'sha-256=x', dice.one(texts)]);
  return [
    ['Signature-Input', dice.chance(0.7) ? input : dice.one(texts)],
    ['Signature', dice.chance(0.7) ? `eth=:${Buffer.alloc(65, 7).toString('base64')}:` : dice.one(texts)],
    ['Content-Digest', digest],
  ];
}

function oddHeaders(dice: Dice): Wanted['headers'] {
  if (dice.chance(0.8)) return [];
  const odd = (): [string, string] =>
    dice.one<() => [string, string]>([
      () => ['Host', dice.one(['evil.example', 'localhost:1', '[::1]', '', dice.one(texts)])],
      () => ['Origin', dice.one(['null', 'https://evil.example', dice.one(texts)])],
      () => ['Accept', dice.one(['*/*', 'text/html', 'application/xml;q=0.1', '', dice.one(texts)])],
      () => ['If-None-Match', dice.one(['*', '"x"', dice.one(texts)])],
      () => ['Last-Event-ID', dice.one(['0-0', '999999999999999999999-1', '-1', dice.one(texts)])],
      () => ['Idempotency-Key', dice.one(texts)],
      () => ['MCP-Protocol-Version', dice.one(['2025-06-18', '1999-01-01', dice.one(texts)])],
      () => ['A2A-Version', dice.one(['0.3', '9', dice.one(texts)])],
      () => ['X-Forwarded-For', dice.one(['10.0.0.1', dice.one(texts)])],
      () => ['Content-Encoding', dice.one(['gzip', 'identity', 'br'])],
      () => ['Access-Control-Request-Method', dice.one(['POST', dice.one(texts)])],
      () => ['Range', 'bytes=0-1'],
      () => ['Expect', dice.one(['100-continue', 'x'])],
      () => ['Prefer', 'x'.repeat(20_000)],
      () => [dice.one(['X-\u00e9', 'x y', 'X-Request-Id', '__proto__']), dice.one(texts)],
    ])();
  return [odd(), ...dice.some(2, odd)];
}
