import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { isPrivateIncident, type ModerationFact, moderation } from '../../streams/moderation/index.js';
import { defineProjection } from '../core/projection.js';
import { Rows } from '../core/rows.js';
import { json, type Tx } from '../core/sql.js';
import { aboutModeration } from './about.js';

type FactOfType<Type extends ModerationFact['type']> = Recorded<Extract<ModerationFact, { type: Type }>>;

/** An incident as it is stored. */
export const incidentRows = new Rows({
  id: 'bigint primary key',
  ref: 'text collate "C" not null unique',
  subject: 'text not null',
  person: 'text collate "C"',
  nick: 'text not null',
  nick_key: 'text collate "C" not null',
  host: 'text',
  account: 'text',
  channel: 'text not null',
  channel_key: 'text collate "C" not null',
  // nothing that the public is told of
  private: 'boolean not null',
  said_at: 'timestamptz not null',
  score: 'integer not null',
  text_score: 'integer not null',
  level: 'text not null',
  patterns: 'text not null',
  text: 'text',
  action: 'text not null',
  spared: 'text',
  seconds: 'integer',
  outcome: 'text',
  error: 'text',
  mask: 'text',
  voice: 'boolean',
  until: 'timestamptz',
  lifted_at: 'timestamptz',
  pardoned_at: 'timestamptz',
  pardoned_by: 'text',
  appealed_at: 'timestamptz',
  appeal: 'text',
  upheld_at: 'timestamptz',
  told_at: 'timestamptz',
  created_at: 'timestamptz not null',
});

/** The rows of lines that called for a kick or a ban, also where it was too late to act. */
export const isCondemned = `(action in ('kick', 'ban') or (spared = 'late' and level in ('KICK', 'BAN')))`;

/**
 * Incidents and those who caused them. Whatever happened in private is counted apart. An incident's id is the
 * sequence of its fact. `persons` leaves out what was pardoned; `days` and `levels` count all that was recorded.
 */
export const moderationModel = defineProjection({
  name: 'moderation',
  version: 9,
  streams: [moderation],
  // what the public is told of persons is in no earlier table
  readsFrom: 7,
  about: aboutModeration,
  ddl: (schema) => `
    ${incidentRows.create(`${schema}.incidents`)}
    create index on ${schema}.incidents (person, id);
    create index on ${schema}.incidents (nick_key, id) where person is not null;
    create index on ${schema}.incidents (channel_key, id) where ${isCondemned} and pardoned_at is null;
    create index on ${schema}.incidents (id) where outcome is null and action not in ('none', 'withhold');
    create index on ${schema}.incidents (until) where until is not null and lifted_at is null;
    create index on ${schema}.incidents (id)
      where told_at is null and person is not null and (pardoned_at is not null or upheld_at is not null);
    create table ${schema}.persons (
      person text collate "C" primary key,
      nick text not null,
      public_nick text,
      incident_count bigint not null,
      private_count bigint not null,
      last_id bigint not null,
      public_last_id bigint not null
    );
    create index on ${schema}.persons (incident_count, last_id);
    create index on ${schema}.persons ((incident_count - private_count), public_last_id);
    create table ${schema}.days (
      day date, private boolean, incidents bigint not null, primary key (day, private));
    create table ${schema}.levels (
      level text, private boolean, incidents bigint not null, primary key (level, private))`,
  apply: async (tx, facts, schema) => {
    const of = <Type extends ModerationFact['type']>(type: Type) =>
      facts.filter((fact) => fact.type === type) as unknown as FactOfType<Type>[];
    const incidents = of('incident.recorded');
    const pardons = of('incident.pardoned');
    if (incidents.length > 0) await addIncidents(tx, incidents, schema);
    await setAnswers(tx, of('incident.answered'), schema);
    await setLifted(tx, of('incident.lifted'), schema);
    const counts = new Map<string, PersonCount>();
    for (const { seq, data } of incidents) {
      const { person, nick } = data;
      if (person !== null) count(counts, person, { nick, private: isPrivateIncident(data) }, seq);
    }
    for (const row of await setPardoned(tx, pardons, schema)) {
      if (row.person !== null) count(counts, row.person, row, 0, -1);
    }
    await setAppealed(tx, of('incident.appealed'), schema);
    await setTime(tx, 'upheld_at', of('incident.upheld'), schema);
    await setTime(tx, 'told_at', of('incident.told'), schema);
    if (counts.size > 0) await addCounts(tx, [...counts.values()], schema);
  },
});

async function addIncidents(tx: Tx, facts: FactOfType<'incident.recorded'>[], schema: string): Promise<void> {
  const rows = facts.map(({ seq, subject, at, data }) => ({
    ...data,
    id: seq,
    subject,
    nick_key: casefold(data.nick),
    channel_key: casefold(data.channel),
    private: isPrivateIncident(data),
    created_at: at,
  }));
  await tx.query(
    `with added as (
       insert into ${schema}.incidents (id, ref, subject, person, nick, nick_key, host, account, channel, channel_key, private, said_at,
         score, text_score, level, patterns, text, action, spared, seconds, created_at)
       select * from json_to_recordset($1::json) as row (id bigint, ref text, subject text, person text, nick text,
         nick_key text, host text, account text, channel text, channel_key text, private boolean, said_at timestamptz, score integer,
         text_score integer, level text, patterns text, text text, action text, spared text, seconds integer,
         created_at timestamptz)
       returning level, created_at, private
     ), counted as (
       insert into ${schema}.days
       select (created_at at time zone 'UTC')::date, private, count(*) from added group by 1, 2
       on conflict (day, private) do update set incidents = days.incidents + excluded.incidents
     )
     insert into ${schema}.levels select level, private, count(*) from added group by level, private
     on conflict (level, private) do update set incidents = levels.incidents + excluded.incidents`,
    [json(rows)],
  );
}

