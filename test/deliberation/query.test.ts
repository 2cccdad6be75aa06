import t from 'tap';
import {
  type DeliberationFact,
  mayRead,
  type QueryCommand,
  queryDecider,
} from '../../streams/deliberation/index.js';
import { specification } from '../support/spec.js';

const { given } = specification(queryDecider);
const id = '6f9c1c1e-3b7a-4a52-9a44-0d3f6a2b8c10';
const query_id = id;

const creation = {
  owner: 'ann',
  prompt: 'why?',
  system_prompt: null,
  models: ['a', 'b'],
  synthesizer: 'a',
  strategy: 'debate' as const,
  max_tokens: 100,
  temperature: null,
  visibility: 'unlisted' as const,
  ceiling_nano_usd: 1_000,
};
const created: DeliberationFact = { type: 'query.created', data: { query_id, ...creation, rounds: 3 } };
const privately: DeliberationFact = {
  type: 'query.created',
  data: { ...created.data, visibility: 'private' },
} as DeliberationFact;
const started: DeliberationFact = { type: 'query.started', data: { query_id } };
const asked = (model: string, attempt = 1, fields = {}): DeliberationFact => ({
  type: 'model.asked',
  data: {
    query_id,
    round: 1,
    model,
    attempt,
    ask_id: `${model}${attempt}`,
    worst_nano_usd: 100,
    lost_nano_usd: 0,
    ...fields,
  },
});
const said = { content: 'so', finish: 'stop', tokens: { in: 1, out: 1 }, estimated: false, ms: 5 };
const received = (model: string, cost_nano_usd = 40): DeliberationFact => ({
  type: 'response.received',
  data: { query_id, round: 1, model, attempt: 1, ...said, cost_nano_usd },
});
const failed = (model: string, fields = {}): DeliberationFact => ({
  type: 'response.failed',
  data: {
    query_id,
    round: 1,
    model,
    attempt: 1,
    code: 'model_unavailable',
    message: '',
    final: false,
    cost_nano_usd: 0,
    ms: 5,
    ...fields,
  },
});
const concluded: DeliberationFact = {
  type: 'synthesis.completed',
  data: { query_id, model: 'a', consensus: 'so', agreement: 1, dissent: [] },
};
const completed: DeliberationFact = { type: 'query.completed', data: { query_id } };
const ask = (model: string, fields = {}): QueryCommand => ({
  is: 'ask',
  id,
  askId: 'new',
  round: 1,
  model,
  worst: 100,
  keep: 0,
  ...fields,
});

t.test('BRAIN-01 a query is created once, with the rounds of its strategy', async (t) => {
  const create: QueryCommand = { is: 'create', id, ...creation };
  given([]).when(create).decides(t, created);
  given([created]).when(create).refuses(t, 'query_exists');
  const rounds = { consensus: 1, debate: 3, roundtable: 2 };
  for (const strategy of ['consensus', 'debate', 'roundtable'] as const) {
    const data = { query_id, ...creation, strategy, rounds: rounds[strategy] };
    given([])
      .when({ ...create, strategy })
      .decides(t, { type: 'query.created', data });
  }
  const alone = { ...creation, models: ['a'] };
  const data = { query_id, ...alone, rounds: 1 };
  given([])
    .when({ is: 'create', id, ...alone })
    .decides(t, { type: 'query.created', data }, 'nobody to debate with');
});

t.test('BRAIN-03 there is nothing to do for an unknown query', async (t) => {
  const commands: QueryCommand[] = [
    { is: 'start', id },
    ask('a'),
    { is: 'complete', id },
    { is: 'inject', id, actor: 'ann', content: 'x' },
    { is: 'change visibility', id, actor: 'ann', visibility: 'public' },
  ];
  for (const command of commands) given([]).when(command).refuses(t, 'not_found', command.is);
});

