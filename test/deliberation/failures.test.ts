import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { type Model, Models } from '../../workers/deliberation/model.js';
import { collectGarbage } from '../support/collecting.js';
import { sendJson } from '../support/marketplace.js';
import { chunk, plainly, type SeenCall, say, startStream, synthesis } from '../support/model-provider.js';
import { freePort } from '../support/ports.js';
import { deliberationStage } from './stage.js';

type Answer = (call: SeenCall, response: ServerResponse) => void | Promise<void>;

const refuse =
  (status: number, headers = {}): Answer =>
  (_call, response) =>
    sendJson(response, status, { error: { message: 'no', type: 'x' } }, headers);

/** Models that answer plainly, but for what a test says. */
async function failureStage(t: Test, environment: Record<string, string> = {}, fields = {}) {
  const stage = await deliberationStage(t, environment, fields);
  const { provider, ask } = stage;
  t.beforeEach(() => {
    provider.seen = [];
    provider.answer = plainly;
  });
  return {
    ...stage,
    /** Has the calls for one model answered otherwise. */
    but: (model: string, answer: Answer) => {
      provider.answer = (call, response) =>
        call.model === model && !call.isSynthesis ? answer(call, response) : plainly(call, response);
    },
    responseOf: async (id: string, model: string) =>
      (await ask('GET', `/multibrain/query/${id}/responses`)).body.find(
        (response: { model: string }) => response.model === model,
      ),
  };
}

