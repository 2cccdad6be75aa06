import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { type ReputationFact, weightAt } from '../../streams/reputation/index.js';
import type { Tx } from '../core/sql.js';

interface Given {
  giver: string;
  nick: string;
  channel: string;
  day: string;
  rating: number;
  at: Date;
}

/** Feedback summed up: how many, the sum of their weights, and of their ratings times their weights. */
interface Sum {
  feedback: number;
  weight: number;
  rated: number;
}

interface Agent extends Sum {
  nick: string;
  given: number;
  first_at: Date | null;
  last_at: Date | null;
}

interface Channel extends Sum {
  channel: string;
}

interface ChannelAgent {
  channel: string;
  nick: string;
  day: string;
}

/** The rows that a batch of facts is about, by their keys, as they were and then as they become. */
interface Rows {
  given: Map<string, Given>;
  agents: Map<string, Agent>;
  channels: Map<string, Channel>;
  channelAgents: Map<string, ChannelAgent>;
  /** By how much the nicks of a channel's day become more or fewer. */
  steps: Map<string, { channel: string; day: string; step: number }>;
}

/**
 * Folds feedback into the tables of `reputation`. Rows are read, changed fact by fact and written back: sums of
 * doubles depend on their order, which must be that of the facts in whatever batches they come.
 */
export async function foldFeedback(tx: Tx, facts: Recorded<ReputationFact>[], schema: string): Promise<void> {
  const all = facts.map(({ data, at }) => ({
    giver: casefold(data.from),
    nick: casefold(data.nick),
    channel: casefold(data.channel),
    day: data.day,
    rating: data.rating,
    at,
  }));
  const rows = await storedRows(tx, all, schema);
  for (const one of all) add(rows, one);
  await storeGiven(tx, [...rows.given.values()], schema);
  await storeAgents(tx, [...rows.agents.values()], schema);
  await storeChannels(tx, [...rows.channels.values()], schema);
  await storeActivity(tx, rows, schema);
}

const keyOf = (...names: string[]): string => names.join(' ');
const unique = (names: string[]): string[] => [...new Set(names)];

async function storedRows(tx: Tx, all: Given[], schema: string): Promise<Rows> {
  const pairs = [...new Map(all.map((one) => [keyOf(one.giver, one.nick, one.channel), one])).values()];
  const given = await tx.query<Given>(
    `select g.* from unnest($1::text[], $2::text[], $3::text[]) as wanted (giver, nick, channel), lateral (
       select * from ${schema}.given
       where giver = wanted.giver and nick = wanted.nick and channel = wanted.channel limit 1) as g`,
    [pairs.map(({ giver }) => giver), pairs.map(({ nick }) => nick), pairs.map(({ channel }) => channel)],
  );
  const agents = await tx.query<Agent>(
    `select a.* from unnest($1::text[]) as wanted (nick), lateral (
       select nick, feedback, given, weight, rated, first_at, last_at from ${schema}.agents
       where nick = wanted.nick limit 1) as a`,
    [unique(all.flatMap(({ giver, nick }) => [giver, nick]))],
  );
  const channels = await tx.query<Channel>(
    `select c.* from unnest($1::text[]) as wanted (channel), lateral (
       select channel, feedback, weight, rated from ${schema}.channels where channel = wanted.channel limit 1) as c`,
    [unique(all.map(({ channel }) => channel))],
  );
  const there = [
    ...new Map(
      all.flatMap(({ giver, nick, channel }) =>
        [giver, nick].map((who) => [keyOf(channel, who), { channel, nick: who }] as const),
      ),
    ).values(),
  ];
  const channelAgents = await tx.query<ChannelAgent>(
    `select c.* from unnest($1::text[], $2::text[]) as wanted (channel, nick), lateral (
       select * from ${schema}.channel_agents
       where channel = wanted.channel and nick = wanted.nick limit 1) as c`,
    [there.map(({ channel }) => channel), there.map(({ nick }) => nick)],
  );
  return {
    given: new Map(given.map((row) => [keyOf(row.giver, row.nick, row.channel), row])),
    agents: new Map(agents.map((row) => [row.nick, row])),
    channels: new Map(channels.map((row) => [row.channel, row])),
    channelAgents: new Map(channelAgents.map((row) => [keyOf(row.channel, row.nick), row])),
    steps: new Map(),
  };
}

function add(rows: Rows, one: Given): void {
  const key = keyOf(one.giver, one.nick, one.channel);
  const before = rows.given.get(key);
  const replaced = before?.day === one.day ? before : undefined;
  rows.given.set(key, one);

  const rated = agentOf(rows, one.nick);
  count(rated, one, replaced);
  rated.first_at ??= one.at;
  rated.last_at = one.at;
  if (!replaced) agentOf(rows, one.giver).given += 1;

  const channel = rows.channels.get(one.channel) ?? {
    ...{ channel: one.channel, feedback: 0, weight: 0, rated: 0 },
  };
  rows.channels.set(one.channel, channel);
  count(channel, one, replaced);
  for (const nick of [one.giver, one.nick]) noteActive(rows, one, nick);
}

