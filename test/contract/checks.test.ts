import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import t from 'tap';
import { signBody } from '../../src/auth/webhook-signature.js';
import { webhookSecret } from '../support/app.js';
import { reportTo } from '../support/contract.js';
import { type Described, key } from './fuzz/requests.js';
import { fuzzStage } from './fuzz/stage.js';
import { edgeValues, type Strict, wrongBodies, wrongValues } from './wrong-values.js';

interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required: boolean;
  schema: Strict;
  example?: unknown;
}
interface Operation extends Omit<Described, 'parameters'> {
  parameters?: Parameter[];
  description?: string;
  security?: Record<string, unknown>[];
  responses: Record<string, { content?: Record<string, unknown> }>;
}
interface Sent {
  method?: string;
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  credential?: Record<string, string>;
}

/** Doors that have a protocol of their own: the fuzzer and their own tests look at what goes through. */
const otherProtocols = ['callTools', 'askAgent'];
/** What the marketplace decides: its routes pass on what they get. */
const isPassedOn = ({ path }: Operation) => path.startsWith('/em/');
const operators = { 'x-api-key': key };

t.test('OAS-15 what the description promises of each operation', { timeout: 300_000 }, async (t) => {
  const unknown = new Set<string>();
  reportTo(({ exchange: { method, route, status }, reason }) =>
    unknown.add(`${method} ${route} ${status}: ${reason}`),
  );
  const { url } = await fuzzStage(t, 1);
  const scopes = ['read', 'speak', 'rate', 'report', 'vote'];
  const issued = await fetch(`${url}/auth/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...operators },
    body: JSON.stringify({ nick: 'checker', scopes }),
  });
  const agents = { 'x-api-key': ((await issued.json()) as { key: string }).key };
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Strict> };
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
  );
  const ajv = new Ajv({ strict: false, coerceTypes: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'api', components: document.components });
  const whole = (schema: Strict): Strict =>
    schema.$ref ? whole(document.components.schemas[schema.$ref.split('/').at(-1)!]!) : schema;
  const isRight = (schema: Strict, value: unknown) =>
    ajv.validate(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')), value);
  const contentOf = ({ requestBody }: Operation) => requestBody?.content['application/json'];

  async function ask(operation: Operation, sent: Sent = {}) {
    const { parameters = [] } = operation;
    const of = (place: Parameter['in']) => parameters.filter((one) => one.in === place);
    const values = (place: Parameter['in']) =>
      Object.fromEntries(
        of(place)
          .filter(({ required }) => required)
          .map(({ name, example }) => [name, String(example)]),
      );
    const path = { ...values('path'), ...sent.path };
    const query = new URLSearchParams({ ...values('query'), ...sent.query });
    const target = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(path[name] ?? 'x'),
    );
    const content = contentOf(operation);
    const hasBody = content !== undefined && !['GET', 'HEAD'].includes(sent.method ?? operation.method);
    const body = hasBody ? JSON.stringify('body' in sent ? sent.body : content.example) : undefined;
    const signed =
      operation.operationId === 'receiveEvent'
        ? {
            'x-em-signature': signBody(webhookSecret, Buffer.from(body ?? '')),
            'x-em-timestamp': new Date().toISOString(),
          }
        : {};
    const answer = await fetch(`${url}${target}${query.size > 0 ? `?${query}` : ''}`, {
      method: sent.method ?? operation.method,
      redirect: 'manual',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...values('header'),
        ...signed,
        ...(sent.credential ?? operators),
        ...sent.headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const isStream = /event-stream/.test(answer.headers.get('content-type') ?? '');
    if (isStream) await answer.body?.cancel();
    const text = isStream ? '' : await answer.text();
    return { status: answer.status, headers: answer.headers, text };
  }
  const told = (
    { method, path }: Operation,
    what: string,
    { status, text }: { status: number; text: string },
  ) => `${method} ${path}, ${what}: ${status} ${text.slice(0, 200)}`;

  await t.test('wrong values are refused, each as a fault of the caller', async (t) => {
    let count = 0;
    const taken: string[] = [];
    const expectRefusal = async (operation: Operation, what: string, sent: Sent) => {
      count++;
      const answer = await ask(operation, sent);
      if (answer.status < 400 || answer.status >= 500) taken.push(told(operation, what, answer));
    };
    for (const operation of operations) {
      if (otherProtocols.includes(operation.operationId) || isPassedOn(operation)) continue;
      for (const { in: place, name, schema } of operation.parameters ?? []) {
        for (const { rule, value } of textsThatBreak(schema, place)) {
          const values = { [name]: value };
          const sent =
            place === 'path' ? { path: values } : place === 'query' ? { query: values } : { headers: values };
          await expectRefusal(operation, `${place} ${name} ${rule} ${value.slice(0, 60)}`, sent);
        }
      }
      const content = contentOf(operation);
      if (!content) continue;
      for (const { rule, value } of wrongBodies(whole(content.schema as Strict), content.example)) {
        if (isRight(content.schema as Strict, value)) continue;
        await expectRefusal(operation, `body ${rule} ${JSON.stringify(value).slice(0, 200)}`, {
          body: value,
        });
      }
    }
    t.same(taken, []);
    t.ok(count > 500, `${count} wrong requests`);
  });

  await t.test(
    'examples, and values at the edge of what is allowed, are no fault of their form',
    async (t) => {
      let count = 0;
      const refused: string[] = [];
      const expectTaken = async (operation: Operation, what: string, sent: Sent) => {
        count++;
        const credential = operation.description?.includes('for their own nick') ? agents : operators;
        const answer = await ask(operation, { credential, ...sent });
        if (
          /"code":"(validation_failed|bad_request|unsupported_media_type)"/.test(answer.text) &&
          answer.status >= 400
        )
          refused.push(told(operation, what, answer));
      };
      for (const operation of operations) {
        if (otherProtocols.includes(operation.operationId)) continue;
        await expectTaken(operation, 'example', {});
        for (const { in: place, name, schema } of operation.parameters ?? []) {
          if (place !== 'query') continue;
          for (const value of edgeValues(schema))
            await expectTaken(operation, `${name} ${String(value).slice(0, 60)}`, {
              query: { [name]: String(value) },
            });
        }
        const content = contentOf(operation);
        const { properties = {} } = content ? whole(content.schema as Strict) : {};
        for (const [name, schema] of Object.entries(properties)) {
          for (const value of edgeValues(whole(schema))) {
            const body = { ...(content!.example as object), [name]: value };
            if (isRight(content!.schema as Strict, body))
              await expectTaken(operation, `body ${name} ${String(value).slice(0, 60)}`, { body });
          }
        }
      }
      t.same(refused, []);
      t.ok(count > 200, `${count} right requests`);
    },
  );

  await t.test('what needs a credential is not answered without one, or with a wrong one', async (t) => {
    const open: string[] = [];
    for (const operation of operations) {
      const { security = [] } = operation;
      const needs = security.length > 0 && security.every((one) => Object.keys(one).length > 0);
      const byKey = security.some((one) => 'apiKey' in one);
      if (!needs || !byKey) continue;
      for (const credential of [{}, { 'x-api-key': 'nonsense' }, { authorization: 'Bearer nonsense' }]) {
        const answer = await ask(operation, { credential });
        if (answer.status !== 401) open.push(told(operation, JSON.stringify(credential), answer));
        else if (!answer.headers.has('www-authenticate'))
          open.push(told(operation, 'www-authenticate', answer));
      }
    }
    t.same(open, []);
  });

  await t.test(
    'methods that an address does not have are 405, and Allow names those that it has',
    async (t) => {
      const wrong: string[] = [];
      for (const [path, methods] of Object.entries(document.paths)) {
        const has = Object.keys(methods).map((method) => method.toUpperCase());
        const [operation] = operations.filter((one) => one.path === path);
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
          if (has.includes(method)) continue;
          const answer = await ask(operation!, { method });
          const allowed = (answer.headers.get('allow') ?? '').split(/, */);
          if (answer.status !== 405 || has.some((one) => !allowed.includes(one)))
            wrong.push(told({ ...operation!, method }, `Allow: ${allowed}`, answer));
        }
      }
      t.same(wrong, []);
    },
  );

  t.same([...unknown], [], 'every answer is one that the description has');
});

/** Texts of a parameter that break its schema. A text breaks no type where texts are wanted. */
function textsThatBreak(schema: Strict, place: Parameter['in']): { rule: string; value: string }[] {
  // lists are written in one text, which says nothing of the type
  if (schema.type === 'array') return [];
  return wrongValues(schema)
    .filter(({ value }) => typeof value === 'string' || typeof value === 'number')
    .filter(({ rule }) => rule !== 'type' || schema.type !== 'string' || schema.enum !== undefined)
    .map(({ rule, value }) => ({ rule, value: String(value) }))
    .filter(({ value }) => value !== '' || place === 'query')
    .filter(({ value }) => place !== 'header' || /^[\x20-\x7e]*$/.test(value));
}