t.test('BRAIN-14 a call is on record before it is made, and its answer counts once', async (t) => {
  given([created]).when({ is: 'start', id }).decides(t, started);
  given([created, started]).when({ is: 'start', id }).decides(t, undefined);
  given([created]).when(ask('a')).decides(t, undefined, 'not before the start');
  given([created, started])
    .when(ask('a'))
    .decides(t, asked('a', 1, { ask_id: 'new' }));
  given([created, started, asked('a')])
    .when(ask('a', { askId: 'a1' }))
    .decides(t, undefined, 'the same append again');

  const answer: QueryCommand = {
    is: 'answer',
    id,
    round: 1,
    model: 'a',
    attempt: 1,
    ...said,
    cost_nano_usd: 40,
  };
  given([created, started, asked('a')])
    .when(answer)
    .decides(t, received('a'));
  given([created, started, asked('a'), received('a')])
    .when(answer)
    .decides(t, undefined, 'it has its answer');
  given([created, started, asked('a'), received('a')])
    .when(ask('a'))
    .decides(t, undefined, 'not asked again');
  given([created, started, asked('a'), asked('a', 2)])
    .when(answer)
    .decides(t, undefined, 'counted as lost before it came');
});

t.test('BRAIN-14 a lost answer is asked for once more, and counted', async (t) => {
  const once = [created, started, asked('a')];
  given(once)
    .when(ask('a'))
    .decides(t, asked('a', 2, { ask_id: 'new', lost_nano_usd: 100 }));
  const twice = [...once, asked('a', 2, { lost_nano_usd: 100 })];
  const lost = {
    attempt: 2,
    code: 'answer_lost',
    message: 'the answer was lost more than once',
    final: true,
  };
  given(twice)
    .when(ask('a'))
    .decides(t, failed('a', { ...lost, cost_nano_usd: 100, ms: 0 }));
  const fail: QueryCommand = {
    is: 'fail',
    id,
    round: 1,
    model: 'a',
    attempt: 2,
    code: 'answer_lost',
    message: '',
    retry: true,
    cost_nano_usd: 100,
    ms: 5,
  };
  given(twice)
    .when(fail)
    .decides(t, failed('a', { attempt: 2, code: 'answer_lost', final: true, cost_nano_usd: 100 }));
  given(once)
    .when({ ...fail, attempt: 1 })
    .decides(t, failed('a', { code: 'answer_lost', cost_nano_usd: 100 }));
});

t.test('BRAIN-15 what was refused twice and then lost is not asked for a fourth time', async (t) => {
  const refused = (attempt: number) => failed('a', { attempt, code: 'model_unavailable', final: false });
  given([created, started, asked('a'), refused(1), asked('a', 2), refused(2), asked('a', 3)])
    .when(ask('a'))
    .decides(
      t,
      failed('a', {
        attempt: 3,
        code: 'answer_lost',
        message: 'the answer to the last attempt was lost',
        final: true,
        cost_nano_usd: 100,
        ms: 0,
      }),
    );
});

t.test('BRAIN-15 what was refused is tried three times', async (t) => {
  const fail = (attempt: number, retry = true): QueryCommand => ({
    is: 'fail',
    id,
    round: 1,
    model: 'a',
    attempt,
    code: 'model_unavailable',
    message: '',
    retry,
    cost_nano_usd: 0,
    ms: 5,
  });
  const first = [created, started, asked('a')];
  given(first).when(fail(1)).decides(t, failed('a'));
  given(first)
    .when(fail(1, false))
    .decides(t, failed('a', { final: true }));
  const second = [...first, failed('a'), asked('a', 2)];
  given(second)
    .when(fail(2))
    .decides(t, failed('a', { attempt: 2 }));
  const third = [...second, failed('a', { attempt: 2 }), asked('a', 3)];
  given(third)
    .when(fail(3))
    .decides(t, failed('a', { attempt: 3, final: true }));
  given([...third, failed('a', { attempt: 3, final: true })])
    .when(ask('a'))
    .decides(t, undefined);
});

