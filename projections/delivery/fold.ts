import type { Recorded } from '../../streams/core/index.js';
import { type DeliveryFact, delivery } from '../../streams/delivery/index.js';
import { type MarketFact, market } from '../../streams/events/index.js';
import { defineProjection } from '../core/projection.js';
import { Rows } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import { aboutQueue } from './about.js';

/** The state of an event of the queue. */
export type QueueStatus = 'pending' | 'delivered' | 'dead_letter' | 'expired';

const eventRows = new Rows({
  id: 'bigint primary key',
  event_id: 'text collate "C" not null unique',
  event_type: 'text not null',
  source: 'text not null',
  payload: 'text not null',
  target_channels: 'text not null',
  formatted_message: 'text not null',
  created_at: 'timestamptz not null',
});
const outcomeRows = new Rows({
  id: 'bigint primary key',
  status: 'text not null',
  retry_count: 'integer not null',
  last_error: 'text',
  delivered_at: 'timestamptz',
  ended_at: 'timestamptz',
  lines: 'text',
});

/**
 * The event queue. Each of its two streams has tables of its own, so that either may be folded first.
 * `events` holds what was received and is never changed. `outcomes` holds what became of it, from the first
 * delivery fact on. An event without an outcome is pending. `lines` is JSON, by channel: the state of each
 * line until the event has its last one.
 */
export const deliveryQueue = defineProjection({
  name: 'delivery_queue',
  version: 3,
  streams: [market, delivery],
  about: aboutQueue,
  ddl: (schema) => `
    ${eventRows.create(`${schema}.events`)}
    ${outcomeRows.create(`${schema}.outcomes`)}
    create index on ${schema}.outcomes (status, id) where status in ('dead_letter', 'expired');
    create table ${schema}.received (
      only_row boolean primary key default true check (only_row),
      events bigint not null,
      last_at timestamptz not null
    );
    create table ${schema}.statuses (status text primary key, events bigint not null);
    create table ${schema}.deliveries (day date primary key, events bigint not null)`,
  apply: async (tx, facts, schema) => {
    const received = facts.filter((fact) => fact.stream === market.name) as Recorded<MarketFact>[];
    const outcomes = facts.filter((fact) => fact.stream === delivery.name) as Recorded<DeliveryFact>[];
    if (received.length > 0) await addEvents(tx, received, schema);
    if (outcomes.length > 0) await changeOutcomes(tx, outcomes, schema);
  },
});

async function addEvents(tx: Tx, facts: Recorded<MarketFact>[], schema: string): Promise<void> {
  const rows = facts.map(({ seq, at, data }) => ({
    id: seq,
    created_at: at,
    event_id: data.event_id,
    event_type: data.event_type,
    source: data.source,
    formatted_message: data.formatted_message,
    payload: JSON.stringify(data.payload),
    target_channels: JSON.stringify(data.target_channels),
  }));
  await tx.query(
    `with counted as (
       insert into ${schema}.received (events, last_at) values ($1, $2)
       on conflict (only_row) do update
       set events = received.events + excluded.events, last_at = greatest(received.last_at, excluded.last_at)
     )
     insert into ${schema}.events select * from ${eventRows.from('added', { first: 3 })}`,
    [facts.length, facts.at(-1)!.at, ...eventRows.params(rows)],
  );
}

/** What the facts of one batch say about one event; `null` where they say nothing. Delivery clears `last_error`. */
interface OutcomePatch {
  id: number;
  status: QueueStatus | null;
  retry_count: number | null;
  last_error: string | null;
  delivered_at: Date | null;
  /** When it was delivered, dead-lettered or expired. */
  ended_at: Date | null;
  lines: Record<string, StoredLine> | null;
}

/** The state of one line of an event, with times in ISO 8601. */
export interface StoredLine {
  shown_at?: string;
  failed_at?: string;
  /** How often the network refused it, since the event was received or redriven. */
  failures?: number;
}