async function setAnswers(tx: Tx, facts: FactOfType<'incident.answered'>[], schema: string): Promise<void> {
  if (facts.length === 0) return;
  await tx.query(
    `update ${schema}.incidents as i
     set outcome = row.outcome, error = row.error, mask = row.mask, voice = row.voice, until = row.until
     from json_to_recordset($1::json) as row (ref text, outcome text, error text, mask text, voice boolean,
       until timestamptz)
     where i.ref = row.ref`,
    [json(facts.map(({ data }) => data))],
  );
}

/** A lift that failed is tried again, and leaves no trace but its fact. */
async function setLifted(tx: Tx, facts: FactOfType<'incident.lifted'>[], schema: string): Promise<void> {
  const lifted = facts.filter(({ data }) => data.outcome !== 'failed');
  if (lifted.length === 0) return;
  await tx.query(
    `update ${schema}.incidents as i set lifted_at = row.at
     from json_to_recordset($1::json) as row (ref text, at timestamptz) where i.ref = row.ref`,
    [json(lifted.map(({ data, at }) => ({ ref: data.ref, at })))],
  );
}

async function setAppealed(tx: Tx, facts: FactOfType<'incident.appealed'>[], schema: string): Promise<void> {
  if (facts.length === 0) return;
  await tx.query(
    `update ${schema}.incidents as i set appealed_at = row.at, appeal = row.reason
     from json_to_recordset($1::json) as row (ref text, at timestamptz, reason text) where i.ref = row.ref`,
    [json(facts.map(({ data, at }) => ({ ref: data.ref, at, reason: data.reason })))],
  );
}

async function setTime(
  tx: Tx,
  column: 'upheld_at' | 'told_at',
  facts: FactOfType<'incident.upheld' | 'incident.told'>[],
  schema: string,
): Promise<void> {
  if (facts.length === 0) return;
  await tx.query(
    `update ${schema}.incidents as i set ${column} = row.at
     from json_to_recordset($1::json) as row (ref text, at timestamptz)
     -- who was told before it was pardoned is to be told of that
     where i.ref = row.ref${column === 'told_at' ? ' and row.at >= coalesce(i.pardoned_at, row.at)' : ''}`,
    [json(facts.map(({ data, at }) => ({ ref: data.ref, at })))],
  );
}

async function setPardoned(
  tx: Tx,
  facts: FactOfType<'incident.pardoned'>[],
  schema: string,
): Promise<{ person: string | null; nick: string; private: boolean }[]> {
  if (facts.length === 0) return [];
  return await tx.query(
    `update ${schema}.incidents as i set pardoned_at = row.at, pardoned_by = row.by,
       told_at = case when told_at <= row.at then null else told_at end
     from json_to_recordset($1::json) as row (ref text, at timestamptz, by text)
     where i.ref = row.ref and i.pardoned_at is null returning i.person, i.nick, i.private`,
    [json(facts.map(({ data, at, by }) => ({ ref: data.ref, at, by })))],
  );
}

interface PersonCount {
  person: string;
  nick: string;
  /** Of their newest incident that was not private, like `public_last_id`. */
  public_nick: string | null;
  incidents: number;
  private: number;
  last_id: number;
  public_last_id: number;
}

function count(
  counts: Map<string, PersonCount>,
  person: string,
  { nick, private: isPrivate }: { nick: string; private: boolean },
  id: number,
  by = 1,
): void {
  const none = { incidents: 0, private: 0, last_id: 0, public_last_id: 0 };
  const row = counts.get(person) ?? { person, nick, public_nick: null, ...none };
  counts.set(person, row);
  row.incidents += by;
  if (isPrivate) row.private += by;
  // a person's row bears the nick of their newest incident
  if (id > row.last_id) Object.assign(row, { nick, last_id: id });
  // a private one must not tell the public what else a person is called
  if (!isPrivate && id > row.public_last_id) Object.assign(row, { public_nick: nick, public_last_id: id });
}

async function addCounts(tx: Tx, counts: PersonCount[], schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.persons as p
     select * from json_to_recordset($1::json) as row (person text, nick text, public_nick text, incidents bigint,
       private bigint, last_id bigint, public_last_id bigint)
     on conflict (person) do update
     set nick = case when excluded.last_id > p.last_id then excluded.nick else p.nick end,
       public_nick = case when excluded.public_last_id > p.public_last_id then excluded.public_nick else p.public_nick end,
       incident_count = p.incident_count + excluded.incident_count,
       private_count = p.private_count + excluded.private_count,
       last_id = greatest(p.last_id, excluded.last_id),
       public_last_id = greatest(p.public_last_id, excluded.public_last_id)`,
    [json(counts)],
  );
}
