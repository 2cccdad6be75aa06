import type { MarketEvent } from '../../streams/events/index.js';
import type { Tx } from '../core/sql.js';
import type { QueueStatus, StoredLine } from './fold.js';

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

type StoredRow = Omit<QueueRow, 'target_channels' | 'created_at' | 'delivered_at'> & {
  /** JSON text. */
  target_channels: string;
  created_at: Date;
  delivered_at: Date | null;
};

const columns = `e.id, e.event_id, e.event_type, e.source, e.payload, e.target_channels, e.formatted_message,
  coalesce(o.status, 'pending') as status, coalesce(o.retry_count, 0) as retry_count, o.last_error,
  e.created_at, o.delivered_at`;

/** The state of the queue at a time; the cost does not depend on how much has gone through it. */
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

/** What became of an event, channel by channel; times are ISO 8601. */
export interface EventReceipt
  extends Pick<
    QueueRow,
    'event_id' | 'event_type' | 'source' | 'formatted_message' | 'status' | 'retry_count'
  > {
  received_at: string;
  /** When it was delivered, given up or expired. */
  ended_at: string | null;
  last_error: string | null;
  channels: {
    channel: string;
    status: QueueStatus;
    /** When the line was shown, or last refused. */
    at: string | null;
    /** How often the network has refused the line that is not shown. */
    failures: number;
  }[];
}

/** The receipt of one event; `undefined` when it was not received. */
export async function eventReceipt(
  sql: Tx,
  schema: string,
  eventId: string,
): Promise<EventReceipt | undefined> {
  const [row] = await sql.query<StoredRow & { ended_at: Date | null; lines: string | null }>(
    `select ${columns}, o.ended_at, o.lines
     from ${schema}.events as e left join ${schema}.outcomes as o using (id) where e.event_id = $1`,
    [eventId],
  );
  if (!row) return undefined;
  const { event_id, event_type, source, formatted_message, status, retry_count, last_error } = row;
  const ended_at = row.ended_at?.toISOString() ?? null;
  const lines = JSON.parse(row.lines ?? '{}') as Record<string, StoredLine>;
  const channels = (JSON.parse(row.target_channels) as string[]).map((channel) => {
    const { shown_at, failed_at = null, failures = 0 } = lines[channel] ?? {};
    if (shown_at !== undefined || status === 'delivered')
      return { channel, status: 'delivered' as const, at: shown_at ?? ended_at, failures: 0 };
    return { channel, status, at: failed_at, failures };
  });
  return {
    event_id,
    event_type,
    source,
    formatted_message,
    status,
    retry_count,
    last_error,
    ended_at,
    received_at: row.created_at.toISOString(),
    channels,
  };
}

/** What became of one event; `undefined` when it was not received. */
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
function queueRowView(row: StoredRow): QueueRow {
  return {
    ...row,
    target_channels: JSON.parse(row.target_channels) as string[],
    created_at: row.created_at.toISOString(),
    delivered_at: row.delivered_at?.toISOString() ?? null,
  };
}
