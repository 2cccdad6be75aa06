import t, { type Test } from 'tap';
import type { Sql } from '../../projections/core/sql.js';
import { feedbackAbout } from '../../projections/reputation/feedback.js';
import {
  agentLeaderboard,
  channelLeaderboard,
  channelStanding,
  reputationOf,
} from '../../projections/reputation/queries.js';
import { reputations } from '../../projections/reputation/tables.js';
import type { Recorded } from '../../streams/core/index.js';
import type { FeedbackGiven } from '../../streams/reputation/index.js';
import { eachSql } from '../support/sql.js';
import { feedbackHistory, judge, randomNumbers } from './history.js';

async function fold(sql: Sql, schema: string, facts: readonly Recorded[], batch: number): Promise<void> {
  await sql.query(`create schema ${schema}; ${reputations.ddl(schema)}`);
  for (let from = 0; from < facts.length; from += batch) {
    await sql.transaction((tx) => reputations.apply(tx, facts.slice(from, from + batch), schema));
  }
}

async function everything(sql: Sql, schema: string): Promise<unknown[][]> {
  const tables = ['given', 'agents', 'channels', 'channel_agents', 'channel_days'];
  return await Promise.all(
    tables.map((table) => sql.query(`select * from ${schema}.${table} as row order by row`)),
  );
}

/** Compares every answer at a time with what the facts say. */
async function compare(
  t: Test,
  sql: Sql,
  schema: string,
  facts: Recorded<FeedbackGiven>[],
  now: Date,
): Promise<void> {
  const { agents, channels, open } = judge(facts, now);
  const rated = agents.filter(({ total }) => total > 0);
  t.same(
    await agentLeaderboard(sql, schema, now, 50),
    rated.map(({ name, total, avg, score }) => ({
      nick: name,
      total_feedback: total,
      avg_score: avg,
      score,
    })),
    `agents at ${now.toISOString()}`,
  );
  const standingOf = ({ name, total, avg, active, score }: (typeof channels)[number]) => ({
    channel: name,
    total_feedback: total,
    avg_score: avg,
    active_agents: active,
    score,
  });
  const standings = channels.map(standingOf);
  const openOnly = { openOnly: true };
  const inTheOpen = open.map(standingOf);
  t.same(await channelLeaderboard(sql, schema, now, 50, openOnly), inTheOpen, 'for the public');
  for (const one of inTheOpen)
    t.same(await channelStanding(sql, schema, now, one.channel, openOnly), one, 'for the public');
  t.same(await channelLeaderboard(sql, schema, now, 50), standings, `channels at ${now.toISOString()}`);
  t.same(await channelLeaderboard(sql, schema, now, 2), standings.slice(0, 2));
  t.same(await channelStanding(sql, schema, now, standings[1]!.channel), standings[1]);
  for (const { name, avg, total, given, first, last } of agents) {
    t.same(await reputationOf(sql, schema, name), {
      nick: name,
      avgScore: avg,
      totalFeedback: total,
      totalGiven: given,
      firstFeedback: first,
      lastFeedback: last,
    });
  }
}

/** One day's feedback about each of so many agents. */
function everybody(agents: number, day: number): Recorded<FeedbackGiven>[] {
  const at = new Date(Date.UTC(2026, 0, 1 + day));
  return Array.from({ length: agents }, (_, n) => {
    const names = { from: `agent${(n + 1 + day) % agents}`, nick: `agent${n}`, channel: `#channel${n % 5}` };
    const data = { ...names, rating: 1 + (n % 5), comment: '', day: at.toISOString().slice(0, 10) };
    const place = { id: `e${n}`, stream: 'REPUTATION', subject: 'any', seq: day * agents + n + 1 };
    return { type: 'feedback.given', data, ...place, at, by: 'test', cause: null };
  });
}

const history = feedbackHistory(4_000);

