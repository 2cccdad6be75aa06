import type { Recorded } from '../../streams/core/index.js';
import type { AboutTable } from './projection.js';
import type { Tx } from './sql.js';

const dayMs = 24 * 3_600_000;

/** The day, in UTC, on which a fact was stored. */
export const dayOf = ({ at }: Pick<Recorded, 'at'>): string => at.toISOString().slice(0, 10);

/** Facts by that day. */
export function days<Fact extends Recorded>(facts: readonly Fact[]): { day: string; facts: Fact[] }[] {
  const groups: { day: string; facts: Fact[] }[] = [];
  for (const fact of facts) {
    const day = dayOf(fact);
    if (groups.at(-1)?.day !== day) groups.push({ day, facts: [] });
    groups.at(-1)!.facts.push(fact);
  }
  return groups;
}

/** The day that is so many days before another one. */
export function dayBefore(day: string, before: number): string {
  return new Date(Date.parse(day) - before * dayMs).toISOString().slice(0, 10);
}

/** Creates the table in which `isNewDay` remembers the last day. */
export const lastDayTable = (schema: string): string => `
  create table ${schema}.last_day (only_row boolean primary key default true check (only_row), day date not null);`;

/** What people are told of it. */
export const aboutLastDay: AboutTable = {
  says: 'The last day of the stream IRC that was folded.',
  columns: {
    only_row: 'Always true: the table has one row.',
    day: 'The day in UTC. When it begins, rows that are too old are removed.',
  },
};

/**
 * Whether a day is later than all that were asked about: then it is time to remove what is too old. Ask before you fold
 * anything of that day. So the rows do not depend on how the facts were batched.
 */
export async function isNewDay(tx: Tx, schema: string, day: string): Promise<boolean> {
  const begun = await tx.query(
    `insert into ${schema}.last_day as l (day) values ($1::date)
     on conflict (only_row) do update set day = excluded.day where l.day < excluded.day returning day`,
    [day],
  );
  return begun.length > 0;
}
