import type { Recorded } from '../../streams/core/index.js';
import { type DeliberationFact, deliberation, querySubject } from '../../streams/deliberation/index.js';

/** Id of the nth query of a history. */
export const queryId = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** The facts of `count` queries that overlap: completed and failed ones, retries, lost answers, injections. */
export function history(count: number): Recorded<DeliberationFact>[] {
  const lives = Array.from({ length: count }, (_, n) => lifeOf(n + 1));
  const facts: Recorded<DeliberationFact>[] = [];
  for (let turn = 0; lives.some((life) => life.length > 0); turn++) {
    const fact = lives[(turn * 7) % count]?.shift() ?? lives.find((life) => life.length > 0)!.shift()!;
    const seq = facts.length + 1;
    const at = new Date(Date.parse('2026-03-01T00:00:00Z') + seq * 1_000);
    const { query_id } = fact.data;
    facts.push({
      ...fact,
      id: `d${seq}`,
      stream: deliberation.name,
      subject: querySubject(query_id),
      seq,
      at,
      by: 'test',
      cause: null,
    });
  }
  return facts;
}

function lifeOf(n: number): DeliberationFact[] {
  const query_id = queryId(n);
  const models = ['one', 'two', 'three'].slice(0, 2 + (n % 2));
  const facts: DeliberationFact[] = [];
  const tell = (fact: DeliberationFact) => void facts.push(fact);
  const answer = (round: number, model: string, attempt = 1, estimated = false) => {
    const content = `${model} in ${round}\0`;
    const said = { content, finish: 'stop', tokens: { in: n, out: round }, estimated, ms: n / 4 };
    const data = { query_id, round, model, attempt, ...said, cost_nano_usd: n * 10 + round };
    tell({ type: 'response.received', data });
  };
  const ask = (round: number, model: string, attempt = 1, lost_nano_usd = 0) => {
    const data = { query_id, round, model, attempt, ask_id: 'x', worst_nano_usd: 500, lost_nano_usd };
    tell({ type: 'model.asked', data });
  };
  const fail = (round: number, model: string, attempt: number, code: string, final: boolean, cost = 0) => {
    const failure = { query_id, round, model, attempt, code, message: 'm', final };
    tell({ type: 'response.failed', data: { ...failure, cost_nano_usd: cost, ms: 7 } });
  };
  tell({
    type: 'query.created',
    data: {
      query_id,
      owner: n % 3 ? 'ann' : 'bob',
      prompt: `why ${n}?\ud800`,
      system_prompt: null,
      models,
      synthesizer: 'one',
      strategy: 'debate',
      rounds: 3,
      max_tokens: 100,
      temperature: null,
      visibility: (['public', 'private', 'unlisted'] as const)[n % 3]!,
      ceiling_nano_usd: 1_000_000,
    },
  });
  if (n % 11 === 0) return facts;
  tell({ type: 'query.started', data: { query_id } });
  for (let round = 1; round <= 3; round++) {
    for (const model of models) ask(round, model);
    for (const model of models) {
      if (model === 'two' && n % 5 === 0) {
        fail(round, model, 1, 'model_unavailable', false);
        ask(round, model, 2);
        fail(round, model, 2, 'model_timeout', true, 500);
      } else if (model === 'one' && n % 4 === 0) {
        ask(round, model, 2, 500);
        answer(round, model, 2, true);
      } else answer(round, model);
    }
    if (n % 6 === 0) tell({ type: 'context.injected', data: { query_id, content: `more ${round}` } });
    if (n % 7 === 0) {
      tell({ type: 'query.failed', data: { query_id, code: 'too_few_answers', message: 'm' } });
      return facts;
    }
  }
  ask(0, 'one');
  answer(0, 'one');
  const agreement = n % 2 ? n / 100 : null;
  const result = { query_id, model: 'one', consensus: `because ${n}`, agreement, dissent: [`not ${n}`] };
  tell({ type: 'synthesis.completed', data: result });
  if (n % 13 === 0) return facts;
  tell({ type: 'query.completed', data: { query_id } });
  if (n % 9 === 0) tell({ type: 'visibility.changed', data: { query_id, visibility: 'public' } });
  return facts;
}