t.test('BRAIN-12 no call that could exceed the ceiling', async (t) => {
  const running = [created, started];
  const refused = (model: string, fields = {}) =>
    failed(model, {
      attempt: 0,
      code: 'cost_ceiling',
      message: 'the call could exceed what the query may cost',
      final: true,
      ms: 0,
      ...fields,
    });
  given(running)
    .when(ask('a', { worst: 1_000 }))
    .decides(t, asked('a', 1, { ask_id: 'new', worst_nano_usd: 1_000 }));
  given(running)
    .when(ask('a', { worst: 1_001 }))
    .decides(t, refused('a'));
  given(running)
    .when(ask('a', { worst: 500, keep: 501 }))
    .decides(t, refused('a'), 'the synthesis must be left');
  const open = [...running, asked('a', 1, { worst_nano_usd: 901 })];
  given(open).when(ask('b')).decides(t, refused('b'), 'what is under way may cost as much as it can');
  given([...open, received('a')])
    .when(ask('b'))
    .decides(t, asked('b', 1, { ask_id: 'new' }), 'and did not');
  given(open)
    .when(ask('a'))
    .decides(t, refused('a', { attempt: 1, cost_nano_usd: 901 }), 'the lost one is paid');
});

t.test('BRAIN-11 context is taken as long as it reaches a call', async (t) => {
  const inject = (actor = 'bob'): QueryCommand => ({ is: 'inject', id, actor, content: 'more' });
  const injected: DeliberationFact = { type: 'context.injected', data: { query_id, content: 'more' } };
  given([created]).when(inject()).decides(t, injected);
  given([created, started, asked('a')])
    .when(inject())
    .decides(t, injected);
  given([created, started, asked('a', 1, { round: 0 })])
    .when(inject())
    .refuses(t, 'query_closed');
  given([created, started, concluded]).when(inject()).refuses(t, 'query_closed');
  given([created, started, concluded, completed]).when(inject()).refuses(t, 'query_closed');
  given([privately]).when(inject('ann')).decides(t, injected);
  given([privately]).when(inject()).refuses(t, 'not_found');
  given([created, ...Array<DeliberationFact>(20).fill(injected)])
    .when(inject())
    .refuses(t, 'too_many_injections');
});

t.test('BRAIN-02 BRAIN-03 only the owner says who may read', async (t) => {
  const change = (actor: string, visibility: 'public' | 'private' | 'unlisted'): QueryCommand => ({
    is: 'change visibility',
    id,
    actor,
    visibility,
  });
  const changed: DeliberationFact = { type: 'visibility.changed', data: { query_id, visibility: 'private' } };
  given([created]).when(change('ann', 'private')).decides(t, changed);
  given([created]).when(change('ann', 'unlisted')).decides(t, undefined);
  given([created]).when(change('bob', 'public')).refuses(t, 'not_owner');
  given([privately]).when(change('bob', 'public')).refuses(t, 'not_found');
  given([created, changed]).when(change('bob', 'public')).refuses(t, 'not_found');
  t.ok(mayRead({ visibility: 'private', owner: 'ann' }, 'ann'));
  t.notOk(mayRead({ visibility: 'private', owner: 'ann' }, undefined));
  t.ok(mayRead({ visibility: 'unlisted', owner: 'ann' }, undefined));
});

t.test('a query ends once', async (t) => {
  const conclude: QueryCommand = {
    is: 'conclude',
    id,
    model: 'a',
    consensus: 'so',
    agreement: 1,
    dissent: [],
  };
  const giveUp: QueryCommand = { is: 'give up', id, code: 'too_few_answers', message: 'm' };
  const gaveUp: DeliberationFact = {
    type: 'query.failed',
    data: { query_id, code: 'too_few_answers', message: 'm' },
  };
  const running = [created, started];
  given(running).when(conclude).decides(t, concluded);
  given(running).when({ is: 'complete', id }).decides(t, undefined, 'not without a synthesis');
  given([...running, concluded])
    .when(conclude)
    .decides(t, undefined);
  given([...running, concluded])
    .when({ is: 'complete', id })
    .decides(t, completed);
  given(running).when(giveUp).decides(t, gaveUp);
  for (const end of [[concluded, completed], [gaveUp]]) {
    for (const command of [conclude, giveUp, { is: 'complete', id } as QueryCommand, ask('a')])
      given([...running, ...end])
        .when(command)
        .decides(t, undefined, command.is);
  }
});