function agentOf({ agents }: Rows, nick: string): Agent {
  const agent = agents.get(nick) ?? {
    ...{ nick, feedback: 0, given: 0, weight: 0, rated: 0, first_at: null, last_at: null },
  };
  agents.set(nick, agent);
  return agent;
}

function count(sum: Sum, { rating, at }: Given, replaced: Given | undefined): void {
  if (replaced) {
    const weight = weightAt(replaced.at);
    sum.feedback -= 1;
    sum.weight -= weight;
    sum.rated -= weight * replaced.rating;
  }
  const weight = weightAt(at);
  sum.feedback += 1;
  sum.weight += weight;
  sum.rated += weight * rating;
}

function noteActive({ channelAgents, steps }: Rows, { channel, day }: Given, nick: string): void {
  const key = keyOf(channel, nick);
  const before = channelAgents.get(key);
  if (before && before.day >= day) return;
  channelAgents.set(key, { channel, nick, day });
  const step = (day: string, by: 1 | -1) => {
    const key = keyOf(channel, day);
    const entry = steps.get(key) ?? { channel, day, step: 0 };
    entry.step += by;
    steps.set(key, entry);
  };
  if (before) step(before.day, -1);
  step(day, 1);
}

async function storeGiven(tx: Tx, rows: Given[], schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.given
     select giver, nick, channel, day::date, rating, at
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::timestamptz[])
       as new (giver, nick, channel, day, rating, at)
     on conflict (giver, nick, channel) do update
     set day = excluded.day, rating = excluded.rating, at = excluded.at`,
    [
      rows.map(({ giver }) => giver),
      rows.map(({ nick }) => nick),
      rows.map(({ channel }) => channel),
      rows.map(({ day }) => day),
      rows.map(({ rating }) => rating),
      rows.map(({ at }) => at),
    ],
  );
}

async function storeAgents(tx: Tx, rows: Agent[], schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.agents (nick, feedback, given, weight, rated, mean, first_at, last_at)
     select * from unnest($1::text[], $2::integer[], $3::integer[], $4::double precision[],
       $5::double precision[], $6::double precision[], $7::timestamptz[], $8::timestamptz[])
     on conflict (nick) do update set feedback = excluded.feedback, given = excluded.given,
       weight = excluded.weight, rated = excluded.rated, mean = excluded.mean,
       first_at = excluded.first_at, last_at = excluded.last_at`,
    [
      rows.map(({ nick }) => nick),
      rows.map(({ feedback }) => feedback),
      rows.map(({ given }) => given),
      ...sums(rows),
      rows.map(({ first_at }) => first_at),
      rows.map(({ last_at }) => last_at),
    ],
  );
}

async function storeChannels(tx: Tx, rows: Channel[], schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.channels (channel, feedback, weight, rated, mean)
     select * from unnest($1::text[], $2::integer[], $3::double precision[], $4::double precision[],
       $5::double precision[])
     on conflict (channel) do update set feedback = excluded.feedback, weight = excluded.weight,
       rated = excluded.rated, mean = excluded.mean`,
    [rows.map(({ channel }) => channel), rows.map(({ feedback }) => feedback), ...sums(rows)],
  );
}

const sums = (rows: Sum[]): number[][] => [
  rows.map(({ weight }) => weight),
  rows.map(({ rated }) => rated),
  rows.map(({ rated, weight }) => (weight > 0 ? rated / weight : 0)),
];

async function storeActivity(tx: Tx, { channelAgents, steps }: Rows, schema: string): Promise<void> {
  const agents = [...channelAgents.values()];
  await tx.query(
    `insert into ${schema}.channel_agents
     select channel, nick, day::date
     from unnest($1::text[], $2::text[], $3::text[]) as new (channel, nick, day)
     on conflict (channel, nick) do update set day = excluded.day`,
    [agents.map(({ channel }) => channel), agents.map(({ nick }) => nick), agents.map(({ day }) => day)],
  );
  const days = [...steps.values()].filter(({ step }) => step !== 0);
  const keys = [days.map(({ channel }) => channel), days.map(({ day }) => day)];
  await tx.query(
    `insert into ${schema}.channel_days as d
     select channel, day::date, step
     from unnest($1::text[], $2::text[], $3::integer[]) as new (channel, day, step)
     on conflict (channel, day) do update set agents = d.agents + excluded.agents`,
    [...keys, days.map(({ step }) => step)],
  );
  await tx.query(
    `delete from ${schema}.channel_days as d using unnest($1::text[], $2::text[]) as changed (channel, day)
     where d.channel = changed.channel and d.day = changed.day::date and d.agents = 0`,
    keys,
  );
}
