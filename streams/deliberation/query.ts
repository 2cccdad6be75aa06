import { type Decider, Refusal } from '../core/index.js';
import {
  type DeliberationData,
  type DeliberationFact,
  type QueryStatus,
  querySubject,
  type Strategy,
  type Visibility,
} from './facts.js';

/** The one answer that a model is asked for in a round, over all attempts. */
interface Call {
  attempt: number;
  /** Id of the last attempt. */
  askId: string;
  /** What the attempt under way costs at most, in billionths of a dollar; `undefined` when none is. */
  open: number | undefined;
  /** Attempts that were made and whose answer nobody saw. */
  losses: number;
  ended: boolean;
}

/** What is known about one query id. */
export interface QueryState {
  status: 'none' | QueryStatus;
  owner: string;
  visibility: Visibility;
  /** What all calls may cost, and what those that ended cost, in billionths of a dollar. */
  ceiling: number;
  spent: number;
  /** The calls of models, each under its round and model. */
  calls: Map<string, Call>;
  injections: number;
  concluded: boolean;
}

/** What can be asked for one query. Amounts are billionths of a dollar. */
export type QueryCommand = { id: string } & (
  | ({ is: 'create' } & Omit<DeliberationData<'query.created'>, 'query_id' | 'rounds'>)
  | { is: 'start' }
  /** `worst` is what the call costs at most, `keep` what must be left for what comes after the round. */
  | { is: 'ask'; askId: string; round: number; model: string; worst: number; keep: number }
  | ({ is: 'answer' } & Omit<DeliberationData<'response.received'>, 'query_id'>)
  /** `retry`: whether it may go better another time. */
  | ({ is: 'fail'; retry: boolean } & Omit<DeliberationData<'response.failed'>, 'query_id' | 'final'>)
  | ({ is: 'conclude' } & Omit<DeliberationData<'synthesis.completed'>, 'query_id'>)
  | { is: 'complete' }
  | { is: 'give up'; code: string; message: string }
  | { is: 'inject'; actor: string; content: string }
  | { is: 'change visibility'; actor: string; visibility: Visibility }
);

/** Attempts to get one answer, at most. */
const mostAttempts = 3;
/** Attempts that may be lost: their answers were paid for and nobody saw them. */
const mostLosses = 2;
/** Contexts that one query takes. */
const mostInjections = 20;

/** The life of a query: every call is on record before it is made, and none is made that could exceed the ceiling. */
export const queryDecider: Decider<QueryState, QueryCommand, DeliberationFact> = {
  initial: () => ({
    status: 'none',
    owner: '',
    visibility: 'unlisted',
    ceiling: 0,
    spent: 0,
    calls: new Map(),
    injections: 0,
    concluded: false,
  }),

  subject: ({ id }) => querySubject(id),

  evolve(state, { type, data }) {
    switch (type) {
      case 'query.created': {
        const { owner, visibility, ceiling_nano_usd: ceiling } = data;
        Object.assign(state, { status: 'queued', owner, visibility, ceiling });
        break;
      }
      case 'query.started':
        state.status = 'running';
        break;
      case 'model.asked': {
        const call = callOf(state, data);
        if (call.open !== undefined) call.losses += 1;
        state.spent += data.lost_nano_usd;
        const { attempt, ask_id: askId, worst_nano_usd: open } = data;
        setCall(state, data, { ...call, attempt, askId, open });
        if (data.round === 0) state.status = 'synthesizing';
        break;
      }
      case 'response.received':
        state.spent += data.cost_nano_usd;
        setCall(state, data, { ...callOf(state, data), open: undefined, ended: true });
        break;
      case 'response.failed': {
        const call = callOf(state, data);
        state.spent += data.cost_nano_usd;
        const losses = call.losses + (data.code === 'answer_lost' ? 1 : 0);
        setCall(state, data, { ...call, open: undefined, losses, ended: data.final });
        break;
      }
      case 'context.injected':
        state.injections += 1;
        break;
      case 'synthesis.completed':
        Object.assign(state, { concluded: true, status: 'synthesizing' });
        break;
      case 'query.completed':
        state.status = 'completed';
        break;
      case 'query.failed':
        state.status = 'failed';
        break;
      case 'visibility.changed':
        state.visibility = data.visibility;
        break;
    }
  },

  decide(command, state) {
    const query_id = command.id;
    if (command.is === 'create') {
      if (state.status !== 'none') throw new Refusal('query_exists');
      const { is: _, id: _id, ...query } = command;
      return { type: 'query.created', data: { query_id, ...query, rounds: roundsOf(command) } };
    }
    if (state.status === 'none') throw queryNotFound();
    const isOpen = state.status !== 'completed' && state.status !== 'failed';
    switch (command.is) {
      case 'start':
        return state.status === 'queued' ? { type: 'query.started', data: { query_id } } : undefined;
      case 'ask':
        return isOpen && state.status !== 'queued' ? decideToAsk(command, state) : undefined;
      case 'answer': {
        const { is: _, id: _id, ...answer } = command;
        if (!isUnderWay(state, answer)) return undefined;
        return { type: 'response.received', data: { query_id, ...answer } };
      }
      case 'fail': {
        const { is: _, id: _id, retry, ...failure } = command;
        const call = callOf(state, failure);
        if (!isUnderWay(state, failure)) return undefined;
        const lost = failure.code === 'answer_lost' && call.losses + 1 >= mostLosses;
        const final = !retry || lost || failure.attempt >= mostAttempts;
        return { type: 'response.failed', data: { query_id, ...failure, final } };
      }
      case 'conclude': {
        const { is: _, id: _id, ...synthesis } = command;
        if (!isOpen || state.concluded) return undefined;
        return { type: 'synthesis.completed', data: { query_id, ...synthesis } };
      }
      case 'complete':
        return isOpen && state.concluded ? { type: 'query.completed', data: { query_id } } : undefined;
      case 'give up': {
        const { code, message } = command;
        return isOpen ? { type: 'query.failed', data: { query_id, code, message } } : undefined;
      }
      case 'inject': {
        const { actor, content } = command;
        if (!mayRead(state, actor)) throw queryNotFound();
        if (!isOpen || state.status === 'synthesizing') throw new Refusal('query_closed');
        if (state.injections >= mostInjections)
          throw new Refusal('too_many_injections', `A query takes ${mostInjections} contexts at most`);
        return { type: 'context.injected', data: { query_id, content } };
      }
      case 'change visibility': {
        const { actor, visibility } = command;
        if (!mayRead(state, actor)) throw queryNotFound();
        if (actor !== state.owner) throw new Refusal('not_owner');
        if (visibility === state.visibility) return undefined;
        return { type: 'visibility.changed', data: { query_id, visibility } };
      }
    }
  },
};

