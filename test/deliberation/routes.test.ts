import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { plainly, startProvider } from '../support/model-provider.js';
import { startNats } from '../support/nats.js';
import { temporaryDirectory } from '../support/sql.js';
import { analyst, callsOf, deliberationStage, modelsFile, other, startArea } from './stage.js';

const unknown = '00000000-0000-4000-8000-000000000000';

t.test('the routes', async (t) => {
  const { provider, ask, create, result } = await deliberationStage(t);
  const anonymous = {};
  t.beforeEach(() => {
    provider.answer = plainly;
  });

  t.test('models', async (t) => {
    const { status, body } = await ask('GET', '/multibrain/models', undefined, anonymous);
    t.equal(status, 200);
    t.same(body[0], {
      id: 'one',
      provider: 'test',
      capabilities: ['chat'],
      price_usd_per_million_tokens: { in: 1, out: 2 },
    });
    t.equal(body.length, 3);
    t.notMatch(JSON.stringify(body), provider.url, 'where they are is not for everybody');
  });

  t.test('BRAIN-01 what is wrong with a query', async (t) => {
    const cases: [object | string, string][] = [
      [{}, 'prompt'],
      [{ prompt: ' ' }, 'prompt'],
      [{ prompt: 'x'.repeat(20_001) }, 'prompt'],
      [{ prompt: 'x', models: [] }, 'models'],
      [{ prompt: 'x', models: ['one', 'four'] }, 'models.1'],
      [{ prompt: 'x', models: ['one', 'one'] }, 'models.1'],
      [{ prompt: 'x', models: 'one' }, 'models'],
      [{ prompt: 'x', strategy: 'vote' }, 'strategy'],
      [{ prompt: 'x', maxTokens: 0 }, 'maxTokens'],
      [{ prompt: 'x', maxTokens: 1.5 }, 'maxTokens'],
      [{ prompt: 'x', maxTokens: 16_385 }, 'maxTokens'],
      [{ prompt: 'x', temperature: 2.1 }, 'temperature'],
      [{ prompt: 'x', systemPrompt: 7 }, 'systemPrompt'],
      [{ prompt: 'x', visibility: 'secret' }, 'visibility'],
      ['text', ''],
    ];
    for (const [body, path] of cases) {
      const answer = await ask('POST', '/multibrain/query', body);
      t.match(answer, { status: 400, body: { code: 'validation_failed', details: [{ path }] } }, path);
    }
    t.equal(provider.seen.length, 0);
  });

  t.test('BRAIN-01 BRAIN-04 from 201 over 202 to 200', async (t) => {
    const waiting: (() => void)[] = [];
    provider.answer = (call, response) => {
      if (call.isSynthesis) plainly(call, response);
      else waiting.push(() => plainly(call, response));
    };
    const before = provider.seen.length;
    const created = await ask('POST', '/multibrain/query', { prompt: ' Why? ' });
    const { id } = created.body;
    t.equal(created.status, 201);
    t.match(created.body, {
      id: /^[0-9a-f-]{36}$/,
      status: 'queued',
      strategy: 'consensus',
      visibility: 'unlisted',
      rounds: 1,
      models: ['one', 'two', 'three'],
      prompt: 'Why?',
      injections: 0,
      created_at: /Z$/,
      started_at: null,
      completed_at: null,
      timing_ms: null,
      error: null,
    });
    const pending = await ask('GET', `/multibrain/query/${id}/result`);
    t.match(pending, { status: 202, body: { id, status: /^(queued|running)$/ } });
    t.equal(pending.headers.get('retry-after'), '2');
    t.same((await ask('GET', `/multibrain/query/${id}/responses`)).body, []);
    t.match(await ask('GET', `/multibrain/query/${id}/costs`), { status: 200, body: { cost_usd: 0 } });
    await provider.untilSeen(before + 3);
    t.match(await ask('GET', `/multibrain/query/${id}`), {
      status: 200,
      body: { status: 'running', created_at: created.body.created_at, started_at: /Z$/ },
    });
    for (const answer of waiting) answer();
    t.match(await result(id), { status: 'completed', consensus: 'agreed' });
  });

  t.test('BRAIN-03 unknown queries', async (t) => {
    for (const id of [unknown, 'x', '*', '%3E', `${unknown}.x`]) {
      for (const path of ['', '/result', '/responses', '/costs', '/stream'])
        t.match(await ask('GET', `/multibrain/query/${id}${path}`), {
          status: 404,
          body: { code: 'not_found' },
        });
      t.equal((await ask('POST', `/multibrain/query/${id}/inject`, { content: 'x' })).status, 404);
      const changed = await ask('PATCH', `/multibrain/query/${id}/visibility`, { visibility: 'public' });
      t.equal(changed.status, 404);
    }
  });

  t.test('BRAIN-02 writes need a key', async (t) => {
    const id = await create();
    const writes: [string, string, object][] = [
      ['POST', '/multibrain/query', { prompt: 'x' }],
      ['POST', `/multibrain/query/${id}/inject`, { content: 'x' }],
      ['PATCH', `/multibrain/query/${id}/visibility`, { visibility: 'public' }],
    ];
    for (const [method, path, body] of writes) {
      t.match(await ask(method, path, body, anonymous), { status: 401, body: { code: 'api_key_required' } });
      t.match(await ask(method, path, body, { 'x-api-key': 'wrong' }), { status: 401 });
    }
    t.match(await ask('GET', `/multibrain/query/${id}`, undefined, { 'x-api-key': 'wrong' }), {
      status: 401,
    });
    t.match(await ask('POST', `/multibrain/query/${id}/inject`, { content: '' }), { status: 400 });
    t.match(await ask('PATCH', `/multibrain/query/${id}/visibility`, { visibility: 'x' }), { status: 400 });
    await result(id);
  });

  t.test('BRAIN-02 BRAIN-03 BRAIN-05 who may see what', async (t) => {
    const ids = {
      public: await create({ visibility: 'public' }),
      unlisted: await create(),
      private: await create({ visibility: 'private' }),
    };
    const listed = async (headers: Record<string, string>, query = '') => {
      const { body } = await ask('GET', `/multibrain/queries?limit=3${query}`, undefined, headers);
      return body.queries.map(({ id }: { id: string }) => id);
    };
    for (const reader of [analyst, other, anonymous]) t.same(await listed(reader), [ids.public]);
    t.same(await listed(analyst, '&mine=true'), [ids.private, ids.unlisted, ids.public]);
    for (const reader of [other, anonymous]) t.same(await listed(reader, '&mine=true'), []);
    for (const reader of [other, anonymous]) {
      t.equal((await ask('GET', `/multibrain/query/${ids.unlisted}`, undefined, reader)).status, 200);
      for (const path of ['', '/result', '/responses', '/costs', '/stream']) {
        const answer = await ask('GET', `/multibrain/query/${ids.private}${path}`, undefined, reader);
        t.match(answer, { status: 404, body: { code: 'not_found' } }, path);
      }
    }
    const change = (id: string, visibility: string, headers = analyst) =>
      ask('PATCH', `/multibrain/query/${id}/visibility`, { visibility }, headers);
    t.match(await change(ids.private, 'public', other), { status: 404 });
    t.match(await change(ids.public, 'private', other), { status: 403, body: { code: 'not_owner' } });
    t.match(await ask('POST', `/multibrain/query/${ids.private}/inject`, { content: 'x' }, other), {
      status: 404,
    });
    t.match(await change(ids.private, 'public'), {
      status: 200,
      body: { id: ids.private, visibility: 'public' },
    });
    t.match(await change(ids.private, 'public'), { status: 200 }, 'once more changes nothing');
    t.same(await listed(anonymous), [ids.private, ids.public]);
    await Promise.all(Object.values(ids).map((id) => result(id)));
    t.same(await listed(anonymous, '&status=completed'), [ids.private, ids.public]);
    t.same(await listed(anonymous, '&status=failed'), []);
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'status=done', 'mine=perhaps'])
      t.match(await ask('GET', `/multibrain/queries?${query}`), {
        status: 400,
        body: { code: 'validation_failed' },
      });
  });

  t.test('BRAIN-11 twenty contexts and no more, however many come at once', async (t) => {
    const waiting: (() => void)[] = [];
    provider.answer = (call, response) => {
      if (call.isSynthesis) plainly(call, response);
      else waiting.push(() => plainly(call, response));
    };
    const before = provider.seen.length;
    const id = await create({ models: ['one', 'two'] });
    await provider.untilSeen(before + 2);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        ask('POST', `/multibrain/query/${id}/inject`, { content: `context-${n}.` }, n % 2 ? analyst : other),
      ),
    );
    t.equal(answers.filter(({ status }) => status === 200).length, 20);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const answer of refused) t.match(answer, { status: 409, body: { code: 'too_many_injections' } });
    for (const answer of waiting) answer();
    t.match(await result(id), { status: 'completed' });
    const { text } = provider.seen.at(-1)!;
    t.equal(text.match(/context-\d+\./g)?.length, 20, 'the synthesis has them all');
  });

  t.test('health and sums', async (t) => {
    t.match(await ask('GET', '/multibrain/health', undefined, anonymous), {
      status: 200,
      body: { status: 'ok', models: 3, queries: { queued: 0, running: 0 }, uptime: Number },
    });
    const { body } = await ask('GET', '/multibrain/costs/summary', undefined, anonymous);
    t.ok(body.cost_usd > 0);
    t.equal(body.calls, provider.seen.length);
  });
});

