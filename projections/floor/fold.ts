import type { Recorded } from '../../streams/core/index.js';
import { type FloorAnswer, type FloorState, freeFloor, seeFloor } from '../../streams/floor/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { personOf } from '../../streams/moderation/index.js';
import { type IrcFact, irc } from '../../streams/network/index.js';
import { dayBefore, days, isNewDay, lastDayTable } from '../core/days.js';
import { defineProjection } from '../core/projection.js';
import { type RowOf, Rows } from '../core/rows.js';
import { json, type Tx } from '../core/sql.js';
import { aboutFloors } from './about.js';

/** The floor of a channel as it is stored; `state` is JSON. */
const floorRows = new Rows({
  channel: 'text collate "C" primary key',
  seq: 'bigint not null',
  state: 'text not null',
  // of the last fact of the channel
  day: 'text collate "C" not null',
});

/**
 * A floor is forgotten when its channel has had no fact on so many whole days. The recorder notes once a day who is in a
 * channel. So nobody records this one any more, and all turns there are over.
 */
const keptDays = 3;

/** When a day begins, floors are forgotten whose last fact is of a day before the one that this answers. */
export const forgottenBefore = (day: string): string => dayBefore(day, keptDays);

/** The floors of channels: whose turn it is, by the rule of `streams/floor`. */
export const floorModel = defineProjection({
  name: 'floors',
  version: 4,
  streams: [irc],
  // who follows floors needs the day of each
  readsFrom: 3,
  about: aboutFloors,
  ddl: (schema) => floorRows.create(`${schema}.floors`) + lastDayTable(schema),
  apply: async (tx, facts, schema) => {
    for (const { day, facts: ofDay } of days(facts)) {
      if (await isNewDay(tx, schema, day))
        await tx.query(`delete from ${schema}.floors where day < $1`, [forgottenBefore(day)]);
      await foldDay(tx, day, ofDay, schema);
    }
  },
});

async function foldDay(tx: Tx, day: string, facts: Recorded<IrcFact>[], schema: string): Promise<void> {
  const keys = [...new Set(facts.map(({ data }) => casefold(data.channel)))];
  const stored = await tx.query<RowOf<typeof floorRows>>(
    `select channel, seq, state, day from ${schema}.floors where channel = any($1::text[])`,
    [keys],
  );
  const rows = new Map(
    stored.map((row) => [row.channel, { ...row, state: JSON.parse(row.state) as FloorState }]),
  );
  const changed = new Map<string, RowOf<typeof floorRows>>();
  for (const fact of facts) {
    const channel = casefold(fact.data.channel);
    const row = rows.get(channel);
    const state = row?.state ?? freeFloor();
    const before = json(state);
    seeAll(state, fact);
    const after = json(state);
    // a channel where nobody asks for it has no row
    if (after === before && (!row || row.day === day)) continue;
    const seq = after === before ? row!.seq : fact.seq;
    rows.set(channel, { channel, seq, state, day });
    changed.set(channel, { channel, seq, state: after, day });
  }
  if (changed.size === 0) return;
  await tx.query(
    `insert into ${schema}.floors (${floorRows.names}) select * from ${floorRows.from('new')}
     on conflict (channel) do update set ${floorRows.replaced('channel')}`,
    floorRows.params([...changed.values()]),
  );
}

/** Changes a floor by all that a fact has seen, and answers what came of what was asked. */
export function seeAll(state: FloorState, { data }: Pick<Recorded<IrcFact>, 'data'>): FloorAnswer[] {
  return data.seen.flatMap(
    (seen) => seeFloor(state, seen, 'text' in seen && 'nick' in seen ? personOf(seen) : '') ?? [],
  );
}