t.test('models that fail', async (t) => {
  const { provider, ask, create, result, but, responseOf } = await failureStage(t);
  const costsOf = async (id: string) => (await ask('GET', `/multibrain/query/${id}/costs`)).body;
  t.test('BRAIN-09 one of three, and the others answer', async (t) => {
    but('two', refuse(400));
    const id = await create();
    t.match(await result(id), { status: 'completed', consensus: 'agreed' });
    t.match(await responseOf(id, 'two'), { content: null, error: 'model_refused', cost_usd: 0 });
    t.notMatch(provider.seen.at(-1)!.text, 'two says so');
    t.equal(provider.of('two').length, 1, 'BRAIN-15 a refusal for good is not repeated');
  });

  t.test('BRAIN-09 too few answers', async (t) => {
    but('two', refuse(401));
    const id = await create({ models: ['one', 'two'] });
    t.match(await result(id), {
      status: 'failed',
      error: 'too_few_answers',
      consensus: null,
      agreement: null,
    });
    t.match(await responseOf(id, 'two'), { error: 'model_unauthorized' });
    t.match(await responseOf(id, 'one'), { content: 'one says so' }, 'what was answered can be read');
    t.equal(provider.seen.filter(({ isSynthesis }) => isSynthesis).length, 0);
  });

  t.test('BRAIN-15 what is refused for now is tried three times', async (t) => {
    but('two', (call, response) => {
      if (provider.of('two').length < 3) refuse(503)(call, response);
      else plainly(call, response);
    });
    const id = await create({ models: ['one', 'two'] });
    t.match(await result(id), { status: 'completed' });
    t.equal(provider.of('two').length, 3);
    t.match((await costsOf(id)).by_model, [{ model: 'one' }, { model: 'two', calls: 3, estimated_usd: 0 }]);
    provider.seen = [];
    but('two', refuse(429, { 'retry-after': '1' }));
    const other = await create();
    t.match(await result(other), { status: 'completed' });
    t.match(await responseOf(other, 'two'), { error: 'model_rate_limited', cost_usd: 0 });
    t.equal(provider.of('two').length, 3);
  });

  t.test('BRAIN-15 an answer that breaks off is asked for once more, and counted', async (t) => {
    but('two', (call, response) => {
      if (provider.of('two').length > 1) return plainly(call, response);
      startStream(response);
      chunk(response, { content: 'half an ' });
      response.write('', () => response.destroy());
    });
    const id = await create({ models: ['one', 'two'] });
    t.match(await result(id), { status: 'completed' });
    t.match(await responseOf(id, 'two'), { content: 'two says so' });
    const { by_model } = await costsOf(id);
    t.ok(by_model[1].estimated_usd > 0, 'BRAIN-13');
    t.ok(by_model[1].estimated_usd < by_model[1].cost_usd);
    provider.seen = [];
    but('two', (_call, response) => void response.destroy());
    const other = await create();
    t.match(await result(other), { status: 'completed' });
    t.match(await responseOf(other, 'two'), { error: 'answer_lost' });
    t.equal(provider.of('two').length, 2);
  });

  t.test('BRAIN-15 a stream that ends before the answer does', async (t) => {
    but('two', (_call, response) => {
      startStream(response);
      chunk(response, { content: 'half' });
      response.end();
    });
    const id = await create();
    t.match(await result(id), { status: 'completed' });
    t.match(await responseOf(id, 'two'), { error: 'answer_lost' });
  });

  t.test('answers that are none', async (t) => {
    const answers: [string, Answer][] = [
      ['empty_answer', (call, response) => say(call, response, { content: ' ', finish: 'length' })],
      ['model_invalid_answer', (_call, response) => sendJson(response, 200, { choices: [] })],
      [
        'model_invalid_answer',
        (_call, response) => {
          startStream(response);
          response.end('data: {"choices"\n\n');
        },
      ],
      [
        'model_failed',
        (_call, response) => {
          startStream(response);
          chunk(response, { content: 'well' });
          response.end('data: {"error":{"message":"overloaded"}}\n\n');
        },
      ],
      ['model_timeout', refuse(504)],
    ];
    for (const [code, answer] of answers) {
      provider.seen = [];
      but('two', answer);
      const id = await create();
      t.match(await result(id), { status: 'completed' });
      t.match(await responseOf(id, 'two'), { error: code, content: null });
      t.equal(provider.of('two').length, 1, 'BRAIN-15 not asked again');
    }
  });

  t.test('an answer without end is cut', async (t) => {
    but('two', (call, response) => {
      startStream(response);
      const more = () => {
        for (let n = 0; n < 100; n++) chunk(response, { content: 'more and more '.repeat(100) });
        if (provider.open > 0 && !response.destroyed) setImmediate(more);
      };
      if (provider.of(call.model).length === 1) more();
    });
    const id = await create();
    t.match(await result(id), { status: 'completed' });
    const { content, error } = await responseOf(id, 'two');
    t.equal(error, null);
    t.ok(content.length > 250_000 && content.length <= 256 * 1024, `${content.length}`);
  });

  t.test('BRAIN-10 another model draws the answers together', async (t) => {
    provider.answer = (call, response) => {
      if (call.isSynthesis && call.model === 'one') return refuse(400)(call, response);
      if (call.isSynthesis) return say(call, response, { content: synthesis(`by ${call.model}`) });
      plainly(call, response);
    };
    t.match(await result(await create()), { status: 'completed', consensus: 'by two' });
    provider.answer = (call, response) =>
      call.isSynthesis ? refuse(400)(call, response) : plainly(call, response);
    t.match(await result(await create()), { status: 'failed', error: 'synthesis_failed' });
    provider.answer = (call, response) =>
      call.isSynthesis ? say(call, response, { content: 'All say yes.' }) : plainly(call, response);
    t.match(await result(await create()), {
      status: 'completed',
      consensus: 'All say yes.',
      agreement: null,
    });
  });
});

t.test('BRAIN-15 a provider that is not there', async (t) => {
  const { create, result, responseOf, ask } = await failureStage(
    t,
    {},
    { base_url: `http://127.0.0.1:${await freePort()}/v1` },
  );
  const id = await create({ models: ['one'] });
  t.match(await result(id), { status: 'failed', error: 'too_few_answers' });
  t.match(await responseOf(id, 'one'), { error: 'model_unreachable', cost_usd: 0 });
  t.match((await ask('GET', `/multibrain/query/${id}/costs`)).body, { calls: 3, cost_usd: 0 });
});