t.test('BRAIN-17 the service and its worker in another process', async (t) => {
  const nats = await startNats(t);
  const provider = await startProvider(t);
  const MODELS = await modelsFile(t, provider.url);
  const inner = await startArea(t, nats, { MODELS, ROLES: 'services,projections,workers' });
  const { url } = await startArea(t, nats, { ROLES: 'api', MULTIBRAIN_URL: `${inner.url}/multibrain` });
  const { ask, create, result } = callsOf(url);
  t.equal((await ask('GET', '/multibrain/models')).body.length, 3);
  const id = await create({ visibility: 'private' });
  t.match(await result(id), { status: 'completed' });
  t.equal((await ask('GET', `/multibrain/query/${id}`, undefined, other)).status, 404);
  t.match(await ask('POST', '/multibrain/query', {}), { status: 400, body: { code: 'validation_failed' } });
  const stream = await fetch(`${url}/multibrain/query/${id}/stream`, { headers: analyst });
  t.match(await stream.text(), /event: synthesis[\s\S]*event: done/);
  t.match(await ask('GET', '/multibrain/health'), { status: 200, body: { status: 'ok', models: 3 } });
  await inner.stop();
  t.match(await ask('GET', '/multibrain/models'), {
    status: 502,
    body: { code: 'upstream_unreachable', error: /multibrain/ },
  });
});

