import type { Recorded } from '../streams/core/index.js';
import { type DeliveryFact, delivery } from '../streams/delivery/index.js';
import { type MarketEvent, type MarketFact, market } from '../streams/events/index.js';
import { defineProjection } from './core/projection.js';
import type { Tx } from './core/sql.js';

/** Where an event of the queue stands. */
export type QueueStatus = 'pending' | 'delivered' | 'dead_letter' | 'expired';

/** The contract's event queue row; `id` is the event's sequence in the market stream. */
export interface QueueRow {
  id: number;
  event_id: string;
  event_type: string;
  source: string;
  /** JSON text. */
  payload: string;
  target_channels: string[];
  formatted_message: string;
  status: QueueStatus;
  retry_count: number;
  /** Why the last attempt failed; nothing is wrong any more once the event was delivered. */
  last_error: string | null;
  /** ISO 8601. */
  created_at: string;
  delivered_at: string | null;
}

/** The contract's queue statistics, without what is configuration; `last_event_received` is ISO 8601. */
export interface QueueStatistics {
  pending: number;
  delivered_today: number;
  dead_letter: number;
  last_event_received: string | null;
}

/**
 * The event queue. Each of its two streams has tables of its own, so that either may be folded first: `events`
 * holds what was received and is never changed, `outcomes` what became of it, from the first delivery fact on.
 * An event without an outcome is pending.
 */
export const deliveryQueue = defineProjection({
  name: 'delivery_queue',
  version: 2,
  streams: [market, delivery],
  ddl: (schema) => `
    create table ${schema}.events (
      id bigint primary key,
      event_id text collate "C" not null unique,
      event_type text not null,
      source text not null,
      payload text not null,
      target_channels text not null,
      formatted_message text not null,
      created_at timestamptz not null
    );
    create table ${schema}.outcomes (
      id bigint primary key,
      status text not null,
      retry_count integer not null,
      last_error text,
      delivered_at timestamptz
    );
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
  await tx.query(
    `with counted as (
       insert into ${schema}.received (events, last_at) values ($1, $2)
       on conflict (only_row) do update
       set events = received.events + excluded.events, last_at = greatest(received.last_at, excluded.last_at)
     )
     insert into ${schema}.events
     select * from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
       $10::timestamptz[])`,
    [
      facts.length,
      facts.at(-1)!.at,
      facts.map(({ seq }) => seq),
      facts.map(({ data }) => data.event_id),
      facts.map(({ data }) => data.event_type),
      facts.map(({ data }) => data.source),
      facts.map(({ data }) => JSON.stringify(data.payload)),
      facts.map(({ data }) => JSON.stringify(data.target_channels)),
      facts.map(({ data }) => data.formatted_message),
      facts.map(({ at }) => at),
    ],
  );
}

/** What the facts of one batch say about one event; `null` where they say nothing. Delivery clears `last_error`. */
interface OutcomePatch {
  id: number;
  status: QueueStatus | null;
  retry_count: number | null;
  last_error: string | null;
  delivered_at: Date | null;
}

/** Folds the facts of a batch into one change per event. */
function patchesOf(facts: Recorded<DeliveryFact>[]): OutcomePatch[] {
  const patches = new Map<number, OutcomePatch>();
  const change = (id: number, changes: Partial<OutcomePatch>) => {
    const patch = patches.get(id);
    if (!patch) {
      patches.set(id, {
        id,
        status: null,
        retry_count: null,
        last_error: null,
        delivered_at: null,
        ...changes,
      });
    } else if (patch.status !== 'delivered') Object.assign(patch, changes);
  };
  for (const fact of facts) {
    switch (fact.type) {
      case 'lines.confirmed':
        for (const { seq, completes } of fact.data.lines) {
          if (completes) change(seq, { status: 'delivered', delivered_at: fact.at, last_error: null });
        }
        break;
      case 'attempt.failed':
        change(fact.data.seq, { retry_count: fact.data.retry_count, last_error: fact.data.error });
        break;
      case 'event.dead_lettered': {
        const { seq, retry_count, last_error } = fact.data;
        change(seq, { status: 'dead_letter', retry_count, last_error });
        break;
      }
      case 'event.expired':
        change(fact.data.seq, { status: 'expired' });
        break;
      case 'event.redriven':
        change(fact.data.seq, { status: 'pending', retry_count: 0 });
        break;
    }
  }
  return [...patches.values()];
}

/**
 * Changes the outcomes and, in the same statement, the counts that depend on them. What was delivered stays
 * delivered: confirmations have a subject of their own, and one may cross with an event's expiry.
 */
async function changeOutcomes(tx: Tx, facts: Recorded<DeliveryFact>[], schema: string): Promise<void> {
  const patches = patchesOf(facts);
  if (patches.length === 0) return;
  await tx.query(
    `with patch as (
       select * from unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::timestamptz[])
         as patch (id, status, retry_count, last_error, delivered_at)
     ), next as (
       select patch.id, old.status as old_status,
         coalesce(patch.status, old.status, 'pending') as status,
         coalesce(patch.retry_count, old.retry_count, 0) as retry_count,
         case when patch.status is distinct from 'delivered'
           then coalesce(patch.last_error, old.last_error) end as last_error,
         patch.delivered_at
       from patch left join lateral (
         -- limited so that the planner looks up each id; joined, it would read the whole table for every batch
         select * from ${schema}.outcomes where id = patch.id limit 1
       ) as old on true
       where old.status is distinct from 'delivered'
     ), stored as (
       insert into ${schema}.outcomes (id, status, retry_count, last_error, delivered_at)
       select id, status, retry_count, last_error, delivered_at from next
       on conflict (id) do update
       set status = excluded.status, retry_count = excluded.retry_count, last_error = excluded.last_error,
         delivered_at = excluded.delivered_at
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
    [
      patches.map((patch) => patch.id),
      patches.map((patch) => patch.status),
      patches.map((patch) => patch.retry_count),
      patches.map((patch) => patch.last_error),
      patches.map((patch) => patch.delivered_at),
    ],
  );
}

