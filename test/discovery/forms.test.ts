import type { AgentCard } from '@a2a-js/sdk';
import { OAuthProtectedResourceMetadataSchema } from '@modelcontextprotocol/sdk/shared/auth.js';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import t from 'tap';
import { documentsOf } from '../../src/pages/discovery/documents.js';
import { doorsAt } from './doors.js';

const documents = documentsOf(doorsAt('https://relay.example'));
const textOf = (path: string) => documents.find(({ paths }) => paths.includes(path))!.text;
const ajv = new Ajv({ strict: false });
(formats as unknown as (ajv: Ajv) => void)(ajv);

const text = { type: 'string', minLength: 1 };
const texts = { type: 'array', items: text, minItems: 1 };
const address = { type: 'string', format: 'uri' };
const object = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
});

/** What the specification of A2A 0.3.0 requires of a card: no package has its schema. */
const agentCard = object({
  protocolVersion: { const: '0.3.0' },
  name: text,
  description: text,
  version: text,
  url: address,
  preferredTransport: { enum: ['JSONRPC', 'GRPC', 'HTTP+JSON'] },
  capabilities: { type: 'object' },
  defaultInputModes: texts,
  defaultOutputModes: texts,
  skills: {
    type: 'array',
    minItems: 1,
    items: object({ id: text, name: text, description: text, tags: texts }),
  },
} satisfies Partial<Record<keyof AgentCard, object>>);

/** The form of server cards of MCP’s extension, version 1. */
const serverCard = object({
  $schema: { const: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json' },
  name: { type: 'string', pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$', maxLength: 200 },
  version: text,
  description: { type: 'string', minLength: 1, maxLength: 100 },
  remotes: {
    type: 'array',
    minItems: 1,
    items: object({ type: { enum: ['streamable-http', 'sse'] }, url: address }),
  },
});

/** RFC 9264: contexts with their links by relation; RFC 9727 wants the descriptions of each API there. */
const linkset = object({
  linkset: {
    type: 'array',
    minItems: 1,
    items: object(
      { anchor: address },
      {
        minProperties: 2,
        additionalProperties: {
          type: 'array',
          minItems: 1,
          items: object({ href: address }, { additionalProperties: { type: ['string', 'array'] } }),
        },
      },
    ),
  },
});

t.test('DISC-09 the documents have the forms that their specifications give them', async (t) => {
  for (const [path, schema] of [
    ['/.well-known/agent-card.json', agentCard],
    ['/mcp/server-card', serverCard],
    ['/.well-known/api-catalog', linkset],
  ] as const) {
    const validate = ajv.compile(schema);
    const document = JSON.parse(textOf(path)) as Record<string, unknown>;
    t.ok(validate(document), `${path} ${ajv.errorsText(validate.errors)}`);
    for (const name of schema.required)
      t.notOk(validate({ ...document, [name]: undefined }), `${path} would not do without ${name}`);
  }
  for (const path of ['', '/mcp']) {
    const metadata = JSON.parse(textOf(`/.well-known/oauth-protected-resource${path}`));
    const parsed = OAuthProtectedResourceMetadataSchema.safeParse(metadata);
    t.ok(parsed.success, `${path} ${parsed.error?.message ?? ''}`);
  }
});
