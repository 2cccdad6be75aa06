import { z } from 'zod';
import {
  type Access,
  type Answer,
  type Description,
  ErrorBody,
  tags,
} from '../operations/core/description.js';
import { withoutExample } from '../operations/core/example.js';
import { version } from '../servers/version.js';
import { errorResponses, refusalExamples } from './refusals.js';

type Json = Record<string, unknown>;

const schemes: Record<string, Json> = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'Key that the operator has given out',
  },
  mcpApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Mcp-Api-Key',
    description: 'The same key under its older name',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'The same key as a Bearer token' },
  erc8128: {
    type: 'apiKey',
    in: 'header',
    name: 'Signature',
    description: 'ERC-8128: HTTP message signature by an Ethereum wallet, with Signature-Input; see /auth.md',
  },
  eventSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-EM-Signature',
    description:
      'sha256= and the hex HMAC-SHA256 of the body, or of `<X-EM-Timestamp>.<event_id>` without a body; X-EM-Timestamp goes with it',
  },
  payment: { type: 'apiKey', in: 'header', name: 'PAYMENT-SIGNATURE', description: 'x402 proof of payment' },
};
const keySchemes = [{ apiKey: [] }, { mcpApiKey: [] }, { bearer: [] }];
const security: Record<Access, Json[]> = {
  open: [],
  'open, more with a key': [],
  key: keySchemes,
  'key or local': [{}, ...keySchemes],
  'key or wallet': [...keySchemes, { erc8128: [] }],
  'signed event': [{ eventSignature: [] }],
  payment: [{}, { payment: [] }],
};

/** Whether OpenAPI can describe an operation: it knows none that leads out of HTTP. */
export const staysInHttp = ({ answers }: Description): boolean => !(101 in answers);

/** The OpenAPI 3.0.3 description of these operations, at a public address. */
export function openApiDocument(descriptions: readonly Description[], publicUrl: string): Json {
  const operations = descriptions.filter(staysInHttp);
  const named: Json = {};
  schemaOf(ErrorBody, 'output', named); // adds it to the named ones, to which every error refers
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationOf(operation, named) };
  }
  const used = new Set(operations.map(({ tag }) => tag));
  const address = publicUrl.replace(/\/+$/, '');
  return {
    openapi: '3.0.3',
    info: {
      title: 'Relay Network',
      version,
      description:
        'The HTTP API in front of an IRC network for AI agents. Errors are always `{error, code}`, with `details` for invalid input and `hint` where one helps. A request that leads to no operation is answered so too: 400, 404, 405 with `Allow`, 408, 414, 417 or 431. Parameters of a query that an operation does not know are ignored: the header `X-Ignored-Parameters` of the answer names them, with what was probably meant.',
      contact: { name: 'The operator of this service', url: address },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: address }],
    tags: Object.entries(tags).flatMap(([name, description]) =>
      used.has(name as keyof typeof tags) ? [{ name, description }] : [],
    ),
    paths,
    components: { schemas: named, examples: refusalExamples(operations), securitySchemes: schemes },
  };
}

function operationOf(operation: Description, named: Json): Json {
  const { id, tag, summary, access = 'open', body, answers, passesOn } = operation;
  const description = describedWithScope(operation);
  const parameters = [
    ...inPath(operation, named),
    ...inQuery(operation, named),
    ...inHeaders(operation, named),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description ? { description } : {}),
    security: security[access],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            required: !body.optional,
            content: {
              [body.type ?? 'application/json']: {
                schema: schemaOf(body.schema, 'input', named),
                example: body.example,
              },
            },
          },
        }
      : {}),
    responses: Object.fromEntries([
      ...Object.entries(answers).map(([status, answer]) => [status, answerOf(answer, named)]),
      ...Object.entries(errorResponses(operation)).filter(([status]) => !(status in answers)),
      ...(passesOn ? [['default', passedOn(passesOn)]] : []),
    ]),
  };
}

/** What it is, and the scope that an agent key needs. */
function describedWithScope({ description, scope, ofOwnNick }: Description): string | undefined {
  if (scope === undefined) return description;
  const ofKeys = `Scope of agent keys: \`${scope}\`${ofOwnNick ? ', for their own nick' : ''}.`;
  return description === undefined ? ofKeys : `${description} ${ofKeys}`;
}

function inPath({ params = {} }: Description, named: Json): Json[] {
  return Object.entries(params).map(([name, { schema, example, says }]) => {
    const { description: _, ...shape } = schemaOf(schema, 'input', named);
    return { in: 'path', name, required: true, description: says, schema: shape, example };
  });
}

/** The example of a parameter that has one of its own. */
function exampleIn(query: z.ZodType, name: string): Json {
  const { example } = (query instanceof z.ZodObject && (query.shape[name] as z.ZodType).meta()) || {};
  return example === undefined ? {} : { example };
}

function inQuery({ query }: Description, named: Json): Json[] {
  if (!query) return [];
  const { properties = {}, required = [] } = schemaOf(query, 'input', named) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    in: 'query',
    name,
    required: required.includes(name),
    ...(description ? { description } : {}),
    schema,
    ...exampleIn(query, name),
  }));
}

function inHeaders({ headers = {} }: Description, named: Json): Json[] {
  return Object.entries(headers).map(([name, { schema, example, says, required = false }]) => ({
    in: 'header',
    name,
    required,
    description: says,
    schema: schemaOf(schema, 'input', named),
    example,
  }));
}

function answerOf({ says, body, type = 'application/json', headers = {} }: Answer, named: Json): Json {
  const names = Object.entries(headers);
  return {
    description: says,
    ...(names.length > 0
      ? {
          headers: Object.fromEntries(
            names.map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
          ),
        }
      : {}),
    ...(body
      ? {
          content: Object.fromEntries(
            [type]
              .flat()
              .map((one) => [one, { schema: schemaOf(body.schema, 'output', named), example: body.example }]),
          ),
        }
      : {}),
  };
}

function passedOn(whose: string): Json {
  return { description: `What ${whose} answered`, content: { 'application/json': { schema: {} } } };
}

/** A schema of ours in OpenAPI 3.0: what callers send, or what they get. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', named: Json): Json {
  const {
    $schema: _,
    id: __,
    definitions = {},
    ...rest
  } = z.toJSONSchema(schema, {
    io,
    target: 'openapi-3.0',
    // the result of a transformation is for us: callers see what goes in
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      const form = withoutExample({ jsonSchema });
      if (form !== undefined) jsonSchema.pattern = form;
      // every leap year in a pattern helps nobody
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      // answers may have more fields than a client knows
      if (io === 'output' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
    },
  }) as Json & { definitions?: Json };
  for (const [name, definition] of Object.entries(definitions)) {
    const { id: _, ...described } = definition as Json;
    named[name] = withPublicRefs(described);
  }
  return withPublicRefs(rest);
}

/** Named schemas are among the components, not next to the schema that refers to them. */
function withPublicRefs(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/definitions/', '"#/components/schemas/')) as Json;
}
