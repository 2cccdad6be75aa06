import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { operations } from '../../src/operations/index.js';
import { marketplaceRoutes } from '../../src/operations/marketplace/routes.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { sendJson, startMarketplace } from '../support/marketplace.js';
import { startNats } from '../support/nats.js';

const key = 'k'.repeat(40);
const keyed = { 'x-api-key': key, 'content-type': 'application/json' };
const fill = (path: string) => path.replace(/\{\w+\}/g, 'id-1');

async function stage(t: Test, settings: Record<string, string> = {}) {
  const nats = await startNats(t);
  const marketplace = await startMarketplace(t);
  const app = await startApp(t, {
    NATS_URL: nats.url,
    IRC_URL: 'irc://127.0.0.1:1',
    ROLES: 'api,projections',
    API_KEYS: `publisher:${key}`,
    EM_URL: `${marketplace.url}/base/`,
    EM_API_KEY: 'upstream-key',
    PROXY_TIMEOUT: '2000',
    ...settings,
  });
  const ask = async (method: string, path: string, init: RequestInit = {}) => {
    const response = await fetch(app.url + path, { method, ...init });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  const entries = async () => (await ask('GET', '/ops/audit', { headers: keyed })).body.entries;
  return { nats, marketplace, app, ask, entries };
}

t.test('a marketplace is there', async (t) => {
  const { marketplace, ask, entries } = await stage(t);
  t.beforeEach(() => {
    marketplace.seen = [];
    marketplace.answer = ({ method, url, body }, response) => sendJson(response, 200, { method, url, body });
  });

  t.test('EM-01 EM-02 every route goes on as it came', async (t) => {
    for (const { method, path } of Object.values(marketplaceRoutes)) {
      const body = method === 'POST' ? '{ "a":1.0,"ü":"\\u00fc" }' : undefined;
      const query = '?q=a%20b&limit=7&x=%2F..';
      const answer = await ask(method, `/em${fill(path)}${query}`, {
        ...(body ? { body } : {}),
        headers: body ? keyed : { 'x-api-key': key },
      });
      t.equal(answer.status, 200, `${method} ${path}`);
      t.match(answer.body, { method, url: `/base/api/v1${fill(path)}${query}`, body: body ?? '' });
    }
    t.equal(marketplace.seen.length, Object.keys(marketplaceRoutes).length);
    const bare = await ask('POST', '/em/tasks/7/approve', { headers: { 'x-api-key': key } });
    t.match(bare, { status: 200, body: { method: 'POST', body: '' } }, 'a body is not asked for');
    t.equal((await ask('POST', '/em/tasks/7/approve', { headers: keyed })).status, 200);
  });

  t.test('EM-02 what the marketplace refuses is passed back', async (t) => {
    marketplace.answer = (_request, response) =>
      sendJson(
        response,
        422,
        { detail: 'too little' },
        {
          'x-ratelimit-limit': '9',
          'set-cookie': 'a=b',
          server: 'x',
          'cache-control': 'public, max-age=60, s-maxage=9',
        },
      );
    const answer = await ask('POST', '/em/tips', { body: '{}', headers: keyed });
    t.match(answer, { status: 422, body: { detail: 'too little' } });
    t.equal(answer.headers.get('x-ratelimit-limit'), '9');
    t.equal(answer.headers.get('set-cookie'), null);
    t.equal(answer.headers.get('cache-control'), 'private, max-age=60', 'for its asker alone');
    marketplace.answer = (_request, response) => response.writeHead(204).end();
    t.match(await ask('DELETE', '/em/workers/available', { headers: { 'x-api-key': key } }), {
      status: 204,
      body: undefined,
    });
    marketplace.answer = (_request, response) => sendJson(response, 500, { error: 'ours' });
    t.match(await ask('GET', '/em/tasks/7'), { status: 500, body: { error: 'ours' } });
  });

  t.test('EM-06 credentials stay here', async (t) => {
    await ask('POST', '/em/tasks', {
      body: '{}',
      headers: {
        ...keyed,
        authorization: `Bearer ${key}`,
        cookie: 'session=1',
        'x-payment': 'proof',
        'x-forwarded-for': '10.0.0.1',
        'idempotency-key': 'once',
        te: 'trailers',
      },
    });
    const { headers } = marketplace.seen[0]!;
    t.equal(headers.authorization, 'Bearer upstream-key');
    t.equal(headers['idempotency-key'], 'once');
    for (const name of ['cookie', 'x-api-key', 'x-payment', 'x-forwarded-for', 'te'])
      t.notOk(name in headers, name);
    t.notMatch(JSON.stringify(headers), key);
  });

  t.test('EM-05 only published tasks are available', async (t) => {
    const tasks = [{ id: 1, status: 'published' }, { id: 2, status: 'accepted' }, null, { id: 3 }];
    for (const [sent, expected] of [
      [tasks, [tasks[0]]],
      [
        { tasks, count: 4, next: 'x' },
        { tasks: [tasks[0]], count: 1, next: 'x' },
      ],
      [
        { items: tasks, total: 90 },
        { items: [tasks[0]], total: 90 },
      ],
      [
        { items: tasks, tasks: [], categories: ['a', 'b'], facets: [{ name: 'x', n: 1 }], total: 4 },
        { items: [tasks[0]], tasks: [], categories: ['a', 'b'], facets: [{ name: 'x', n: 1 }], total: 1 },
      ],
      [
        { tasks: [{ id: 3 }], facets: [{ n: 1 }] },
        { tasks: [], facets: [{ n: 1 }] },
      ],
      ['text', 'text'],
    ]) {
      marketplace.answer = (_request, response) => sendJson(response, 200, sent, { etag: '"1"' });
      const answer = await ask('GET', '/em/tasks/available');
      t.same(answer.body, expected);
      t.equal(answer.headers.get('etag'), null);
    }
    marketplace.answer = (_request, response) => sendJson(response, 400, { tasks });
    t.match(await ask('GET', '/em/tasks/available'), { status: 400, body: { tasks } });
  });

  t.test('EM-04 a marketplace in trouble is a 502', async (t) => {
    const troubles: [string, typeof marketplace.answer][] = [
      ['marketplace_timeout', () => {}],
      ['marketplace_timeout', (_request, response) => response.writeHead(200).write('{')],
      ['marketplace_unreachable', (_request, response) => response.destroy()],
      [
        'marketplace_unreachable',
        (_request, response) => {
          response.writeHead(200, { 'content-length': '90' }).write('{}', () => response.destroy());
        },
      ],
      [
        'marketplace_invalid',
        (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      ],
      [
        'marketplace_invalid',
        (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a"'),
      ],
      [
        'marketplace_invalid',
        (_request, response) =>
          response.writeHead(200, { 'content-type': 'application/json' }).end(`"${'x'.repeat(9_000_000)}"`),
      ],
    ];
    for (const [code, answer] of troubles) {
      marketplace.answer = answer;
      const read = await ask('GET', '/em/tasks');
      t.match(read, { status: 502, body: { code, error: /task marketplace/ } });
      t.equal(read.headers.get('retry-after'), '5');
      marketplace.seen = [];
      const changed = await ask('POST', '/em/tasks/9/approve', { body: '{}', headers: keyed });
      t.match(changed, { status: 502, body: { code, hint: /not known/ } });
      t.equal(changed.headers.get('retry-after'), null, 'nobody is asked to repeat it blindly');
      t.equal(marketplace.seen.length, 1, 'EM-07 it was asked once');
      t.match((await entries())[0], { path: '/em/tasks/9/approve', status: 502, error: code });
    }
  });

  t.test('EM-13 strangers read what a wallet may read, and nothing else', async (t) => {
    const reads = Object.entries(marketplaceRoutes).filter(([, { method }]) => method === 'GET');
    const opened: string[] = [];
    for (const [id, { path }] of reads) {
      const answer = await ask('GET', `/em${fill(path)}`);
      if (answer.status === 200) opened.push(id);
      else t.match(answer, { status: 401, body: { code: 'api_key_required' } }, id);
      t.equal((await ask('GET', `/em${fill(path)}`, { headers: { 'x-api-key': key } })).status, 200, id);
    }
    t.same(opened, ['listTasks', 'availableTasks', 'searchTasks', 'getTask']);
    const forWallets = operations.filter(({ id, tool }) => id in marketplaceRoutes && tool?.walletReadable);
    t.same(
      opened,
      forWallets.map(({ id }) => id),
    );
    t.equal(marketplace.seen.length, reads.length + opened.length, 'nothing else went on');
  });

  t.test('EM-07 changes need a key', async (t) => {
    for (const { method, path } of Object.values(marketplaceRoutes).filter(
      ({ method }) => method !== 'GET',
    )) {
      const url = `/em${fill(path)}`;
      t.match(await ask(method, url), { status: 401, body: { code: 'api_key_required' } });
      t.match(await ask(method, url, { headers: { 'x-api-key': 'wrong' } }), {
        status: 401,
        body: { code: 'api_key_invalid' },
      });
    }
    t.same(marketplace.seen, [], 'nothing went on');
  });

  t.test('EM-08 no parameter reaches another path', async (t) => {
    for (const id of [
      '..',
      '%2e%2e',
      '%2e%2e%2fadmin',
      'a%2Fb',
      'a%5Cb',
      'a%3Fb',
      'a%23b',
      'a%00',
      'a%0d%0ab',
      '%252e',
    ]) {
      const answer = await ask('GET', `/em/escrow/${id}`, { headers: { 'x-api-key': key } });
      t.ok([400, 404].includes(answer.status), `${id}: ${answer.status}`);
      const posted = await ask('POST', `/em/tasks/${id}/approve`, { body: '{}', headers: keyed });
      t.ok([400, 404, 405].includes(posted.status), `${id}: ${posted.status}`);
    }
    t.same(marketplace.seen, []);
    t.match(await ask('GET', '/em/escrow/a%20b', { headers: { 'x-api-key': key } }), {
      status: 400,
      body: { code: 'validation_failed', details: [{ path: 'id' }] },
    });
  });

  t.test('EM-09 EM-10 every change is on record', async (t) => {
    const body = '{"task_id":"t-77","reason":"late"}';
    const answer = await ask('POST', '/em/disputes?x=1', { body, headers: keyed });
    t.equal(answer.status, 200);
    const list = await entries();
    t.match(list[0], {
      actor: 'publisher',
      method: 'POST',
      path: '/em/disputes',
      task_id: 't-77',
      status: 200,
      error: null,
      body_sha256: createHash('sha256').update(body).digest('hex'),
      request_id: String,
      at: /^\d{4}-/,
      ms: Number,
    });
    const ids = list.map(({ id }: { id: number }) => id);
    t.same(
      ids,
      [...ids].sort((a, b) => b - a),
      'newest first',
    );
    const two = await ask('GET', `/ops/audit?limit=2&before=${ids[1]}`, { headers: keyed });
    t.same(
      two.body.entries.map(({ id }: { id: number }) => id),
      ids.slice(2, 4),
    );
    for (const query of ['?limit=0', '?limit=501', '?limit=x', '?before=0']) {
      t.match(await ask('GET', `/ops/audit${query}`, { headers: keyed }), { status: 400 });
    }
    t.equal((await ask('GET', '/ops/audit')).status, 401);
  });
});

t.test('EM-09 no change is made that cannot be recorded', async (t) => {
  const { nats, marketplace, ask } = await stage(t);
  await nats.kill();
  const answer = await ask('POST', '/em/tips', { body: '{}', headers: keyed });
  t.match(answer, { status: 503, body: { code: 'log_unavailable' } });
  t.same(marketplace.seen, []);
  await nats.start();
  await eventually('the service to take changes again', async () => {
    return (await ask('POST', '/em/tips', { body: '{}', headers: keyed })).status === 200;
  });
});

t.test('EM-03 without a marketplace', async (t) => {
  const { ask } = await stage(t, { EM_URL: '' });
  for (const { method, path, ...route } of Object.values(marketplaceRoutes)) {
    const headers = 'list' in route ? {} : { 'x-api-key': key };
    const answer = await ask(method, `/em${fill(path)}`, { headers });
    if ('list' in route) t.match(answer, { status: 200, body: { tasks: [], hint: /EM_URL/ } }, path);
    else t.match(answer, { status: 503, body: { error: /not configured/, hint: /EM_URL/ } }, path);
  }
});

t.test('EM-04 a marketplace that is not there', async (t) => {
  const { ask } = await stage(t, { EM_URL: 'http://127.0.0.1:1' });
  t.match(await ask('GET', '/em/tasks'), {
    status: 502,
    body: { code: 'marketplace_unreachable', error: /unreachable/ },
  });
});
