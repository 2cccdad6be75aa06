import { keys } from '../streams/keys/index.js';
import { defineProjection } from './core/projection.js';
import { type RowOf, Rows } from './core/rows.js';
import type { Tx } from './core/sql.js';

const keyRows = new Rows({
  id: 'text collate "C" primary key',
  nick: 'text collate "C" not null',
  wallet: 'text',
  name: 'text not null',
  // with commas between them
  scopes: 'text not null',
  hash: 'text not null',
  issued_at: 'timestamptz not null',
  expires_at: 'timestamptz not null',
  client: 'text collate "C"',
  parent: 'text collate "C"',
});

/** Keys of agents that were not revoked, by id. `nicks` says how far the keys of each nick are folded. */
export const agentKeys = defineProjection({
  name: 'agent_keys',
  version: 2,
  streams: [keys],
  ddl: (schema) => `
    ${keyRows.create(`${schema}.keys`)}
    create index on ${schema}.keys (nick);
    create index on ${schema}.keys (parent);
    create table ${schema}.nicks (nick text collate "C" primary key, seq bigint not null)`,
  about: {
    keys: {
      says: 'Keys of agents that were not revoked.',
      columns: {
        id: 'Id of the key.',
        nick: 'Nick under the key by which nicks are compared.',
        wallet: 'Wallet of the nick when the key was issued, in lower case.',
        name: 'Name that its holder gave it.',
        scopes: 'What it is good for, with commas between the words.',
        hash: 'Hash that it is checked by. The key is stored nowhere.',
        issued_at: 'When it was issued.',
        expires_at: 'When it ends.',
        client: 'Id of the OAuth client that has it.',
        parent: 'Id of the key that it was got with, and ends with.',
      },
    },
    nicks: {
      says: 'How far the keys of each nick are folded.',
      columns: {
        nick: 'Nick under the key by which nicks are compared.',
        seq: 'Sequence of the last fact about its keys, in the stream KEYS.',
      },
    },
  },
  apply: async (tx, facts, schema) => {
    const issued = new Map<string, RowOf<typeof keyRows>>();
    const revoked: string[] = [];
    for (const { type, data, at } of facts) {
      if (type === 'key.revoked') {
        for (const [id, { parent }] of issued) if (id === data.id || parent === data.id) issued.delete(id);
        revoked.push(data.id);
      } else {
        const { scopes, expires_at, client = null, parent = null, ...key } = data;
        const times = { issued_at: at, expires_at: new Date(expires_at) };
        const row = { ...key, ...times, scopes: scopes.join(','), client, parent };
        issued.set(data.id, row);
      }
    }
    const nicks = new Map(facts.map(({ seq, data }) => [data.nick, seq]));
    await tx.query(`delete from ${schema}.keys where id = any($1::text[]) or parent = any($1::text[])`, [
      revoked,
    ]);
    await tx.query(
      `insert into ${schema}.keys (${keyRows.names}) select * from ${keyRows.from('new')}`,
      keyRows.params([...issued.values()]),
    );
    await tx.query(
      `insert into ${schema}.nicks select * from unnest($1::text[], $2::bigint[])
       on conflict (nick) do update set seq = excluded.seq`,
      [[...nicks.keys()], [...nicks.values()]],
    );
  },
});

/** What is known of a key; times are ISO 8601. */
export interface AgentKey {
  id: string;
  nick: string;
  name: string;
  scopes: readonly string[];
  /** Address in lower case; null if the nick had none when the key was issued. */
  wallet: string | null;
  created_at: string;
  expires_at: string;
}

/** What a key is checked by. */
export interface StoredKey extends AgentKey {
  hash: string;
  /** Id of the key that it was got with, and ends with; null for the others. */
  parent: string | null;
  /** Sequence of the last fact about keys of its nick that this answer contains. */
  seq: number;
}

/** The key with an id; `undefined` if it does not exist or was removed. */
export async function agentKey(sql: Tx, schema: string, id: string): Promise<StoredKey | undefined> {
  const [row] = await sql.query<RowOf<typeof keyRows> & { seq: number }>(
    `select k.*, n.seq from ${schema}.keys as k join ${schema}.nicks as n using (nick) where k.id = $1`,
    [id],
  );
  return row && { ...keyView(row), hash: row.hash, parent: row.parent, seq: row.seq };
}

/** Keys in use at `now`, newest first; if given, only those of a nick (casefolded), a wallet or an id. */
export async function agentKeysInUse(
  sql: Tx,
  schema: string,
  {
    now,
    nick,
    wallet,
    id,
  }: { now: Date; nick?: string | undefined; wallet?: string | undefined; id?: string | undefined },
): Promise<AgentKey[]> {
  const rows = await sql.query<RowOf<typeof keyRows>>(
    `select * from ${schema}.keys
     where expires_at > $1::timestamptz and ($2::text is null or nick = $2) and ($3::text is null or wallet = $3)
       and ($4::text is null or id = $4)
     order by issued_at desc, id limit 1000`,
    [now, nick ?? null, wallet ?? null, id ?? null],
  );
  return rows.map(keyView);
}

/** Keys in use at `now` of those with one of the ids; what they act as, and for which wallet. */
export async function keysInUseOf(
  sql: Tx,
  schema: string,
  { now, ids }: { now: Date; ids: readonly string[] },
): Promise<Pick<AgentKey, 'id' | 'nick' | 'wallet'>[]> {
  return await sql.query(
    `select id, nick, wallet from ${schema}.keys where id = any($2::text[]) and expires_at > $1::timestamptz`,
    [now, ids],
  );
}

/** Ids of the keys in use at `now` that a nick and its wallet have for a client, the oldest first. */
export async function keysOfClient(
  sql: Tx,
  schema: string,
  { now, nick, wallet, client }: { now: Date; nick: string; wallet: string | null; client: string },
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select id from ${schema}.keys
     where expires_at > $1::timestamptz and nick = $2 and wallet is not distinct from $3::text and client = $4
     order by issued_at, id`,
    [now, nick, wallet, client],
  );
  return rows.map(({ id }) => id);
}

function keyView(row: RowOf<typeof keyRows>): AgentKey {
  const { id, nick, name, scopes, wallet, issued_at, expires_at } = row;
  return {
    id,
    nick,
    name,
    scopes: scopes.split(','),
    wallet,
    created_at: issued_at.toISOString(),
    expires_at: expires_at.toISOString(),
  };
}
