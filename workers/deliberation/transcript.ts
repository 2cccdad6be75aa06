import type { DeliberationData, DeliberationFact } from '../../streams/deliberation/index.js';

/** What came of asking a model in a round. */
export type Outcome =
  | { is: 'answered'; content: string }
  | { is: 'failed'; code: string }
  /** Under way in some process, or to be asked again. */
  | { is: 'open' };

/** Everything that was said about one query, folded from its facts. */
export class Transcript {
  query: DeliberationData<'query.created'> | undefined;
  status: 'queued' | 'running' | 'concluded' | 'ended' = 'queued';
  readonly injected: string[] = [];
  readonly #outcomes = new Map<string, Outcome>();

  fold({ type, data }: DeliberationFact): void {
    switch (type) {
      case 'query.created':
        this.query = data;
        break;
      case 'query.started':
        this.status = 'running';
        break;
      case 'model.asked':
        this.#outcomes.set(keyOf(data.round, data.model), { is: 'open' });
        break;
      case 'response.received':
        this.#outcomes.set(keyOf(data.round, data.model), { is: 'answered', content: data.content });
        break;
      case 'response.failed':
        this.#outcomes.set(
          keyOf(data.round, data.model),
          data.final ? { is: 'failed', code: data.code } : { is: 'open' },
        );
        break;
      case 'context.injected':
        this.injected.push(data.content);
        break;
      case 'synthesis.completed':
        this.status = 'concluded';
        break;
      case 'query.completed':
      case 'query.failed':
        this.status = 'ended';
        break;
    }
  }

  /** `open` also before it was asked. Round 0 is the synthesis. */
  outcome(round: number, model: string): Outcome {
    return this.#outcomes.get(keyOf(round, model)) ?? { is: 'open' };
  }

  /** What a model said last, up to and in a round; `undefined` when it has not answered. */
  lastAnswer(model: string, upTo = Number.POSITIVE_INFINITY): string | undefined {
    for (let round = Math.min(upTo, this.query?.rounds ?? 0); round >= 1; round--) {
      const outcome = this.outcome(round, model);
      if (outcome.is === 'answered') return outcome.content;
    }
    return undefined;
  }
}

const keyOf = (round: number, model: string) => `${round} ${model}`;
