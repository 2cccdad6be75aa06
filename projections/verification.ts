import { casefold } from '../streams/irc-grammar.js';
import { agents } from '../streams/verification/index.js';
import { defineProjection } from './core/projection.js';
import { Rows } from './core/rows.js';
import type { Tx } from './core/sql.js';

/** The contract's record of a registered agent. */
export interface RegisteredAgent {
  nickname: string;
  /** Without `@`. */
  socialHandle: string;
  registered: true;
  verified: true;
  postUrl: string;
  /** ISO 8601. */
  registeredAt: string;
}

const agentRows = new Rows({
  nick: 'text',
  nickname: 'text',
  social_handle: 'text',
  post_url: 'text',
  at: 'timestamptz',
});

/**
 * The registered agents by casefolded nickname, numbered in the order of their registration. E-mail addresses
 * stay in the log: nothing that is read from here can leak them.
 */
export const agentRegistry = defineProjection({
  name: 'agents',
  version: 1,
  streams: [agents],
  ddl: (schema) => `
    create table ${schema}.agents (
      nick text collate "C" primary key,
      n bigint not null unique,
      nickname text not null,
      social_handle text not null,
      post_url text not null,
      registered_at timestamptz not null
    )`,
  about: {
    agents: {
      says: 'Agents that registered a nickname by a public post. Their e-mail addresses are not here.',
      columns: {
        nick: 'Nick under the key by which nicks are compared.',
        n: 'In the order of registration.',
        nickname: 'Nickname as it is written.',
        social_handle: 'Handle whose post it was.',
        post_url: 'Address of the post.',
        registered_at: 'When.',
      },
    },
  },
  apply: async (tx, facts, schema) => {
    const registered = facts.flatMap(({ type, data, at }) =>
      type === 'agent.registered' ? [{ ...data, nick: casefold(data.nickname), at }] : [],
    );
    if (registered.length === 0) return;
    await tx.query(
      `insert into ${schema}.agents
       select nick, (select coalesce(max(n), 0) from ${schema}.agents) + new.n, nickname, social_handle, post_url, at
       from ${agentRows.from('new', { numbered: true })}`,
      agentRows.params(registered),
    );
  },
});

interface StoredAgent {
  n: number;
  nickname: string;
  social_handle: string;
  post_url: string;
  registered_at: Date;
}

/** The agent with a nickname (casefolded); `undefined` if nobody registered it. */
export async function registeredAgent(
  sql: Tx,
  schema: string,
  nick: string,
): Promise<RegisteredAgent | undefined> {
  const [row] = await sql.query<StoredAgent>(`select * from ${schema}.agents where nick = $1`, [nick]);
  return row && agentView(row);
}

/** How many agents there are, and the newest of them from an offset on; the numbers have no gaps. */
export async function registeredAgents(
  sql: Tx,
  schema: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; agents: RegisteredAgent[] }> {
  const count = await countAgents(sql, schema);
  const rows = await sql.query<StoredAgent>(
    `select * from ${schema}.agents where n <= $1 order by n desc limit $2`,
    [count - offset, limit],
  );
  return { count, agents: rows.map(agentView) };
}

/** How many agents there are. */
export async function countAgents(sql: Tx, schema: string): Promise<number> {
  const [row] = await sql.query<{ n: number }>(`select n from ${schema}.agents order by n desc limit 1`);
  return row?.n ?? 0;
}

/** The record of an agent that registered at a time. */
export function newAgent(
  { nickname, socialHandle, postUrl }: Pick<RegisteredAgent, 'nickname' | 'socialHandle' | 'postUrl'>,
  at: Date,
): RegisteredAgent {
  const registeredAt = at.toISOString();
  return { nickname, socialHandle, registered: true, verified: true, postUrl, registeredAt };
}

function agentView({ nickname, social_handle, post_url, registered_at }: StoredAgent): RegisteredAgent {
  return newAgent({ nickname, socialHandle: social_handle, postUrl: post_url }, registered_at);
}