/** Whether a query may be read by the holder of a key, or by somebody without one. */
export function mayRead(
  query: { visibility: Visibility; owner: string },
  reader: string | undefined,
): boolean {
  return query.visibility !== 'private' || query.owner === reader;
}

/** The refusal that says nothing of whether there is such a query. */
export function queryNotFound(): Refusal {
  return new Refusal('query_not_found');
}

/** How often each model speaks; one model alone has nobody to speak with. */
function roundsOf({ models, strategy }: { models: string[]; strategy: Strategy }): number {
  if (models.length === 1) return 1;
  return { consensus: 1, debate: 3, roundtable: 2 }[strategy];
}

/** An attempt that is still under way is one of a process that died: its answer is lost, and counted as paid. */
function decideToAsk(
  command: QueryCommand & { is: 'ask' },
  state: Readonly<QueryState>,
): DeliberationFact | undefined {
  const { id: query_id, askId: ask_id, round, model, worst, keep } = command;
  const call = callOf(state, command);
  if (call.ended || (call.open !== undefined && call.askId === ask_id)) return undefined;
  const lost = call.open ?? 0;
  const failed = (code: string, message: string): DeliberationFact => ({
    type: 'response.failed',
    data: {
      query_id,
      round,
      model,
      attempt: call.attempt,
      code,
      message,
      final: true,
      cost_nano_usd: lost,
      ms: 0,
    },
  });
  const losses = call.losses + (call.open === undefined ? 0 : 1);
  if (losses >= mostLosses) return failed('answer_lost', 'the answer was lost more than once');
  // one that ended would have been the last
  if (call.attempt >= mostAttempts) return failed('answer_lost', 'the answer to the last attempt was lost');
  let others = 0;
  for (const { open } of state.calls.values()) others += open ?? 0;
  if (state.spent + others + worst + keep > state.ceiling)
    return failed('cost_ceiling', 'the call could exceed what the query may cost');
  return {
    type: 'model.asked',
    data: {
      query_id,
      round,
      model,
      attempt: call.attempt + 1,
      ask_id,
      worst_nano_usd: worst,
      lost_nano_usd: lost,
    },
  };
}

interface CallKey {
  round: number;
  model: string;
}

const keyOf = ({ round, model }: CallKey) => `${round} ${model}`;

function callOf(state: Readonly<QueryState>, key: CallKey): Call {
  return state.calls.get(keyOf(key)) ?? { attempt: 0, askId: '', open: undefined, losses: 0, ended: false };
}

function setCall(state: QueryState, key: CallKey, call: Call): void {
  state.calls.set(keyOf(key), call);
}

/** Number of the attempt under way that was recorded under an id; `undefined` when that one is not under way. */
export function attemptUnderWay(
  state: Readonly<QueryState>,
  { round, model, askId }: CallKey & { askId: string },
): number | undefined {
  const call = callOf(state, { round, model });
  return call.open !== undefined && call.askId === askId ? call.attempt : undefined;
}

/** Whether somebody else has asked after this attempt. They took it for lost, and go on with the query. */
export function isOvertaken(state: Readonly<QueryState>, key: CallKey & { attempt: number }): boolean {
  return callOf(state, key).attempt > key.attempt;
}

/** Whether this very attempt is under way; an answer that comes after it was counted as lost is not taken any more. */
function isUnderWay(state: Readonly<QueryState>, key: CallKey & { attempt: number }): boolean {
  const call = callOf(state, key);
  return call.open !== undefined && call.attempt === key.attempt;
}
