import {
  type DeliberationData,
  type DeliberationFact,
  deliberation,
} from '../../../streams/deliberation/index.js';
import type { ModelCall, SimulatedModels } from '../http/models.js';
import type { SimulatedLogServer } from '../log/server.js';
import { StoredFacts } from '../log/stored-facts.js';
import type { Stage } from '../scenario.js';

/** One answer that a model is asked for in a round. */
interface Call {
  /** When each attempt was recorded, in milliseconds since 1970. */
  asked: number[];
  isOpen: boolean;
  isEnded: boolean;
}

/** A query, as the log has it. */
interface Query extends DeliberationData<'query.created'> {
  mark: string;
  status: 'queued' | 'running' | 'concluded' | 'completed' | 'failed';
  calls: Map<string, Call>;
  /** The recorded spending, in billionths of a dollar. */
  spent: number;
  createdAt: number;
  /** Attempts whose process was gone, or thought to be gone. */
  lost: number;
}

const mostAttempts = 3;

/** The record of queries, compared with the calls that their models got. */
export class Deliberated {
  readonly #stage: Stage;
  readonly #models: SimulatedModels;
  readonly #facts: StoredFacts<typeof deliberation>;
  readonly #queries = new Map<string, Query>();

  constructor(stage: Stage, server: SimulatedLogServer, models: SimulatedModels) {
    this.#stage = stage;
    this.#models = models;
    this.#facts = new StoredFacts(server, deliberation);
  }

  /** Queries that have not ended; empty without any. */
  open(): string {
    this.#read();
    const open = [...this.#queries.values()].filter(
      ({ status }) => status !== 'completed' && status !== 'failed',
    );
    return open.map(({ mark, status }) => `${mark} ${status}`).join(', ');
  }

  /** `calmFrom`: queries that were created since then met no fault. */
  judge(calmFrom: number): void {
    this.#read();
    const stage = this.#stage;
    const { calls } = this.#models;
    for (const call of calls) this.#judgeCall(call);
    for (const query of this.#queries.values()) {
      const { mark, status, spent, ceiling_nano_usd: ceiling } = query;
      stage.count(`query ${status}`);
      const real = calls.filter((call) => call.query === mark).reduce((sum, { cost }) => sum + cost, 0);
      const told = () => `${mark}: ${real} really, ${spent} recorded, ${ceiling} at most`;
      stage.check('no more is recorded than may be spent', spent <= ceiling, told);
      stage.check('no more is spent than is recorded', real <= spent, told);
      if (query.createdAt >= calmFrom) this.#judgeCalm(query);
    }
  }

  /** Each call was on record before it was made, and none with an answer was made again. */
  #judgeCall({ query: mark, model, round, at }: ModelCall): void {
    const query = [...this.#queries.values()].find((one) => one.mark === mark);
    const same = this.#models.calls.filter(
      (one) => one.query === mark && one.model === model && one.round === round && one.at <= at,
    );
    const asked = query?.calls.get(`${round} ${model}`)?.asked.filter((when) => when <= at) ?? [];
    const told = () => `${mark}, round ${round} of ${model}: ${same.length} calls, ${asked.length} on record`;
    this.#stage.check('each call is on record before it is made', same.length <= asked.length, told);
  }

  #judgeCalm({ mark, status, models, rounds, lost }: Query): void {
    const stage = this.#stage;
    const made = this.#models.calls.filter(({ query }) => query === mark).length;
    const told = () => `${mark}: ${status}, ${made} calls, ${lost} lost`;
    stage.check('in calm no answer is lost', lost === 0, told);
    // an empty answer does not count
    const most = models.length * rounds + (models.length > 1 ? 3 : 0);
    stage.check('in calm each model is asked once a round', made <= most, told);
  }

  #read(): void {
    for (const { type, data, at } of this.#facts.read()) {
      const query = this.#queries.get(data.query_id);
      const told = () => `${query?.mark}: ${type} ${JSON.stringify(data)}`;
      if (type === 'query.created') {
        this.#stage.check('a query is created once', query === undefined, told);
        this.#queries.set(data.query_id, {
          ...data,
          mark: data.prompt.split(' ')[0]!,
          status: 'queued',
          calls: new Map(),
          spent: 0,
          createdAt: at.getTime(),
          lost: 0,
        });
        continue;
      }
      const isOpen = query !== undefined && query.status !== 'completed' && query.status !== 'failed';
      this.#stage.check('nothing follows the end of a query', isOpen, told);
      if (query) this.#fold(query, { type, data } as DeliberationFact, at.getTime(), told);
    }
  }

  #fold(query: Query, { type, data }: DeliberationFact, at: number, told: () => string): void {
    const stage = this.#stage;
    const follows = (...statuses: Query['status'][]) =>
      stage.check('facts come in their order', statuses.includes(query.status), told);
    switch (type) {
      case 'query.started':
        follows('queued');
        query.status = 'running';
        break;
      case 'model.asked': {
        follows('running');
        const call = callOf(query, data);
        stage.check('what is answered is not asked again', !call.isEnded, told);
        stage.check('attempts are counted', data.attempt === call.asked.length + 1, told);
        stage.check('no model is asked for ever', data.attempt <= mostAttempts, told);
        const isTaken = data.lost_nano_usd > 0;
        stage.check('what is lost is counted', isTaken === call.isOpen, told);
        if (isTaken) {
          query.lost += 1;
          stage.count('answers lost with their process');
        }
        query.spent += data.lost_nano_usd;
        call.asked.push(at);
        call.isOpen = true;
        break;
      }
      case 'response.received':
      case 'response.failed': {
        follows('running');
        const call = callOf(query, data);
        const isLast = data.attempt === call.asked.length && !call.isEnded;
        stage.check('only the last attempt has an end', isLast, told);
        query.spent += data.cost_nano_usd;
        call.isOpen = false;
        call.isEnded = type === 'response.received' || data.final;
        if (type === 'response.failed') stage.count(`failed: ${data.code}`);
        break;
      }
      case 'synthesis.completed':
        follows('running');
        query.status = 'concluded';
        break;
      case 'query.completed':
        follows('concluded');
        query.status = 'completed';
        break;
      case 'query.failed':
        follows('running', 'queued');
        query.status = 'failed';
        stage.check('no query fails by a fault of ours', data.code !== 'internal_error', told);
        stage.count(`query failed: ${data.code}`);
        break;
      default:
        break;
    }
  }
}

function callOf({ calls }: Query, { round, model }: { round: number; model: string }): Call {
  const key = `${round} ${model}`;
  const call = calls.get(key) ?? { asked: [], isOpen: false, isEnded: false };
  calls.set(key, call);
  return call;
}