t.test('BRAIN-19 no models', async (t) => {
  const nats = await startNats(t);
  const { ask } = await startArea(t, nats, { ROLES: 'api,projections,workers' });
  t.same((await ask('GET', '/multibrain/models')).body, []);
  t.match(await ask('POST', '/multibrain/query', { prompt: 'x' }), {
    status: 503,
    body: { code: 'models_not_configured', hint: /MODELS/ },
  });
  t.match((await ask('GET', '/multibrain/health')).body, { status: 'not_configured', models: 0 });
});

t.test('BRAIN-02 without keys, for local callers', async (t) => {
  const nats = await startNats(t);
  const provider = await startProvider(t);
  const MODELS = await modelsFile(t, provider.url);
  const { ask, url } = await startArea(t, nats, { MODELS, API_KEYS: '' });
  const created = await ask('POST', '/multibrain/query', { prompt: 'x', visibility: 'private' }, {});
  t.equal(created.status, 201);
  const path = `/multibrain/query/${created.body.id}`;
  t.equal((await ask('GET', path, undefined, {})).status, 200);
  t.equal((await ask('GET', path, undefined, { 'x-forwarded-for': '10.0.0.1' })).status, 404);
  const remote = await ask('POST', '/multibrain/query', { prompt: 'x' }, { 'x-forwarded-for': '10.0.0.1' });
  t.match(remote, { status: 403, body: { code: 'api_keys_not_configured' } }, url);
});

t.test('a model that is not configured any more', async (t) => {
  const nats = await startNats(t);
  const provider = await startProvider(t);
  const MODELS = await modelsFile(t, provider.url);
  const { create } = await startArea(t, nats, { MODELS, ROLES: 'api,projections' });
  const id = await create();
  const path = join(await temporaryDirectory(t), 'models.json');
  const model = { provider: 'test', base_url: provider.url, price_in: 1, price_out: 2 };
  writeFileSync(
    path,
    JSON.stringify([
      { ...model, id: 'two' },
      { ...model, id: 'three' },
    ]),
  );
  const { ask, result } = await startArea(t, nats, { MODELS: path });
  t.match(await result(id), { status: 'completed' });
  const { body } = await ask('GET', `/multibrain/query/${id}/responses`);
  t.match(
    body.find((one: { model: string }) => one.model === 'one'),
    { error: 'model_unknown' },
  );
});
