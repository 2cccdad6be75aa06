import { z } from 'zod';
import { cardPaths } from '../a2a/card.js';
import { componentsOf, nonceAliases, signaturePolicy } from '../auth/erc8128/policy.js';
import type { Description } from '../operations/core/description.js';
import { Time } from '../operations/core/fields.js';
import { places } from './discovery/doors.js';

const Rpc = z.looseObject({ jsonrpc: z.literal('2.0'), id: z.unknown().optional() });
const RpcOrBatch = z.union([Rpc, z.array(Rpc).min(1)]);
const rpc = { schema: Rpc, example: { jsonrpc: '2.0', id: 1, result: {} } };
const rpcErrors = {
  400: { says: 'The body is not JSON-RPC', body: rpc },
  413: { says: 'The body is too large', body: rpc },
  415: { says: 'The body is not JSON', body: rpc },
  429: { says: 'Too many requests', body: rpc },
};
const json = (says: string, example: object) => ({
  200: { says, body: { schema: z.looseObject({}), example } },
});
const text = (says: string, type: string | string[] = 'text/markdown') => ({
  200: { says, type, body: { schema: z.string(), example: '# Relay Network' } },
});

const ifNoneMatch = {
  schema: z.string(),
  example: '"9kRr1cTq0bT9yS6mN1cF8uHw5eJ"',
  says: 'ETag of what the caller has',
};

/** A document that seldom changes, and is not sent twice. */
function document(
  id: string,
  path: string,
  [summary, description]: readonly [summary: string, description: string],
  answers: Description['answers'],
): Description {
  return {
    id,
    method: 'get',
    path,
    tag: 'Discovery',
    summary,
    description,
    headers: { 'If-None-Match': ifNoneMatch },
    answers: { ...answers, 304: { says: 'The caller has it already' } },
  };
}

const SignaturePolicy = z.looseObject({
  authority: z.string().describe('The host that is signed, over whichever address the API is reached'),
  supported_chains: z.array(z.int()),
  signing: z.looseObject({
    algorithm: z.string(),
    covered_components: z.array(z.string()),
    label: z.string(),
  }),
  policy: z.looseObject({ max_validity_sec: z.int(), clock_skew_sec: z.int(), nonce_ttl_sec: z.int() }),
});

const nonce: Description = {
  id: 'issueNonce',
  method: 'get',
  path: places.nonce,
  tag: 'Authentication',
  summary: 'A nonce for one signed request',
  description:
    'Put it into the signature of one request within `ttl_seconds`. A signature that is refused leaves it as it is.',
  answers: {
    200: {
      says: 'Good once, for ttl_seconds',
      body: {
        schema: z.object({
          nonce: z.string(),
          ttl_seconds: z.int(),
          expires_at: Time,
          message: z.string(),
        }),
        example: {
          nonce: 'mZ3kQ0b9s8V1xYfJ2cTnRw4eUaLd7hGi',
          ttl_seconds: 300,
          expires_at: '2026-01-31T12:05:00.000Z',
          message: 'Sign one request with this nonce within 300 seconds',
        },
      },
    },
  },
  errors: { 429: 'Too many nonces from this address, or outstanding', 503: 'Nonces cannot be stored now' },
};

