import type { Recorded } from '../../streams/core/index.js';
import { type IdentityFact, identity, walletKey } from '../../streams/identity/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { type IrcFact, irc, isLine } from '../../streams/network/index.js';
import { defineProjection } from '../core/projection.js';
import type { Tx } from '../core/sql.js';

/**
 * Who is linked with whom now: `links` has one row for each link there is, and an unlink takes it away. `seen` comes
 * from the IRC stream alone: the minute in which a nick last said something, so that who says much costs little.
 */
export const identityLinks = defineProjection({
  name: 'identity_links',
  version: 1,
  streams: [identity, irc],
  ddl: (schema) => `
    create table ${schema}.links (
      nick text collate "C" primary key,
      wallet text collate "C" not null,
      wallet_address text not null,
      identified boolean not null,
      linked_at timestamptz not null,
      verified_at timestamptz,
      agent_id bigint,
      sync_version integer not null,
      challenge text,
      challenge_expires_at timestamptz
    );
    create index on ${schema}.links (wallet);
    create index on ${schema}.links (nick) where verified_at is not null;
    create table ${schema}.seen (nick text collate "C" primary key, seen_at timestamptz not null);
    create table ${schema}.totals (
      only_row boolean primary key default true check (only_row),
      links integer not null,
      verified integer not null
    )`,
  apply: async (tx, facts, schema) => {
    const changes = facts.filter((fact) => fact.stream === identity.name) as Recorded<IdentityFact>[];
    const sightings = facts.filter((fact) => fact.stream === irc.name) as Recorded<IrcFact>[];
    if (changes.length > 0) await changeLinks(tx, changes, schema);
    if (sightings.length > 0) await noteSeen(tx, sightings, schema);
  },
});

/** A row of `links` as it is stored. */
export interface StoredLink {
  nick: string;
  /** The key under which wallets are compared. */
  wallet: string;
  /** As it was given. */
  wallet_address: string;
  identified: boolean;
  linked_at: Date;
  verified_at: Date | null;
  agent_id: number | null;
  sync_version: number;
  challenge: string | null;
  challenge_expires_at: Date | null;
}

async function changeLinks(tx: Tx, facts: Recorded<IdentityFact>[], schema: string): Promise<void> {
  const nicks = [...new Set(facts.map(({ data }) => data.nick))];
  const stored = await tx.query<StoredLink>(
    `select l.* from unnest($1::text[]) as wanted (nick)
     join lateral (select * from ${schema}.links where nick = wanted.nick limit 1) as l on true`,
    [nicks],
  );
  const rows = new Map<string, StoredLink | undefined>(stored.map((row) => [row.nick, row]));
  for (const fact of facts) rows.set(fact.data.nick, rowAfter(rows.get(fact.data.nick), fact));
  const changed = [...rows.values()].filter((row) => row !== undefined);
  const gone = stored.filter(({ nick }) => rows.get(nick) === undefined);
  const verified = (links: StoredLink[]) => links.filter(({ verified_at }) => verified_at !== null).length;
  await tx.query(`delete from ${schema}.links where nick = any($1::text[])`, [gone.map(({ nick }) => nick)]);
  await tx.query(
    `with counted as (
       insert into ${schema}.totals as t (links, verified) values ($11::integer, $12::integer)
       on conflict (only_row) do update
       set links = t.links + excluded.links, verified = t.verified + excluded.verified
     )
     insert into ${schema}.links
     select * from unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::timestamptz[], $6::timestamptz[],
       $7::bigint[], $8::integer[], $9::text[], $10::timestamptz[])
     on conflict (nick) do update
     set wallet = excluded.wallet, wallet_address = excluded.wallet_address, identified = excluded.identified,
       linked_at = excluded.linked_at, verified_at = excluded.verified_at, agent_id = excluded.agent_id,
       sync_version = excluded.sync_version, challenge = excluded.challenge,
       challenge_expires_at = excluded.challenge_expires_at`,
    [
      changed.map((row) => row.nick),
      changed.map((row) => row.wallet),
      changed.map((row) => row.wallet_address),
      changed.map((row) => row.identified),
      changed.map((row) => row.linked_at),
      changed.map((row) => row.verified_at),
      changed.map((row) => row.agent_id),
      changed.map((row) => row.sync_version),
      changed.map((row) => row.challenge),
      changed.map((row) => row.challenge_expires_at),
      changed.length - stored.length,
      verified(changed) - verified(stored),
    ],
  );
}

/** A nick's row after one more fact; nothing where it has no link. */
function rowAfter(before: StoredLink | undefined, fact: Recorded<IdentityFact>): StoredLink | undefined {
  const { type, data, at } = fact;
  if (type === 'identity.linked') {
    return {
      nick: data.nick,
      wallet: walletKey(data.wallet_address),
      wallet_address: data.wallet_address,
      identified: data.identified,
      linked_at: at,
      ...{ verified_at: null, agent_id: null, sync_version: 0 },
      ...{ challenge: null, challenge_expires_at: null },
    };
  }
  if (!before) return undefined;
  switch (type) {
    case 'identity.confirmed':
      return { ...before, identified: true };
    case 'challenge.issued':
      return { ...before, challenge: data.challenge, challenge_expires_at: new Date(data.expires_at) };
    case 'identity.verified': {
      const { agent_id, sync_version } = data;
      const answered = { challenge: null, challenge_expires_at: null };
      return { ...before, verified_at: at, agent_id, sync_version, ...answered };
    }
    case 'identity.agent_changed': {
      const { agent_id, sync_version } = data;
      return { ...before, agent_id, sync_version };
    }
    case 'identity.unlinked':
      return undefined;
    case 'verification.failed':
    case 'push.delivered':
    case 'push.given_up':
      return before;
  }
}

const minuteMs = 60_000;

async function noteSeen(tx: Tx, facts: Recorded<IrcFact>[], schema: string): Promise<void> {
  const minutes = new Map<string, number>();
  for (const { data } of facts) {
    for (const sighting of data.seen) {
      if (!isLine(sighting)) continue;
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