type StoredRow = Omit<QueueRow, 'target_channels' | 'created_at' | 'delivered_at'> & {
  /** JSON text. */
  target_channels: string;
  created_at: Date;
  delivered_at: Date | null;
};

const columns = `e.id, e.event_id, e.event_type, e.source, e.payload, e.target_channels, e.formatted_message,
  coalesce(o.status, 'pending') as status, coalesce(o.retry_count, 0) as retry_count, o.last_error,
  e.created_at, o.delivered_at`;

/** How the queue stands at a time; the cost does not depend on how much has gone through it. */
export async function queueStatistics(sql: Tx, schema: string, now: Date): Promise<QueueStatistics> {
  const [row] = await sql.query<Omit<QueueStatistics, 'last_event_received'> & { last_at: Date | null }>(
    `select
       greatest(0, coalesce((select events from ${schema}.received), 0) - coalesce((
         select sum(events) from ${schema}.statuses where status <> 'pending'), 0))::bigint as pending,
       coalesce((select events from ${schema}.deliveries where day = $1::date), 0) as delivered_today,
       coalesce((select events from ${schema}.statuses where status = 'dead_letter'), 0) as dead_letter,
       (select last_at from ${schema}.received) as last_at`,
    [now.toISOString().slice(0, 10)],
  );
  const { last_at, ...counts } = row!;
  return { ...counts, last_event_received: last_at?.toISOString() ?? null };
}

/** How many events have each status now; the cost does not depend on how many went through. */
export async function queueCounts(sql: Tx, schema: string): Promise<Record<QueueStatus, number>> {
  const rows = await sql.query<{ status: QueueStatus | 'received'; events: number }>(
    `select status, events from ${schema}.statuses union all select 'received', events from ${schema}.received`,
  );
  const counts = { received: 0, pending: 0, delivered: 0, dead_letter: 0, expired: 0 };
  for (const { status, events } of rows) counts[status] = events;
  const { received, pending: _, ...settled } = counts;
  const pending = received - settled.delivered - settled.dead_letter - settled.expired;
  return { ...settled, pending: Math.max(0, pending) };
}