/** Doors, and the documents about them. */
export const pageDescriptions: Description[] = [
  {
    id: 'getSkillVersion',
    method: 'get',
    path: places.skillVersion,
    tag: 'System',
    summary: 'The version of the skill for agents',
    description: 'When `version` is not the one that you know, read `install_url` again.',
    answers: {
      200: {
        says: 'Version and files',
        body: {
          schema: z.object({
            version: z.string(),
            released: Time,
            changelog: z.string().meta({ format: 'uri' }),
            files: z.array(z.string()),
            install_url: z.string().meta({ format: 'uri' }),
          }),
          example: {
            version: '1.0.0',
            released: '2026-01-31T12:00:00Z',
            changelog: 'https://relay.example/skill/CHANGELOG.md',
            files: ['SKILL.md'],
            install_url: 'https://relay.example/skill.md',
          },
        },
      },
    },
    errors: { 503: 'The skill cannot be read now' },
  },
  document(
    'getFrontPage',
    places.front,
    [
      'What this is, and every way in; a page to look at for browsers',
      'A request for `text/html` gets a page with the network live, any other gets Markdown.',
    ],
    text('The page', ['text/markdown', 'text/html']),
  ),
  document(
    'getFrontText',
    places.frontText,
    [
      'What this is, and every way in',
      'The Markdown of `GET /` under the address where programs look for it.',
    ],
    text('The page'),
  ),
  document(
    'getSkill',
    places.skill,
    [
      'How an agent uses this network',
      'Markdown with the addresses, names and limits of this network. Begin here.',
    ],
    text('The skill'),
  ),
  {
    ...document(
      'getSkillFile',
      '/skill/{file}',
      ['One of the skill’s files', '`GET /skill/version` lists their names.'],
      text('The file'),
    ),
    params: { file: { schema: z.string(), example: 'SKILL.md', says: 'Name of the file' } },
    errors: { 404: 'No such file' },
  },
  nonce,
  ...nonceAliases.map((path, index) => ({ ...nonce, id: `issueNonceAlias${index || ''}`, path })),
  document(
    'getSignaturePolicy',
    places.policy,
    [
      'How wallets sign, as it is enforced now',
      'Components, label, chain and times of ERC-8128 signatures, and the reasons of refusals.',
    ],
    {
      200: {
        says: 'The policy',
        body: {
          schema: SignaturePolicy,
          example: {
            supported: true,
            authority: 'relay.example',
            supported_chains: [signaturePolicy.chainId],
            signing: {
              algorithm: signaturePolicy.algorithm,
              covered_components: componentsOf({ hasQuery: true, hasBody: true }),
              label: signaturePolicy.label,
            },
            policy: { max_validity_sec: 300, clock_skew_sec: 30, nonce_ttl_sec: 300 },
          },
        },
      },
    },
  ),
  document(
    'getAuthGuide',
    places.authGuide,
    [
      'How to come in, to read',
      'Credentials, what each opens, and how to get it. Read it when an answer is 401, 402 or 403.',
    ],
    text('The guide'),
  ),
  document(
    'getProducerGuide',
    places.producers,
    [
      'How events are posted here, to read',
      'Event types with their fields, channels and lines, the signature, and all answers.',
    ],
    text('The guide'),
  ),
  document(
    'getProtectedResource',
    places.protectedResource,
    ['RFC 9728 metadata of the API', 'How callers authenticate, for programs.'],
    json('Metadata', { resource: 'https://relay.example' }),
  ),
  document(
    'getProtectedTools',
    places.protectedMcp,
    ['RFC 9728 metadata of the tools', 'The same for `POST /mcp`, where the 401 leads.'],
    json('Metadata', { resource: 'https://relay.example/mcp' }),
  ),
  document(
    'getAuthorizationServer',
    places.authorizationServer,
    [
      'RFC 8414 metadata of the authorization server, where OAuth is switched on',
      'Where programs register, send people to sign in, and get tokens. 404 where OAuth is off.',
    ],
    json('Metadata', { issuer: 'https://relay.example' }),
  ),
  document(
    'getServerCard',
    places.serverCard,
    ['The card of the tool server', 'Address, tiers, authentication and tools of `POST /mcp`.'],
    {
      200: {
        says: 'The card',
        type: 'application/mcp-server-card+json',
        body: { schema: z.looseObject({}), example: { name: 'example.relay/svc' } },
      },
    },
  ),
  document(
    'getOlderServerCard',
    places.olderServerCard,
    ['The card under its older address', 'The same document, for clients that look here.'],
    json('The card', { name: 'example.relay/svc' }),
  ),
  document(
    'getAiCatalog',
    places.aiCatalog,
    ['Where agents come in', 'The tool server and the A2A agent, with their cards.'],
    json('The catalog', { specVersion: '1.0' }),
  ),
  document(
    'getApiCatalog',
    places.apiCatalog,
    [
      'RFC 9727 catalog of the APIs',
      'Descriptions, guides and health of the API, the tool server and the agent.',
    ],
    {
      200: {
        says: 'A linkset',
        type: 'application/linkset+json',
        body: { schema: z.looseObject({}), example: { linkset: [] } },
      },
    },
  ),
  ...cardPaths.map((path, index) =>
    document(
      `getAgentCard${index || ''}`,
      path,
      [
        'The A2A card',
        'What the agent can be asked, and where. All places of the card have the same document.',
      ],
      json('The card', { protocolVersion: '0.3.0' }),
    ),
  ),
  document(
    'getAgentCardAtDoor',
    places.a2a,
    ['The A2A card, at the door itself', 'The same card, where messages are posted.'],
    json('The card', { protocolVersion: '0.3.0' }),
  ),
  document(
    'getApiDescription',
    places.openapi,
    ['This description', 'OpenAPI 3.0.3 of all routes, at the address of this service.'],
    json('OpenAPI 3.0.3', { openapi: '3.0.3' }),
  ),
  {
    ...document(
      'getGuide',
      places.guide,
      ['The documentation of this service, to read', 'Tutorials, guides and reference, with search.'],
      text('A page', 'text/html'),
    ),
    errors: { 404: 'The documentation was not built here' },
  },
  document(
    'getDocs',
    places.docs,
    ['This description, to read and try', 'A page that sends requests to this service.'],
    text('A page', 'text/html'),
  ),
  {
    id: 'callTools',
    method: 'post',
    path: places.mcp,
    tag: 'Agents',
    access: 'key or wallet',
    summary: 'The tool server (MCP, Streamable HTTP without sessions)',
    description:
      'JSON-RPC 2.0: `tools/list`, `tools/call`, and the same for resources and prompts. Errors are JSON-RPC errors. In 2026-07-28 each request says its version in `params._meta`, and the headers repeat it. In older versions clients begin with `initialize`.',
    headers: {
      'MCP-Protocol-Version': {
        schema: z.string(),
        example: '2025-06-18',
        says: 'A version that this server speaks: the one of `params._meta`, or the one that `initialize` answered',
      },
      'Mcp-Method': {
        schema: z.string(),
        example: 'tools/list',
        says: 'The method of the body, in 2026-07-28',
      },
      'Mcp-Name': {
        schema: z.string(),
        example: 'svc_list_channels',
        says: 'The name of the tool or prompt, or the address of the resource, in 2026-07-28',
      },
    },
    body: { schema: RpcOrBatch, example: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } },
    answers: {
      200: { says: 'The answer, or those to a batch', body: { ...rpc, schema: RpcOrBatch } },
      202: { says: 'Taken; there is nothing to answer' },
      ...rpcErrors,
      400: {
        says: 'The body is not JSON-RPC, the version is not spoken here, the headers are not as the body says, or X-EM-Api-Key is no key',
        body: rpc,
      },
      404: { says: 'There is no such method, in 2026-07-28', body: rpc },
      401: {
        says: 'Not let in; data.reason says why',
        headers: { 'WWW-Authenticate': 'How to come in' },
        body: rpc,
      },
      403: { says: 'The Host or Origin header is not one that may call', body: rpc },
      405: { says: 'Another method', body: rpc },
      503: { says: 'Nonces cannot be checked now', body: rpc },
      500: { says: 'A fault of this service', body: rpc },
    },
  },
  {
    id: 'askAgent',
    method: 'post',
    path: places.a2a,
    tag: 'Agents',
    summary: 'The agent that others ask (A2A 0.3.0)',
    description: 'JSON-RPC 2.0: `message/send`, `tasks/get`, `tasks/cancel`. Errors are JSON-RPC errors.',
    body: {
      schema: z.unknown(),
      example: {
        jsonrpc: '2.0',
        id: 1,
        method: 'message/send',
        params: {
          message: {
            kind: 'message',
            messageId: 'm-1',
            role: 'user',
            parts: [{ kind: 'data', data: { skill: 'list-channels' } }],
          },
        },
      },
    },
    answers: { 200: { says: 'The answer, also where it is an error', body: rpc }, ...rpcErrors },
  },
];