/** A model whose provider refuses the key and quotes it, and a question to it. */
async function quotedKey(t: Test) {
  const apiKey = 'sk-quoted-by-the-provider';
  const server = createServer((_request, response) =>
    sendJson(response, 401, { error: { message: `Incorrect API key provided: ${apiKey}.`, type: 'auth' } }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const model: Model = {
    id: 'one',
    name: 'one',
    provider: 'p',
    apiKey,
    capabilities: [],
    stream: false,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokensParameter: 'max_tokens',
    prices: { in: 1, out: 1 },
  };
  const asked = {
    messages: [{ role: 'user' as const, content: 'Hm?' }],
    maxTokens: 10,
    temperature: null,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  };
  return { model, asked };
}

t.test('BRAIN-23 a provider that quotes the key', async (t) => {
  const { model, asked } = await quotedKey(t);
  const failure = await new Models().ask(model, asked).then(
    () => t.fail('it was refused'),
    (error: Error) => error,
  );
  t.match(failure, { code: 'model_unauthorized', message: /Incorrect API key provided: \*\*\*\./ });
});

t.test('a client that could not be made is made for the next question', async (t) => {
  const { model, asked } = await quotedKey(t);
  const { baseUrl } = model;
  let failures = 1;
  Object.defineProperty(model, 'baseUrl', {
    get: () => {
      if (failures-- > 0) throw new Error('not now');
      return baseUrl;
    },
  });
  const models = new Models();
  await t.rejects(models.ask(model, asked), { code: 'model_refused', message: 'not now' });
  await t.rejects(models.ask(model, asked), { code: 'model_unauthorized' }, 'the provider is reached');
});

t.test('BRAIN-16 a model that is too slow, at once or in the middle', async (t) => {
  // what is to end a call must not be collected while it lasts
  collectGarbage(t);
  const { provider, create, result, but, responseOf } = await failureStage(t, {
    DELIBERATION_CALL_TIMEOUT_MS: '4000',
  });
  for (const answer of [
    () => {},
    (_call: SeenCall, response: ServerResponse) => {
      startStream(response);
      chunk(response, { content: 'well, ' });
    },
  ]) {
    provider.seen = [];
    but('three', answer);
    const id = await create();
    t.match(await result(id), { status: 'completed' });
    const response = await responseOf(id, 'three');
    t.match(response, { error: 'model_timeout', content: null });
    t.ok(response.timing_ms >= 3_900, `${response.timing_ms} ms`);
    t.ok(response.cost_usd > 0, 'BRAIN-13 it may have been paid');
    t.equal(provider.of('three').length, 1, 'BRAIN-15 not asked again');
  }
});

t.test('BRAIN-12 what a query may cost', async (t) => {
  // each token out is two millionths of a dollar, each byte in one at most
  const { provider, ask, create, result } = await deliberationStage(t, { DELIBERATION_MAX_COST_USD: '0.04' });
  provider.answer = (call, response) => plainly(call, response);

  t.test('not even the first round', async (t) => {
    const id = await create({ maxTokens: 16_384 });
    t.match(await result(id), { status: 'failed', error: 'cost_ceiling' });
    t.equal(provider.seen.length, 0);
    t.equal((await ask('GET', `/multibrain/query/${id}/costs`)).body.cost_usd, 0);
  });

  t.test('a debate ends where the money does, and is drawn together all the same', async (t) => {
    provider.answer = (call, response) => {
      if (call.isSynthesis) return say(call, response, { content: synthesis('agreed'), usage: [3_000, 100] });
      const tokensIn = Math.ceil(call.text.length / 4);
      say(call, response, { content: 'yes '.repeat(1_000), usage: [tokensIn, 1_000] });
    };
    const id = await create({ strategy: 'debate', maxTokens: 1_000 });
    t.match(await result(id), { status: 'completed', consensus: 'agreed' });
    const { body } = await ask('GET', `/multibrain/query/${id}/responses`);
    const ceilings = body.filter(({ error }: { error: string }) => error === 'cost_ceiling');
    t.ok(ceilings.length > 0, 'some calls were not made');
    t.ok(
      body.every(({ round }: { round: number }) => round < 3),
      'nor the round after them',
    );
    const costs = (await ask('GET', `/multibrain/query/${id}/costs`)).body;
    t.ok(costs.cost_usd <= costs.ceiling_usd, `${costs.cost_usd}`);
    t.equal(costs.calls, provider.seen.length);
  });
});
