import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import pino from 'pino';
import t from 'tap';
import { z } from 'zod';
import { createServer } from '../../src/http/server.js';
import { openApiDocument, staysInHttp } from '../../src/openapi/document.js';
import { descriptions } from '../../src/openapi/index.js';
import { refusalResponses } from '../../src/openapi/refusals.js';
import { type Description, ErrorBody } from '../../src/operations/core/description.js';
import { docsRoutes } from '../../src/pages/docs.js';
import { MarketEvent } from '../../streams/events/event.js';
import { startApp } from '../support/app.js';
import { startNats } from '../support/nats.js';

const key = 'k'.repeat(40);
const withKey = { headers: { 'x-api-key': key } };

/** The path of an operation with its examples for parameters. */
function example({ path, params = {} }: (typeof descriptions)[number]): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name]!.example)));
}

t.test('OAS-01 OAS-03 OAS-04 the document by itself', async (t) => {
  const document = openApiDocument(descriptions, 'https://relay.example/') as {
    openapi: string;
    info: { version: string };
    servers: { url: string }[];
  };
  const result = await new Validator().validate(structuredClone(document));
  t.ok(result.valid, JSON.stringify(result.errors));
  t.match(document, {
    openapi: '3.0.3',
    info: { version: '1.1.0' },
    servers: [{ url: 'https://relay.example' }],
  });
  t.notMatch(JSON.stringify(document), /"\$schema"|"const":/, 'nothing that 3.0 does not know');
  t.equal(new Set(descriptions.map(({ id }) => id)).size, descriptions.length, 'each has an id of its own');
  for (const { id, path, params = {}, body, answers, summary } of descriptions) {
    t.ok(summary.length > 5, `${id} says what it does`);
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    t.same(Object.keys(params), names, `${id} describes its parameters`);
    for (const [name, { schema, example }] of Object.entries(params))
      t.ok(schema.safeParse(example).success, `${id} takes the example of ${name}`);
    if (body) t.ok(body.schema.safeParse(body.example).success, `${id} takes the example of its body`);
    for (const [status, answer] of Object.entries(answers)) {
      if (!answer.body) continue;
      const parsed = answer.body.schema.safeParse(answer.body.example);
      t.ok(parsed.success, `${id} may answer its example of ${status}: ${parsed.error?.message ?? ''}`);
    }
  }
});

t.test('OAS-13 every operation is described, and the document names whom to ask', async (t) => {
  const { info, paths } = openApiDocument(descriptions, 'https://relay.example/') as {
    info: { contact?: object };
    paths: Record<string, Record<string, { operationId: string; summary: string; description?: string }>>;
  };
  t.match(info.contact, { name: /\w/, url: 'https://relay.example' });
  for (const one of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const { operationId, summary, description = '' } = one;
    t.ok(description.length > 20, `${operationId} is described`);
    t.not(description, summary, `${operationId} says more than its summary`);
  }
});

