import type { Recorded } from '../../streams/core/index.js';
import { type IdentityFact, identity, walletKey } from '../../streams/identity/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { type IrcFact, irc, isLine } from '../../streams/network/index.js';
import { dayBefore, days, isNewDay, lastDayTable } from '../core/days.js';
import { defineProjection } from '../core/projection.js';
import { type RowOf, Rows, rowsOf } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import { aboutLinks } from './about.js';

const linkRows = new Rows({
  nick: 'text collate "C" primary key',
  // the key under which wallets are compared
  wallet: 'text collate "C" not null',
  // as it was given
  wallet_address: 'text not null',
  identified: 'boolean not null',
  linked_at: 'timestamptz not null',
  verified_at: 'timestamptz',
  agent_id: 'bigint',
  sync_version: 'integer not null',
});

/**
 * Who is linked to which wallet now. `links` has one row for each present link; an unlink removes it. `seen`
 * comes from the IRC stream alone: the minute in which a nick last said something in public, so that a nick that says
 * much costs little. What is said in private channels tells strangers nothing, also not when. A nick may be linked after it
 * is seen, and either stream may be folded first. So `seen` has all nicks, but those of the last 30 days only.
 */
export const identityLinks = defineProjection({
  name: 'identity_links',
  version: 4,
  streams: [identity, irc],
  about: aboutLinks,
  ddl: (schema) => `
    ${linkRows.create(`${schema}.links`)}
    create index on ${schema}.links (wallet);
    create index on ${schema}.links (nick) where verified_at is not null;
    create table ${schema}.seen (nick text collate "C" primary key, seen_at timestamptz not null);
    ${lastDayTable(schema)}
    create table ${schema}.totals (
      only_row boolean primary key default true check (only_row),
      links integer not null,
      verified integer not null
    )`,
  apply: async (tx, facts, schema) => {
    const changes = facts.filter((fact) => fact.stream === identity.name) as Recorded<IdentityFact>[];
    const sightings = facts.filter((fact) => fact.stream === irc.name) as Recorded<IrcFact>[];
    if (changes.length > 0) await changeLinks(tx, changes, schema);
    for (const { day, facts: ofDay } of days(sightings)) {
      if (await isNewDay(tx, schema, day)) await forgetSeen(tx, dayBefore(day, keptDays), schema);
      await noteSeen(tx, ofDay, schema);
    }
  },
});

/** A row of `links` as it is stored. */
export type StoredLink = RowOf<typeof linkRows>;

async function changeLinks(tx: Tx, facts: Recorded<IdentityFact>[], schema: string): Promise<void> {
  const nicks = [...new Set(facts.map(({ data }) => data.nick))];
  const stored = await rowsOf<StoredLink>(tx, `${schema}.links`, { nick: nicks });
  const rows = new Map<string, StoredLink | undefined>(stored.map((row) => [row.nick, row]));
  for (const fact of facts) rows.set(fact.data.nick, rowAfter(rows.get(fact.data.nick), fact));
  const changed = [...rows.values()].filter((row) => row !== undefined);
  const gone = stored.filter(({ nick }) => rows.get(nick) === undefined);
  const verified = (links: StoredLink[]) => links.filter(({ verified_at }) => verified_at !== null).length;
  await tx.query(`delete from ${schema}.links where nick = any($1::text[])`, [gone.map(({ nick }) => nick)]);
  await tx.query(
    `with counted as (
       insert into ${schema}.totals as t (links, verified) values ($1::integer, $2::integer)
       on conflict (only_row) do update
       set links = t.links + excluded.links, verified = t.verified + excluded.verified
     )
     insert into ${schema}.links select * from ${linkRows.from('changed', { first: 3 })}
     on conflict (nick) do update set ${linkRows.replaced('nick')}`,
    [changed.length - stored.length, verified(changed) - verified(stored), ...linkRows.params(changed)],
  );
}

/** A nick's row after one more fact; `undefined` if it has no link. */
function rowAfter(before: StoredLink | undefined, fact: Recorded<IdentityFact>): StoredLink | undefined {
  const { type, data, at } = fact;
  if (type === 'identity.linked') {
    return {
      nick: data.nick,
      wallet: walletKey(data.wallet_address),
      wallet_address: data.wallet_address,
      identified: data.identified,
      linked_at: at,
      verified_at: null,
      agent_id: null,
      sync_version: 0,
    };
  }
  if (!before) return undefined;
  switch (type) {
    case 'identity.confirmed':
      return { ...before, identified: true };
    case 'identity.verified': {
      const { agent_id, sync_version } = data;
      return { ...before, verified_at: at, agent_id, sync_version };
    }
    case 'identity.agent_changed': {
      const { agent_id, sync_version } = data;
      return { ...before, agent_id, sync_version };
    }
    case 'identity.unlinked':
      return undefined;
    case 'challenge.issued':
    case 'verification.failed':
    case 'push.delivered':
    case 'push.given_up':
      return before;
  }
}

const minuteMs = 60_000;
/** As long as what was said is kept: a rebuild knows no more than that. */
const keptDays = 30;

/** Removes those who said nothing since a day, so that nobody fills the table with new nicks for good. */
async function forgetSeen(tx: Tx, since: string, schema: string): Promise<void> {
  await tx.query(`delete from ${schema}.seen where seen_at < $1::timestamptz`, [new Date(since)]);
}

async function noteSeen(tx: Tx, facts: Recorded<IrcFact>[], schema: string): Promise<void> {
  const minutes = new Map<string, number>();
  for (const { data } of facts) {
    for (const sighting of data.seen) {
      if (!isLine(sighting) || sighting.private) continue;
      const nick = casefold(sighting.nick);
      const minute = sighting.at - (sighting.at % minuteMs);
      if (minute > (minutes.get(nick) ?? 0)) minutes.set(nick, minute);
    }
  }
  if (minutes.size === 0) return;
  await tx.query(
    `insert into ${schema}.seen as s select * from unnest($1::text[], $2::timestamptz[])
     on conflict (nick) do update set seen_at = excluded.seen_at where s.seen_at < excluded.seen_at`,
    [[...minutes.keys()], [...minutes.values()].map((minute) => new Date(minute))],
  );
}
