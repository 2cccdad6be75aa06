import type { QueueRow } from '../../projections/delivery/queries.js';
import type { AnyFact, Recorded } from '../../streams/core/index.js';

/** What happened to a queue, as its two streams have it. */
export interface QueueHistory {
  market: Recorded[];
  delivery: Recorded[];
}

type Outcome = 'delivered' | 'dead_letter' | 'expired';

/** A made-up history with everything that can happen to an event, the same each time for the same seed. */
export function queueHistory(events: number, seed = 1): QueueHistory {
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  const market: Recorded[] = [];
  const delivery: Recorded[] = [];
  const told = (type: string, data: unknown) => {
    const at = new Date(Date.UTC(2026, 2, 1, 20) + delivery.length * 60_000);
    delivery.push(record('DELIVERY', delivery.length + 1, at, { type, data }));
  };
  for (let seq = 1; seq <= events; seq++) {
    market.push(received(seq));
    const about = { seq, event_id: `event-${seq}` };
    const settle = (outcome: Outcome, failures: number) => {
      const undelivered = { delivered: [], undelivered: ['#bounties'] };
      for (let n = 1; n <= failures; n++) {
        const attempt = { channel: '#bounties', failures: n, retry_count: n, error: `refused ${n}` };
        told('attempt.failed', { ...about, ...attempt });
      }
      if (outcome === 'delivered') confirm();
      else if (outcome === 'expired') told('event.expired', { ...about, ...undelivered });
      else told('event.dead_lettered', { ...about, retry_count: 3, last_error: 'refused 3', ...undelivered });
    };
    const confirm = () => {
      const line = (channel: string, completes: boolean) => ({ ...about, channel, via: 'echo', completes });
      const lines = [line('#a', false), line('#b', true)];
      const last = delivery.at(-1);
      // one fact holds the lines of several events
      if (last?.type === 'lines.confirmed') (last.data as { lines: unknown[] }).lines.push(...lines);
      else told('lines.confirmed', { lines });
    };
    const redrive = () => told('event.redriven', { ...about, delivered: [], undelivered: ['#bounties'] });
    switch (random(8)) {
      case 0: // nothing yet
        break;
      case 1:
        settle('dead_letter', 3);
        break;
      case 2:
        settle('expired', 1);
        break;
      case 3:
        settle('dead_letter', 3);
        redrive();
        settle('delivered', 1);
        break;
      case 4:
        settle('expired', 0);
        redrive();
        break;
      case 5: // the confirmation and the expiry crossed
        confirm();
        told('event.expired', { ...about, delivered: ['#a'], undelivered: ['#b'] });
        break;
      default:
        settle('delivered', random(3));
    }
  }
  return { market, delivery };
}

/** The rows that a history leads to, worked out one fact at a time. */
export function expectedRows({ market, delivery }: QueueHistory): QueueRow[] {
  const rows = new Map<number, QueueRow>();
  for (const { seq, at, data } of market) {
    const event = data as Omit<QueueRow, 'payload'> & { payload: unknown };
    rows.set(seq, {
      ...event,
      id: seq,
      payload: JSON.stringify(event.payload),
      status: 'pending',
      retry_count: 0,
      last_error: null,
      created_at: at.toISOString(),
      delivered_at: null,
    });
  }
  for (const { type, at, data } of delivery) {
    const about = data as { seq: number; retry_count: number; error: string; last_error: string };
    const row = rows.get(about.seq)!;
    if (type === 'lines.confirmed') {
      for (const line of (data as { lines: { seq: number; completes: boolean }[] }).lines) {
        if (!line.completes) continue;
        const delivered_at = at.toISOString();
        Object.assign(rows.get(line.seq)!, { status: 'delivered', delivered_at, last_error: null });
      }
    } else if (row.status === 'delivered') {
      // stays so
    } else if (type === 'attempt.failed') {
      Object.assign(row, { retry_count: about.retry_count, last_error: about.error });
    } else if (type === 'event.dead_lettered') {
      Object.assign(row, {
        status: 'dead_letter',
        retry_count: about.retry_count,
        last_error: about.last_error,
      });
    } else if (type === 'event.expired') row.status = 'expired';
    else Object.assign(row, { status: 'pending', retry_count: 0 });
  }
  return [...rows.values()];
}

function received(seq: number): Recorded {
  const data = {
    event_id: `event-${seq}`,
    event_type: 'task.created',
    source: 'market',
    payload: { id: `task-${seq}`, title: 'quotes " and \\ and \0', nested: [1, { a: null }] },
    target_channels: ['#bounties', '#cat-x'],
    formatted_message: `[NEW] {"${seq}", '\\'} é😀`,
  };
  const at = new Date(Date.UTC(2026, 2, 1, 19) + seq * 1_000);
  return record('MARKET', seq, at, { type: 'event.received', data });
}

function record(stream: string, seq: number, at: Date, fact: AnyFact): Recorded {
  return { ...fact, id: `${stream}-${seq}`, stream, subject: 'any', seq, at, by: 'test', cause: null };
}
