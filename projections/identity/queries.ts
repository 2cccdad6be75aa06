import { levelOf, walletKey } from '../../streams/identity/index.js';
import { rowsOf } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import type { StoredLink } from './links.js';

/** The contract's identity link; times are ISO 8601. */
export interface IdentityLink {
  nick: string;
  wallet_address: string;
  /** 1 when a signature of the wallet was verified. */
  verified: 0 | 1;
  linked_at: string;
  /**
   * When the nick last said something in a channel that was not private, to the minute. When it was linked, if that was
   * later, or if it said nothing in 30 days.
   */
  last_seen: string;
  /** 0 anonymous, 1 linked, 2 verified, 3 registered. */
  level: 0 | 1 | 2 | 3;
  /** ERC-8004 agent id; 0 is a real one. */
  agent_id: number | null;
}

/** How many links there are. */
export interface IdentityCounts {
  links: number;
  verified: number;
}

/** A link whose wallet may have an agent id. */
export interface VerifiedLink {
  nick: string;
  wallet_address: string;
  agent_id: number | null;
}

/** The link of a nick (casefolded); `undefined` when it has none. */
export async function linkOfNick(sql: Tx, schema: string, nick: string): Promise<IdentityLink | undefined> {
  return await oneLink(sql, schema, 'nick', nick);
}

/**
 * The link of a wallet, in any case; `undefined` when it has none. Several nicks may claim one that has not signed:
 * then it is the first of them.
 */
export async function linkOfWallet(
  sql: Tx,
  schema: string,
  wallet: string,
): Promise<IdentityLink | undefined> {
  return await oneLink(sql, schema, 'wallet', walletKey(wallet));
}

/** The link of a nick, in short. */
export type NickStanding = Pick<IdentityLink, 'nick' | 'wallet_address' | 'level'>;

/** The link of each of some nicks (casefolded) that has one. */
export async function standingsOfNicks(
  sql: Tx,
  schema: string,
  nicks: readonly string[],
): Promise<NickStanding[]> {
  const rows = await rowsOf<StoredLink>(sql, `${schema}.links`, { nick: nicks });
  return rows.map(({ nick, wallet_address, identified, verified_at, agent_id }) => ({
    nick,
    wallet_address,
    level: levelOf({ identified, verified: verified_at !== null, agentId: agent_id }),
  }));
}

/** Verified links in the order of their nicks, after a given nick; at most `limit`. */
export async function verifiedLinks(
  sql: Tx,
  schema: string,
  after: string,
  limit: number,
): Promise<VerifiedLink[]> {
  return await sql.query<VerifiedLink>(
    `select nick, wallet_address, agent_id from ${schema}.links
     where verified_at is not null and nick > $1 order by nick limit $2`,
    [after, limit],
  );
}

/** The wallets that nicks (casefolded) and they have proven each other, as keys under which wallets are compared, by nick. */
export async function provenWallets(
  sql: Tx,
  schema: string,
  nicks: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql.query<Pick<StoredLink, 'nick' | 'wallet'>>(
    `select nick, wallet from ${schema}.links
     where nick = any($1::text[]) and identified and verified_at is not null`,
    [nicks],
  );
  return new Map(rows.map(({ nick, wallet }) => [nick, wallet]));
}

/** How many links there are, counted as they come and go. */
export async function identityCounts(sql: Tx, schema: string): Promise<IdentityCounts> {
  const [row] = await sql.query<IdentityCounts>(`select links, verified from ${schema}.totals`);
  return row ?? { links: 0, verified: 0 };
}

async function oneLink(
  sql: Tx,
  schema: string,
  column: 'nick' | 'wallet',
  value: string,
): Promise<IdentityLink | undefined> {
  const [row] = await sql.query<StoredLink & { seen_at: Date | null }>(
    `select l.*, s.seen_at from ${schema}.links as l left join lateral (
       select seen_at from ${schema}.seen where nick = l.nick limit 1
     ) as s on true where l.${column} = $1
     order by l.verified_at is null, l.linked_at, l.nick limit 1`,
    [value],
  );
  return row && linkView(row);
}

function linkView(row: StoredLink & { seen_at: Date | null }): IdentityLink {
  const { nick, wallet_address, identified, linked_at, seen_at, agent_id } = row;
  const verified = row.verified_at !== null;
  const seen = seen_at && seen_at > linked_at ? seen_at : linked_at;
  return {
    nick,
    wallet_address,
    verified: verified ? 1 : 0,
    linked_at: linked_at.toISOString(),
    last_seen: seen.toISOString(),
    agent_id,
    level: levelOf({ identified, verified, agentId: agent_id }),
  };
}