/** Folds the facts of a batch into one change per event. */
function patchesOf(facts: Recorded<DeliveryFact>[]) {
  const patches = new Map<number, OutcomePatch>();
  const change = (id: number, changes: Partial<OutcomePatch>) => {
    const patch = patches.get(id);
    if (!patch) {
      const nothing = { status: null, retry_count: null, last_error: null, delivered_at: null };
      patches.set(id, { id, ...nothing, ended_at: null, lines: null, ...changes });
    } else if (patch.status !== 'delivered') {
      Object.assign(patch, changes, {
        lines: changes.lines ? { ...patch.lines, ...changes.lines } : patch.lines,
      });
    }
  };
  for (const fact of facts) {
    switch (fact.type) {
      case 'lines.confirmed':
        for (const { seq, channel, completes } of fact.data.lines) {
          if (completes) {
            const end = { delivered_at: fact.at, ended_at: fact.at };
            change(seq, { status: 'delivered', ...end, last_error: null });
          } else change(seq, { lines: { [channel]: { shown_at: fact.at.toISOString() } } });
        }
        break;
      case 'attempt.failed':
        change(fact.data.seq, {
          retry_count: fact.data.retry_count,
          last_error: fact.data.error,
          lines: {
            [fact.data.channel]: { failed_at: fact.at.toISOString(), failures: fact.data.failures },
          },
        });
        break;
      case 'event.dead_lettered': {
        const { seq, retry_count, last_error } = fact.data;
        change(seq, { status: 'dead_letter', retry_count, last_error, ended_at: fact.at });
        break;
      }
      case 'event.expired':
        change(fact.data.seq, { status: 'expired', ended_at: fact.at });
        break;
      case 'event.redriven':
        change(fact.data.seq, {
          status: 'pending',
          retry_count: 0,
          ended_at: null,
          lines: Object.fromEntries(fact.data.undelivered.map((channel) => [channel, {}])),
        });
        break;
    }
  }
  return [...patches.values()].map((patch) => ({
    ...patch,
    lines: patch.lines && JSON.stringify(patch.lines),
  }));
}

/**
 * Changes the outcomes and, in the same statement, the counts that depend on them. A delivered event stays
 * delivered: confirmations have their own subject, and one may cross with an event's expiry.
 */
async function changeOutcomes(tx: Tx, facts: Recorded<DeliveryFact>[], schema: string): Promise<void> {
  const patches = patchesOf(facts);
  if (patches.length === 0) return;
  await tx.query(
    `with patch as (
       select * from ${outcomeRows.from('patch')}
     ), next as (
       select patch.id, old.status as old_status,
         coalesce(patch.status, old.status, 'pending') as status,
         coalesce(patch.retry_count, old.retry_count, 0) as retry_count,
         case when patch.status is distinct from 'delivered'
           then coalesce(patch.last_error, old.last_error) end as last_error,
         patch.delivered_at,
         case when patch.status is null then old.ended_at else patch.ended_at end as ended_at,
         case when patch.lines is null then old.lines
           else (coalesce(old.lines, '{}')::jsonb || patch.lines::jsonb)::text end as lines
       from patch left join lateral (
         -- limited so that the planner looks up each id; joined, it would read the whole table for every batch
         select * from ${schema}.outcomes where id = patch.id limit 1
       ) as old on true
       where old.status is distinct from 'delivered'
     ), stored as (
       insert into ${schema}.outcomes (${outcomeRows.names}) select ${outcomeRows.names} from next
       on conflict (id) do update set ${outcomeRows.replaced('id')}
     ), counted as (
       insert into ${schema}.statuses (status, events)
       select status, sum(step) from (
         select status, 1 as step from next
         union all select old_status, -1 from next where old_status is not null
       ) as steps group by status having sum(step) <> 0
       on conflict (status) do update set events = statuses.events + excluded.events
     )
     insert into ${schema}.deliveries (day, events)
     select (delivered_at at time zone 'UTC')::date, count(*) from next where status = 'delivered' group by 1
     on conflict (day) do update set events = deliveries.events + excluded.events`,
    outcomeRows.params(patches),
  );
}
