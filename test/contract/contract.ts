import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { openApiDocument } from '../../src/openapi/document.js';
import { descriptions } from '../../src/openapi/index.js';

type Json = Record<string, unknown>;

/** An answer as it goes to the caller. */
export interface Exchange {
  method: string;
  /** Path and query as they were asked for. */
  url: string;
  /** The pattern of the route with its parameters in braces; `undefined` if no route was found. */
  route: string | undefined;
  status: number;
  contentType: string | undefined;
  /** The body; `undefined` for a stream, which ends at any time. */
  body: string | undefined;
}

/** The part of an answer that the description does not know. */
export interface Violation {
  exchange: Exchange;
  reason: string;
}

interface Described {
  content?: Record<string, unknown>;
}

const root = 'openapi';
/** Answers of the server itself, before it knows which operation is meant. */
const withoutRoute = new Set([400, 404, 405, 408, 413, 414, 415, 417, 429, 431, 500]);

/**
 * The description of the public API as a judge of its answers. Status, type and JSON body must be described.
 * An answer has no member that its schema does not name, unless the schema allows others.
 */
export class Contract {
  readonly #operations = new Map<string, Record<string, Described>>();
  readonly #ajv = new Ajv({ strict: false, allErrors: false, discriminator: false });
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(document: Json = openApiDocument(descriptions, 'http://localhost')) {
    // its types are those of a CommonJS module
    (formats as unknown as (ajv: Ajv) => void)(this.#ajv);
    this.#ajv.addSchema(judging(document) as Json, root);
    for (const [path, methods] of Object.entries(document.paths as Record<string, Json>)) {
      for (const [method, operation] of Object.entries(methods))
        this.#operations.set(
          `${method} ${path}`,
          (operation as { responses: Record<string, Described> }).responses,
        );
    }
  }

  /** Why an answer does not match the description; `undefined` if it does, or if it is about no operation. */
  reasonAgainst(exchange: Exchange): string | undefined {
    const { route, status } = exchange;
    const method = exchange.method.toLowerCase();
    if (method === 'options') return undefined;
    if (route === undefined) return this.#againstError(exchange);
    // HEAD is GET without a body, unless it is described
    const described = [method, ...(method === 'head' ? ['get'] : [])]
      .map((one) => [one, this.#operations.get(`${one} ${route}`)] as const)
      .find(([, responses]) => responses);
    if (!described) return undefined;
    const [one, responses] = described as [string, Record<string, Described>];
    const key = String(status) in responses ? String(status) : 'default';
    const response = responses[key];
    if (!response) return `${status} is not described`;
    return this.#againstContent(exchange, response, [...['paths', route, one, 'responses', key, 'content']]);
  }

  #againstError({ status, contentType, body, method }: Exchange): string | undefined {
    if (!withoutRoute.has(status)) return `${status} is not an answer where there is no route`;
    if (method === 'HEAD') return undefined;
    if (!/^application\/json\b/.test(contentType ?? '')) return `its type is ${contentType}`;
    return this.#againstSchema(body ?? '', ['components', 'schemas', 'Error']);
  }

  #againstContent(exchange: Exchange, { content }: Described, place: string[]): string | undefined {
    const { method, status, contentType, body } = exchange;
    if (!content) return body ? 'it has a body where none is described' : undefined;
    const type = contentType?.split(';')[0]?.trim().toLowerCase();
    // these have none, whatever their headers say
    if (method === 'HEAD' || ((status === 204 || status === 304) && body === '')) return undefined;
    if (type === undefined || !(type in content))
      return `its type is ${type} and not ${Object.keys(content).join(' or ')}`;
    if (body === undefined || !/json/.test(type)) return undefined;
    return this.#againstSchema(body, [...place, type, 'schema']);
  }

  #againstSchema(text: string, place: string[]): string | undefined {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return 'its body is not JSON';
    }
    const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
    let validate = this.#compiled.get(pointer);
    if (!validate) {
      validate = this.#ajv.compile({ $ref: `${root}#/${encodeURI(pointer)}` });
      this.#compiled.set(pointer, validate);
    }
    return validate(body) ? undefined : `body${said(validate.errors?.at(-1))}`;
  }
}

function said(error: ErrorObject | undefined): string {
  const extra = (error?.params as { additionalProperty?: string } | undefined)?.additionalProperty;
  return `${error?.instancePath ?? ''} ${error?.message ?? 'is wrong'}${extra ? `: ${extra}` : ''}`;
}

/** Schemas of OpenAPI 3.0 as JSON Schema. Objects are closed unless they are declared open. */
function judging(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(judging);
  if (typeof part !== 'object' || part === null) return part;
  const { nullable, ...schema } = Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, name === 'example' ? value : judging(value)]),
  );
  if (schema.exclusiveMinimum === true) {
    schema.exclusiveMinimum = schema.minimum;
    delete schema.minimum;
  }
  if (schema.exclusiveMaximum === true) {
    schema.exclusiveMaximum = schema.maximum;
    delete schema.maximum;
  }
  if (schema.type === 'object' && 'properties' in schema && !('additionalProperties' in schema))
    schema.additionalProperties = false;
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : schema;
}