/** Dead-lettered or expired events, newest first; `before` is the `id` of the last one already seen. */
export async function deadLetters(
  sql: Tx,
  schema: string,
  options: { status: 'dead_letter' | 'expired'; limit: number; before?: number },
): Promise<QueueRow[]> {
  // the list of statuses is there for the planner: the index has only these
  const rows = await sql.query<StoredRow>(
    `select ${columns} from ${schema}.outcomes as o join ${schema}.events as e using (id)
     where o.status = $1 and o.status in ('dead_letter', 'expired')
       and o.id < coalesce($2::bigint, 9223372036854775807)
     order by o.id desc limit $3`,
    [options.status, options.before ?? null, options.limit],
  );
  return rows.map(queueRowView);
}

/** One received event, without what is in it. */
export type ReceivedEvent = Pick<
  QueueRow,
  'id' | 'event_id' | 'event_type' | 'target_channels' | 'status' | 'created_at'
>;

/** A part of what was received, oldest first; both ends, sequences or times, belong to it. `after` is the last `id` already seen. */
export async function receivedEvents(
  sql: Tx,
  schema: string,
  range: {
    from: number | Date;
    to: number | Date;
    type?: string | undefined;
    channel?: string | undefined;
    after: number;
    limit: number;
  },
): Promise<ReceivedEvent[]> {
  const { from, to, type, channel, after, limit } = range;
  const seqOf = (bound: number | Date) => (typeof bound === 'number' ? bound : null);
  const timeOf = (bound: number | Date) => (typeof bound === 'number' ? null : bound);
  const rows = await sql.query<Pick<StoredRow, keyof ReceivedEvent>>(
    `select e.id, e.event_id, e.event_type, e.target_channels, coalesce(o.status, 'pending') as status, e.created_at
     from ${schema}.events as e
     left join lateral (select * from ${schema}.outcomes where id = e.id limit 1) as o on true
     where e.id > $1::bigint and e.id >= coalesce($2::bigint, 0)
       and e.id <= coalesce($3::bigint, 9223372036854775807)
       and e.created_at >= coalesce($4::timestamptz, '-infinity')
       and e.created_at <= coalesce($5::timestamptz, 'infinity')
       and e.event_type = coalesce($6::text, e.event_type)
       and ($7::text is null or jsonb_exists(e.target_channels::jsonb, $7::text))
     order by e.id limit $8`,
    [after, seqOf(from), seqOf(to), timeOf(from), timeOf(to), type ?? null, channel ?? null, limit],
  );
  return rows.map((row) => ({
    ...row,
    target_channels: JSON.parse(row.target_channels) as string[],
    created_at: row.created_at.toISOString(),
  }));
}

/** The row of one event; `undefined` when it was not received. */
export async function queueRow(sql: Tx, schema: string, eventId: string): Promise<QueueRow | undefined> {
  const [row] = await sql.query<StoredRow>(
    `select ${columns} from ${schema}.events as e left join ${schema}.outcomes as o using (id)
     where e.event_id = $1`,
    [eventId],
  );
  return row && queueRowView(row);
}

/** Where one event stands; `undefined` when it was not received. */
export async function deliveryStatus(
  sql: Tx,
  schema: string,
  eventId: string,
): Promise<QueueStatus | undefined> {
  const [row] = await sql.query<{ status: QueueStatus }>(
    `select coalesce(o.status, 'pending') as status
     from ${schema}.events as e left join ${schema}.outcomes as o using (id) where e.event_id = $1`,
    [eventId],
  );
  return row?.status;
}

/** Status of a known event, and whether it is the same in type, source and payload as the one given. */
export async function knownEvent(
  sql: Tx,
  schema: string,
  { event_id, event_type, source, payload }: MarketEvent,
): Promise<{ status: QueueStatus; isSame: boolean } | undefined> {
  const [row] = await sql.query<{ status: QueueStatus; isSame: boolean }>(
    `select coalesce(o.status, 'pending') as status,
       e.event_type = $2::text and e.source = $3::text and e.payload = $4::text as "isSame"
     from ${schema}.events as e left join ${schema}.outcomes as o using (id) where e.event_id = $1`,
    [event_id, event_type, source, JSON.stringify(payload)],
  );
  return row;
}

/** A row as it is answered. */
export function queueRowView(row: StoredRow): QueueRow {
  return {
    ...row,
    target_channels: JSON.parse(row.target_channels) as string[],
    created_at: row.created_at.toISOString(),
    delivered_at: row.delivered_at?.toISOString() ?? null,
  };
}