eachSql(t, async (t, open) => {
  const { sql } = await open();

  t.test('REP-04 exact against all facts, at any time', async (t) => {
    const random = randomNumbers(7);
    const counted = judge(history, new Date()).agents.reduce((sum, { total }) => sum + total, 0);
    t.ok(counted > 0 && counted < history.length, `${history.length - counted} were replaced`);
    let folded = 0;
    await fold(sql, 'growing', [], 1);
    // the rows of a younger log, and of the whole one, looked at soon and years after
    for (const share of [0.02, 0.3, 1]) {
      const upTo = Math.floor(history.length * share);
      await sql.transaction((tx) => reputations.apply(tx, history.slice(folded, upTo), 'growing'));
      folded = upTo;
      const facts = history.slice(0, upTo);
      const last = facts.at(-1)!.at.getTime();
      for (const days of [0, random(30) + 1, 89, 90, 91, random(1_000) + 100]) {
        await compare(t, sql, 'growing', facts, new Date(last + days * 86_400_000 + random(86_400_000)));
      }
    }
  });

  t.test('REP-05 the same rows in whatever batches', async (t) => {
    const some = history.slice(0, 150);
    await fold(sql, 'in_sevens', some, 7);
    const rows = await everything(sql, 'in_sevens');
    t.ok(rows.every((table) => table.length > 0));
    for (const [schema, batch] of [
      ['one_by_one', 1],
      ['at_once', 1_000],
    ] as const) {
      await fold(sql, schema, some, batch);
      t.same(await everything(sql, schema), rows, schema);
    }
  });

  t.test('REP-16 an answer is shown with what it answers, in whatever batches', async (t) => {
    const about = { from: 'ann', nick: 'bob', channel: '#lobby', day: '2026-01-01' };
    const place = {
      stream: 'REPUTATION',
      subject: 'any',
      at: new Date('2026-01-01'),
      by: 'test',
      cause: null,
    };
    const said = (seq: number, rating: number): Recorded => ({
      ...{ ...place, id: `s${seq}`, seq, type: 'feedback.given' },
      data: { ...about, rating, comment: '' },
    });
    const answered = (seq: number, text: string): Recorded => ({
      ...{ ...place, id: `s${seq}`, seq, type: 'feedback.answered' },
      data: { ...about, text },
    });
    const story = [said(1, 5), answered(2, 'Thanks'), said(3, 1), answered(4, 'Why?')];
    for (const batch of [1, 2, 3, 4]) {
      for (const [facts, rating, answer] of [
        [story.slice(0, 2), 5, 'Thanks'],
        [story.slice(0, 3), 1, null],
        [story, 1, 'Why?'],
      ] as const) {
        const schema = `answers_${batch}_${facts.length}`;
        await fold(sql, schema, facts, batch);
        t.match(await feedbackAbout(sql, schema, 'bob', { limit: 5 }), [{ rating, answer }], schema);
      }
    }
  });

  t.test('REP-11 what is read for a leaderboard does not grow with what was said', async (t) => {
    await fold(sql, 'rounds', [], 1);
    const pages = async () => {
      const [row] = await sql.query<{ pages: number }>(
        `select (pg_relation_size('rounds.agents') + pg_relation_size('rounds.channels')) / 8192 as pages`,
      );
      return row!.pages;
    };
    const sizes: number[] = [];
    for (let round = 0; round < 20; round++) {
      await sql.transaction((tx) => reputations.apply(tx, everybody(300, round), 'rounds'));
      sizes.push(await pages());
    }
    t.ok(sizes.at(-1)! <= sizes[1]! + 1, `pages after each round: ${sizes.join(', ')}`);
  });

  t.test('REP-06 what nobody was told of', async (t) => {
    const now = new Date();
    t.same(await reputationOf(sql, 'growing', 'nobody'), {
      nick: 'nobody',
      avgScore: null,
      totalFeedback: 0,
      totalGiven: 0,
      firstFeedback: null,
      lastFeedback: null,
    });
    t.equal(await channelStanding(sql, 'growing', now, '#nothing'), undefined);
    await fold(
      sql,
      'closed',
      feedbackHistory(20).map((fact) => ({ ...fact, data: { ...fact.data, private: true } })),
      3,
    );
    t.same(await channelLeaderboard(sql, 'closed', now, 10, { openOnly: true }), [], 'what was private');
    t.equal(await channelStanding(sql, 'closed', now, '#lobby', { openOnly: true }), undefined);
    t.match(await channelStanding(sql, 'closed', now, '#lobby'), { channel: '#lobby' });
    await fold(sql, 'empty', [], 1);
    t.same(await agentLeaderboard(sql, 'empty', now, 10), []);
    t.same(await channelLeaderboard(sql, 'empty', now, 10), []);
  });
});
