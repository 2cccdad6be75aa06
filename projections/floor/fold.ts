import type { Recorded } from '../../streams/core/index.js';
import { type FloorAnswer, type FloorState, freeFloor, seeFloor } from '../../streams/floor/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { personOf } from '../../streams/moderation/index.js';
import { type IrcFact, irc } from '../../streams/network/index.js';
import { defineProjection } from '../core/projection.js';
import { Rows } from '../core/rows.js';
import { json } from '../core/sql.js';
import { aboutFloors } from './about.js';

/** The floor of a channel as it is stored; `state` is JSON. */
const floorRows = new Rows({
  channel: 'text collate "C" primary key',
  seq: 'bigint not null',
  state: 'text not null',
});

/** The floors of channels: whose turn it is, by the rule of `streams/floor`. */
export const floorModel = defineProjection({
  name: 'floors',
  version: 2,
  streams: [irc],
  about: aboutFloors,
  ddl: (schema) => floorRows.create(`${schema}.floors`),
  apply: async (tx, facts, schema) => {
    const keys = [...new Set(facts.map(({ data }) => casefold(data.channel)))];
    const stored = await tx.query<{ channel: string; seq: number; state: string }>(
      `select channel, seq, state from ${schema}.floors where channel = any($1::text[])`,
      [keys],
    );
    const states = new Map(stored.map(({ channel, state }) => [channel, JSON.parse(state) as FloorState]));
    const changed = new Map<string, { channel: string; seq: number; state: string }>();
    for (const fact of facts) {
      const channel = casefold(fact.data.channel);
      const state = states.get(channel) ?? freeFloor();
      const before = json(state);
      seeAll(state, fact);
      const after = json(state);
      if (after === before) continue;
      states.set(channel, state);
      changed.set(channel, { channel, seq: fact.seq, state: after });
    }
    if (changed.size === 0) return;
    await tx.query(
      `insert into ${schema}.floors (${floorRows.names}) select * from ${floorRows.from('new')}
       on conflict (channel) do update set ${floorRows.replaced('channel')}`,
      floorRows.params([...changed.values()]),
    );
  },
});

/** Changes a floor by all that a fact has seen, and answers what came of what was asked. */
export function seeAll(state: FloorState, { data }: Pick<Recorded<IrcFact>, 'data'>): FloorAnswer[] {
  return data.seen.flatMap(
    (seen) => seeFloor(state, seen, 'text' in seen && 'nick' in seen ? personOf(seen) : '') ?? [],
  );
}
