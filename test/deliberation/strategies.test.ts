import t from 'tap';
import { say, synthesis } from '../support/model-provider.js';
import { analyst, deliberationStage } from './stage.js';

t.test('a query from its creation to its result', async (t) => {
  const { provider, ask, create, result } = await deliberationStage(t);
  t.beforeEach(() => {
    provider.seen = [];
  });

  t.test('BRAIN-04 BRAIN-06 BRAIN-13 consensus: each model once, at the same time', async (t) => {
    let waiting: (() => void)[] = [];
    provider.answer = (call, response) => {
      const answer = () => say(call, response, { content: `${call.model} says yes`, usage: [100, 50] });
      if (call.isSynthesis)
        return say(call, response, { content: synthesis('yes', 0.9, ['three hesitates']), usage: [300, 40] });
      waiting.push(answer);
      if (waiting.length === 3) for (const one of waiting) one();
    };
    const id = await create({ systemPrompt: 'Be brief.', temperature: 0.3, maxTokens: 77 });
    const body = await result(id);
    waiting = [];
    t.match(body, {
      id,
      status: 'completed',
      consensus: 'yes',
      agreement: 0.9,
      dissent: ['three hesitates'],
      models: ['one', 'two', 'three'],
      completed_at: /^\d{4}-.*Z$/,
      error: null,
    });
    t.equal(provider.seen.length, 4);
    const [first] = provider.seen;
    t.equal(first!.path, '/v1/chat/completions');
    t.match(first!.body, { max_tokens: 77, temperature: 0.3, stream: true });
    t.same(first!.messages, [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Is it so?' },
    ]);
    const drawn = provider.seen.find(({ isSynthesis }) => isSynthesis);
    for (const model of ['one', 'two', 'three']) t.match(drawn!.text, `${model} says yes`);
    t.equal(drawn!.model, 'one');

    const responses = (await ask('GET', `/multibrain/query/${id}/responses`)).body;
    t.same(responses.map(({ model }: { model: string }) => model).sort(), ['one', 'three', 'two']);
    t.match(responses[0], { round: 1, tokens: { in: 100, out: 50 }, cost_usd: 0.0002, error: null });
    t.match(responses[0].content, / says yes$/);
    t.type(responses[0].timing_ms, 'number');

    const { body: costs } = await ask('GET', `/multibrain/query/${id}/costs`);
    t.match(costs, { id, calls: 4, cost_usd: 0.00098, estimated_usd: 0, ceiling_usd: 1 });
    t.same(costs.tokens, { in: 600, out: 190 });
    t.match(costs.by_round, [{ round: 1, calls: 3, cost_usd: 0.0006 }]);
    t.match(costs.synthesis, { calls: 1, cost_usd: 0.00038 });
    t.match(costs.by_model, [{ model: 'one', cost_usd: 0.00058 }, { model: 'three' }, { model: 'two' }]);
    t.match((await ask('GET', '/multibrain/costs/summary')).body, {
      queries: 1,
      calls: 4,
      cost_usd: 0.00098,
      tokens: { in: 600, out: 190 },
      by_model: [{ model: 'one', answers: 2, failures: 0, cost_usd: 0.00058 }, {}, {}],
    });
    const { body: query } = await ask('GET', `/multibrain/query/${id}`);
    t.match(query, { id, status: 'completed', strategy: 'consensus', rounds: 1, visibility: 'unlisted' });
    t.equal(query.timing_ms, Date.parse(query.completed_at) - Date.parse(query.started_at));
  });

  const numbered = () => {
    const turns = new Map<string, number>();
    provider.answer = (call, response) => {
      if (call.isSynthesis) return say(call, response, { content: synthesis('agreed') });
      const turn = (turns.get(call.model) ?? 0) + 1;
      turns.set(call.model, turn);
      say(call, response, { content: `${call.model}-${turn}` });
    };
  };

  t.test('BRAIN-07 debate: three rounds, each sees the others', async (t) => {
    numbered();
    const id = await create({ strategy: 'debate', models: ['three', 'one'] });
    t.match(await result(id), { status: 'completed', consensus: 'agreed', models: ['three', 'one'] });
    const of = (model: string) => provider.of(model).filter(({ isSynthesis }) => !isSynthesis);
    t.equal(of('one').length, 3);
    t.equal(of('three').length, 3);
    t.equal(provider.of('two').length, 0);
    t.notMatch(of('one')[0]!.text, 'three-1');
    t.match(of('one')[1]!.text, 'three-1');
    t.match(of('one')[1]!.text, 'one-1');
    t.match(of('one')[2]!.text, 'three-2');
    t.match(of('three')[2]!.text, 'one-2');
    t.notMatch(of('one')[2]!.text, 'three-1');
    const drawn = provider.seen.at(-1)!;
    t.match(drawn, { isSynthesis: true, model: 'three' });
    t.match(drawn.text, /three-3[\s\S]*one-3/);
    const rounds = (await ask('GET', `/multibrain/query/${id}/costs`)).body.by_round;
    t.same(
      rounds.map(({ round, calls }: { round: number; calls: number }) => [round, calls]),
      [
        [1, 2],
        [2, 2],
        [3, 2],
      ],
    );
  });

  t.test('BRAIN-08 round table: in turn, two rounds, hearing all before', async (t) => {
    numbered();
    const id = await create({ strategy: 'roundtable', models: ['two', 'three', 'one'] });
    t.match(await result(id), { status: 'completed' });
    const spoken = provider.seen.map(({ model }) => model);
    t.same(spoken, ['two', 'three', 'one', 'two', 'three', 'one', 'two']);
    t.equal(provider.seen[0]!.text, 'Is it so?');
    t.match(provider.seen[1]!.text, 'two-1');
    t.match(provider.seen[2]!.text, /two-1[\s\S]*three-1/);
    t.match(provider.seen[3]!.text, /two-1[\s\S]*three-1[\s\S]*one-1/);
    t.match(provider.seen[5]!.text, /one-1[\s\S]*two-2[\s\S]*three-2/);
    const { body } = await ask('GET', `/multibrain/query/${id}/responses`);
    t.same(
      body.map(({ model, round }: { model: string; round: number }) => `${model}${round}`),
      ['two1', 'three1', 'one1', 'two2', 'three2', 'one2'],
    );
  });

  t.test('one model alone is asked once and is the result', async (t) => {
    numbered();
    const id = await create({ strategy: 'debate', models: ['two'] });
    t.match(await result(id), { status: 'completed', consensus: 'two-1', agreement: 1, dissent: [] });
    t.equal(provider.seen.length, 1);
  });

  t.test('BRAIN-11 injected context reaches the calls that follow', async (t) => {
    let go = () => {};
    provider.answer = (call, response) => {
      if (call.isSynthesis) return say(call, response, { content: synthesis('agreed') });
      const answer = () => say(call, response, { content: call.model });
      if (provider.of('two').length === 1 && call.model === 'two') go = answer;
      else answer();
    };
    const id = await create({ strategy: 'roundtable', models: ['two', 'three'] });
    await provider.untilSeen(1);
    const injected = await ask('POST', `/multibrain/query/${id}/inject`, { content: 'the moon is full' });
    t.match(injected, { status: 200, body: { id, injected: true, injections: 1 } });
    go();
    t.match(await result(id), { status: 'completed' });
    t.notMatch(provider.seen[0]!.text, 'the moon is full');
    for (const call of provider.seen.slice(1)) t.match(call.text, 'the moon is full');
    t.equal(provider.seen.length, 5);
    t.match(await ask('POST', `/multibrain/query/${id}/inject`, { content: 'too late' }, analyst), {
      status: 409,
      body: { code: 'query_closed' },
    });
    t.equal((await ask('GET', `/multibrain/query/${id}`)).body.injections, 1);
  });
});

t.test('BRAIN-18 without streaming, under another name, with its own key', async (t) => {
  const fields = {
    stream: false,
    model: 'at-home',
    tokens_parameter: 'max_completion_tokens',
    api_key_env: 'HOME',
  };
  const key = process.env.HOME ?? '';
  const { provider, ask, create, result } = await deliberationStage(t, { HOME: key }, fields);
  provider.answer = (call, response) => say(call, response, { content: 'yes', usage: null });
  const id = await create({ models: ['one'], maxTokens: 9 });
  t.match(await result(id), { status: 'completed', consensus: 'yes' });
  const [call] = provider.seen;
  t.match(call!.body, { model: 'at-home', max_completion_tokens: 9, stream: false });
  t.notOk('max_tokens' in call!.body);
  t.notOk('temperature' in call!.body);
  t.equal(call!.headers.authorization, `Bearer ${key}`);
  const { body: costs } = await ask('GET', `/multibrain/query/${id}/costs`);
  t.equal(costs.estimated_usd, costs.cost_usd, 'BRAIN-13 the provider did not count');
  t.ok(costs.cost_usd > 0);
});