t.test('OAS-12 patterns are those of ECMA-262 5.1, and examples of bodies match them', async (t) => {
  const document = openApiDocument(descriptions, 'https://relay.example');
  const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
    ([, text]) => JSON.parse(text!) as string,
  );
  t.ok(patterns.length > 20);
  for (const pattern of new Set(patterns)) {
    t.notMatch(pattern, /\\p\{|\\u\{|\(\?<|\\k</i, 'nothing that came later');
    t.ok(new RegExp(pattern), pattern);
  }
  const { event_id, source } = MarketEvent.shape;
  const [pattern] = patterns.filter((one) => one.includes('200b'));
  const asDescribed = new RegExp(pattern!);
  for (const text of ['execution-market', 'a b', 'é', '\u{1f600}'.repeat(200)])
    t.ok(asDescribed.test(text) && source.safeParse(text).success && event_id.safeParse(text).success, text);
  for (const text of ['', ' ', 'x'.repeat(201), '\u{1f600}'.repeat(201), 'a\ud83d', '\udc00a', 'a\nb'])
    t.ok(!asDescribed.test(text) && !source.safeParse(text).success, JSON.stringify(text));
  const differing: number[] = [];
  for (let code = 0; code < 0x10000; code++) {
    const printable = /[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(String.fromCharCode(code));
    if (asDescribed.test(`a${String.fromCharCode(code)}`) !== printable) differing.push(code);
  }
  t.same(differing, [], 'it says of each character what Unicode does');
  t.match(source.safeParse('a\u{e0001}').error?.issues, [{ message: /printable/ }], 'also beyond these');
  t.equal(source.safeParse('\u200b').error?.issues.length, 1, 'said once');
});

t.test('OAS-08 a linter finds nothing, and would find something', async (t) => {
  const problems = async (document: object) => {
    // its recommended rules, warnings as errors
    const config = await createConfig({ extends: ['recommended-strict'] });
    const found = await lintFromString({
      source: JSON.stringify(document),
      absoluteRef: '/openapi.json',
      config,
    });
    return found.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
  };
  const server = await createServer({ logger: pino({ level: 'silent' }), rateLimit: 0 });
  t.teardown(() => server.close());
  await server.register(docsRoutes, {
    document: () => openApiDocument(descriptions, 'https://relay.example'),
  });
  const { paths, ...said } = (await server.inject('/openapi.json')).json();
  t.same(await problems({ ...said, paths }), []);
  const twice = { ...paths, '/more': { get: { ...paths['/health'].get } } };
  t.match(await problems({ ...said, paths: twice }), [/operationId-unique/]);
  paths['/irc/stats'].get.responses[200].content['application/json'].example = { users: 'many' };
  t.match(await problems({ ...said, paths }), [/no-invalid-media-type-examples/]);
});

t.test('OAS-11 errors name their codes', async (t) => {
  const [{ method, path, id }] = descriptions.filter(({ access }) => access === 'key') as [Description];
  const refusing: Description = {
    id,
    method,
    path,
    tag: 'Identity',
    summary: 'Prove a wallet',
    access: 'key',
    answers: {},
    refusals: {
      challenge_expired: true,
      not_found: 'No such nick',
      challenge_signature_invalid: true,
    },
    errors: { 404: 'Nobody is linked' },
  };
  const document = openApiDocument([refusing], 'https://relay.example') as {
    paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
    components: { examples: Record<string, { value: unknown }> };
  };
  const { responses } = document.paths[path]![method]!;
  t.match(responses[410], {
    description: '`challenge_expired`: Challenge expired',
    content: { 'application/json': { examples: { challenge_expired: { $ref: String } } } },
  });
  t.match(responses[404], { description: 'Nobody is linked' }, 'the words of the operation come first');
  t.match(responses[400], { description: /`signature_invalid`: Invalid signature/ }, 'callers see the code');
  t.match(responses[401], {
    description: 'No API key, or one that is not known',
    content: { 'application/json': { examples: { api_key_required: {}, api_key_invalid: {} } } },
  });
  const named = [...JSON.stringify(responses).matchAll(/#\/components\/examples\/(\w+)/g)].map(
    ([, name]) => name!,
  );
  t.same(
    [...new Set(named)].sort(),
    Object.keys(document.components.examples).sort(),
    'each has its example',
  );
  for (const name of named)
    t.ok(ErrorBody.safeParse(document.components.examples[name]!.value).success, name);
  t.match(refusalResponses(['not_owner']), { 403: { description: /^`not_owner`: Only the key/ } });
});

t.test('OAS-02 OAS-05 OAS-06 the document and the service', async (t) => {
  const nats = await startNats(t);
  const app = await startApp(t, {
    NATS_URL: nats.url,
    IRC_URL: 'irc://127.0.0.1:1',
    ROLES: 'api,projections,services',
    API_KEYS: `ann:${key}`,
  });
  const said = (await (await fetch(`${app.url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const described = new Set(
    descriptions.map(({ method, path }) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
  );
  const known = new Set(
    app.server.routeTable
      .filter(({ method }) => method !== 'HEAD' && method !== 'OPTIONS')
      .map(({ method, url }) => `${method} ${url}`),
  );
  const undescribed = [...known].filter(
    (route) => !described.has(route) && !/^(GET|DELETE) \/mcp$|\/(docs|guide)\//.test(route),
  );
  t.same(undescribed, [], 'every route is described');
  t.same(
    [...described].filter((route) => !known.has(route)),
    [],
    'everything that is described is there',
  );
  const ofHttp = descriptions.filter(staysInHttp);
  t.equal(ofHttp.length, descriptions.length - 1, 'a socket is no operation of OpenAPI');
  t.equal(Object.values(said.paths).flatMap((path) => Object.keys(path)).length, ofHttp.length);

  for (const operation of ofHttp) {
    const { id, method, access = 'open', answers, query } = operation;
    if (method !== 'get' || id.startsWith('stream')) continue;
    const search = id === 'listReceivedEvents' ? '?from=1&to=2' : '';
    const keyed = await fetch(app.url + example(operation) + search, withKey);
    await isAsDescribed(id, keyed);
    // the marketplace's parameters are the marketplace's to judge
    if (query?.shape.limit && operation.tag !== 'Task marketplace')
      await isAsDescribed(id, await fetch(`${app.url}${example(operation)}?limit=0`, withKey), 400);
    if (access === 'key') await isAsDescribed(id, await fetch(app.url + example(operation)), 401);

    async function isAsDescribed(id: string, response: Response, status = response.status) {
      const text = await response.text();
      t.equal(response.status, status, `${id} answers ${status}`);
      const answer = answers[response.status];
      if (!answer) {
        const documented = JSON.stringify(documentedOf(id));
        t.match(documented, `"${response.status}"`, `${id} says that it may answer ${response.status}`);
        t.ok(ErrorBody.safeParse(JSON.parse(text)).success, `${id} errs as all do`);
        return;
      }
      const types = [answer.type ?? 'application/json'].flat();
      const type = response.headers.get('content-type')?.split(';')[0] ?? '';
      t.ok(types.includes(type), `${id} is ${types}, and not ${type}`);
      if (!/json/.test(type) || !answer.body) return;
      const parsed = strict(answer.body.schema).safeParse(JSON.parse(text));
      t.ok(parsed.success, `${id} answers what it says: ${parsed.error?.message ?? ''}`);
    }
  }

  function documentedOf(id: string): unknown {
    const all = Object.values(said.paths).flatMap((path) => Object.values(path)) as {
      operationId: string;
      responses: object;
    }[];
    return Object.keys(all.find(({ operationId }) => operationId === id)!.responses);
  }

  const page = await fetch(`${app.url}/docs`);
  const html = await page.text();
  t.match(page.headers.get('content-security-policy'), /default-src 'none'/);
  t.notMatch(html, /https?:\/\//, 'nothing from elsewhere');
  for (const [, path] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
    const file = await fetch(app.url + path);
    t.equal(file.status, 200, path!);
    t.ok((await file.text()).length > 10_000);
    t.equal(
      (await fetch(app.url + path, { headers: { 'if-none-match': file.headers.get('etag')! } })).status,
      304,
    );
  }
});

/** A field that the description does not name is a mistake in the description, unless it allows any. */
function strict(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject && !schema.def.catchall) {
    return schema.strict();
  }
  return schema;
}
