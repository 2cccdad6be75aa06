import t from 'tap';
import type { Sql } from '../../projections/core/sql.js';
import {
  agentRegistry,
  countAgents,
  registeredAgent,
  registeredAgents,
} from '../../projections/verification.js';
import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { AgentFact } from '../../streams/verification/index.js';
import { eachSql } from '../support/sql.js';

/** Requests; every third leads to a registration. */
const history: Recorded<AgentFact>[] = Array.from({ length: 90 }, (_, n) => {
  const nickname = `Agent[${Math.floor(n / 3)}]`;
  const who = { nickname, social_handle: `handle_${n % 3}` };
  const fact: AgentFact =
    n % 3 === 2
      ? {
          type: 'agent.registered',
          data: {
            ...who,
            post_url: `https://twitter.com/handle_2/status/${n}`,
            email: `${n}@agents.example`,
          },
        }
      : {
          type: 'registration.requested',
          data: { ...who, text: `svc:verify:${nickname}:${n}`, expires_at: '2026-03-01T00:30:00.000Z' },
        };
  const at = new Date(Date.UTC(2026, 2, 1) + n * 1_000);
  return { ...fact, id: `a${n}`, stream: 'AGENTS', subject: 'any', seq: n + 1, at, by: 'test', cause: null };
});

async function fold(sql: Sql, schema: string, batch: number): Promise<void> {
  await sql.query(`create schema ${schema}; ${agentRegistry.ddl(schema)}`);
  for (let from = 0; from < history.length; from += batch)
    await sql.transaction((tx) => agentRegistry.apply(tx, history.slice(from, from + batch), schema));
}

eachSql(t, async (t, open) => {
  const { sql } = await open();
  t.test('AGENT-13 AGENT-11 the same agents, in whatever batches', async (t) => {
    const expected = history.flatMap(({ type, data, at }) =>
      type === 'agent.registered'
        ? [
            {
              nickname: data.nickname,
              socialHandle: data.social_handle,
              registered: true,
              verified: true,
              postUrl: data.post_url,
              registeredAt: at.toISOString(),
            },
          ]
        : [],
    );
    expected.reverse();
    for (const batch of [1, 7, 1_000]) {
      const schema = `by_${batch}`;
      await fold(sql, schema, batch);
      t.same(await registeredAgents(sql, schema, { limit: 100, offset: 0 }), {
        count: 30,
        agents: expected,
      });
      t.same((await registeredAgents(sql, schema, { limit: 4, offset: 7 })).agents, expected.slice(7, 11));
      t.same(await registeredAgent(sql, schema, casefold('AGENT[4]')), expected.at(-5));
      t.equal(await registeredAgent(sql, schema, 'nobody'), undefined);
      t.equal(await countAgents(sql, schema), 30);
      const [row] = await sql.query(`select * from ${schema}.agents limit 1`);
      t.notMatch(JSON.stringify(row), /@/, 'no e-mail address');
    }
  });
});
