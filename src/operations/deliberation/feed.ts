import type { Logger } from 'pino';
import type { QueryView, ResponseView } from '../../../projections/deliberation/queries.js';
import { atMost, factsIn, type Log, type Recorded } from '../../../streams/core/index.js';
import {
  type DeliberationFact,
  deliberation,
  isQueryId,
  mayRead,
  queryDecider,
  queryNotFound,
  querySubject,
  usd,
} from '../../../streams/deliberation/index.js';
import type { ServerEvent } from '../core/event-stream.js';

/** Something that happened to a query, for its readers. Its data has the id too. */
export interface QueryEvent extends ServerEvent {
  /** Sequence of the fact, and which event of it: a reader continues after it. */
  id: string;
  event: 'status' | 'response' | 'injected' | 'synthesis' | 'error' | 'done';
  data: object;
}

const batch = 100;

/** What happens to queries, read from the log: the same in every process. */
export class QueryFeed {
  readonly #log: Log;
  readonly #logger: Logger;
  readonly #stop = new AbortController();

  constructor(log: Log, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
  }

  /** Ends every reader's stream. */
  close(): void {
    this.#stop.abort();
  }

  /**
   * What happened to a query, after the event `after` if given, and what happens until it has ended. Gives
   * `undefined` when all past events are told, and when nothing happened for `quietMs`. Ends after `done`,
   * when the reader may no longer read the query, or when `signal` aborts. Throws 404 `not_found`.
   */
  async *watch(
    id: string,
    options: { after: string | undefined; reader: string | undefined; quietMs: number; signal: AbortSignal },
  ): AsyncGenerator<QueryEvent | undefined> {
    if (!isQueryId(id)) throw queryNotFound();
    const { reader, quietMs } = options;
    const behind = placeOf(options.after);
    const signal = AbortSignal.any([options.signal, this.#stop.signal]);
    const query = queryDecider.initial();
    const isOpen = () => query.status !== 'completed' && query.status !== 'failed';
    const recorded: Recorded<DeliberationFact>[] = [];
    for await (const fact of this.#log.subject(deliberation, querySubject(id))) {
      queryDecider.evolve(query, fact);
      recorded.push(fact);
    }
    const last = recorded.at(-1);
    if (!last || !mayRead(query, reader)) throw queryNotFound();
    for (const fact of recorded) yield* eventsBehind(behind, fact);
    if (!isOpen()) return;
    yield undefined;
    for await (const fact of quietly(this.#followed(id, last.seq, signal), quietMs, signal)) {
      if (fact) queryDecider.evolve(query, fact);
      if (!mayRead(query, reader)) return;
      if (fact) yield* eventsBehind(behind, fact);
      else yield undefined;
      if (!isOpen()) return;
    }
  }

  async *#followed(
    id: string,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<Recorded<DeliberationFact>> {
    const options = { after, filter: [querySubject(id)], batch, signal };
    for await (const entries of this.#log.follow(deliberation, options)) {
      yield* factsIn(deliberation, entries, this.#logger);
    }
  }
}

/** Gives `undefined` whenever nothing comes for a time. */
async function* quietly<T>(
  items: AsyncIterable<T>,
  quietMs: number,
  signal: AbortSignal,
): AsyncGenerator<T | undefined> {
  const source = items[Symbol.asyncIterator]();
  try {
    let next = source.next();
    while (!signal.aborted) {
      const item = await atMost(next, quietMs);
      if (item?.done) return;
      yield item?.value;
      if (item) next = source.next();
    }
  } finally {
    // not awaited: a source that waits for the log ends by its signal
    void source.return?.(undefined);
  }
}

/** An event: the sequence of its fact, and its index in that fact. */
interface Place {
  seq: number;
  index: number;
}

const eventId = /^(\d{1,15})-(\d{1,3})$/;

/** Whether a text has the form of a query event's id. */
export function isQueryEventId(text: string): boolean {
  return eventId.test(text);
}

/** Where a reader was; without an id, the beginning. */
function placeOf(id = ''): Place {
  const [, seq, index] = eventId.exec(id) ?? [];
  return seq === undefined ? { seq: 0, index: 0 } : { seq: Number(seq), index: Number(index) };
}

function eventsBehind(behind: Place, fact: Recorded<DeliberationFact>): QueryEvent[] {
  const { seq } = fact;
  return eventsOf(fact)
    .map(({ event, data }, index) => {
      const id = `${seq}-${index}`;
      return { id, event, data: { id, ...data } };
    })
    .slice(seq < behind.seq ? Number.POSITIVE_INFINITY : seq === behind.seq ? behind.index + 1 : 0);
}

/** The events of a fact for the readers of its query. */
function eventsOf({ type, data, at, by }: Recorded<DeliberationFact>): Omit<QueryEvent, 'id'>[] {
  const id = data.query_id;
  const time = at.toISOString();
  const status = (status: QueryView['status']) => ({
    event: 'status' as const,
    data: { query_id: id, status, time },
  });
  switch (type) {
    case 'query.created':
      return [status('queued')];
    case 'query.started':
      return [status('running')];
    case 'model.asked':
      return data.round === 0 && data.attempt === 1 ? [status('synthesizing')] : [];
    case 'response.received': {
      const { round, model, content, ms, tokens, cost_nano_usd } = data;
      if (round === 0) return [];
      const response = { model, round, content, timing_ms: ms, tokens, cost_usd: usd(cost_nano_usd) };
      return [responseEvent({ ...response, error: null })];
    }
    case 'response.failed': {
      const { round, model, ms, code, final, cost_nano_usd } = data;
      if (round === 0 || !final) return [];
      const response = { model, round, content: null, timing_ms: ms, tokens: { in: 0, out: 0 } };
      return [responseEvent({ ...response, cost_usd: usd(cost_nano_usd), error: code })];
    }
    case 'context.injected':
      return [{ event: 'injected', data: { query_id: id, content: data.content, by, time } }];
    case 'synthesis.completed': {
      const { model, consensus, agreement, dissent } = data;
      return [{ event: 'synthesis', data: { query_id: id, model, consensus, agreement, dissent } }];
    }
    case 'query.completed':
      return [status('completed'), { event: 'done', data: { query_id: id, status: 'completed' } }];
    case 'query.failed': {
      const error = { query_id: id, error: data.message, code: data.code };
      const done = { query_id: id, status: 'failed' };
      return [status('failed'), { event: 'error', data: error }, { event: 'done', data: done }];
    }
    case 'visibility.changed':
      return [];
  }
}

function responseEvent(data: ResponseView): Omit<QueryEvent, 'id'> {
  return { event: 'response', data };
}
