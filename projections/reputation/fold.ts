import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  type FeedbackGiven,
  type ReputationFact,
  strengthOf,
  weightAt,
} from '../../streams/reputation/index.js';
import { type RowOf, Rows, rowsOf } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import { storeAnswers, storeFeedback } from './feedback.js';
import {
  type Book,
  books,
  count,
  nameIn,
  type Sum,
  storedVoices,
  storeVoices,
  together,
  type Voice,
} from './voices.js';

interface Given {
  giver: string;
  nick: string;
  channel: string;
  day: string;
  rating: number;
  at: Date;
  /** The factor by which the weight of this feedback is multiplied. */
  strength: number;
  /** The voice that it is part of, if an agent gave it: see `Voice`. `null`: it counts by itself. */
  voice: string | null;
  /** Whether the channel was closed to the public. */
  private: boolean;
}

/** What is stored about a nick. */
export const agentRows = new Rows({
  nick: 'text collate "C" primary key',
  feedback: 'integer not null',
  given: 'integer not null',
  stands: 'boolean not null',
  weight: 'double precision not null',
  rated: 'double precision not null',
  mean: 'double precision not null',
  first_at: 'timestamptz',
  last_at: 'timestamptz',
});

/** What is stored about a channel. */
export const channelRows = new Rows({
  channel: 'text collate "C" not null',
  book: 'text collate "C" not null',
  feedback: 'integer not null',
  weight: 'double precision not null',
  rated: 'double precision not null',
  mean: 'double precision not null',
});

type Agent = Omit<RowOf<typeof agentRows>, 'mean'>;
type Channel = Omit<RowOf<typeof channelRows>, 'mean' | 'book'> & { book: Book };

interface ChannelAgent {
  channel: string;
  nick: string;
  book: Book;
  day: string;
}

const givenRows = new Rows({
  giver: 'text',
  nick: 'text',
  channel: 'text',
  day: 'text',
  rating: 'integer',
  at: 'timestamptz',
  strength: 'double precision',
  voice: 'text',
  private: 'boolean',
});
const channelAgentRows = new Rows({ channel: 'text', nick: 'text', book: 'text', day: 'text' });
const dayRows = new Rows({ channel: 'text', book: 'text', day: 'text' });
const stepRows = new Rows({ channel: 'text', book: 'text', day: 'text', step: 'integer' });

/** The rows that a batch of facts changes, by their keys: first as they were, then as they become. */
interface Touched {
  given: Map<string, Given>;
  agents: Map<string, Agent>;
  channels: Map<string, Channel>;
  voices: Map<string, Voice>;
  channelAgents: Map<string, ChannelAgent>;
  /** By how much the count of nicks changes, for each day of a channel. */
  steps: Map<string, { channel: string; book: Book; day: string; step: number }>;
}

/**
 * Folds feedback into the tables of `reputation`. Rows are read, changed fact by fact and written back. Sums
 * of doubles depend on their order, and it must be the order of the facts, however these are batched.
 */
export async function foldFeedback(tx: Tx, facts: Recorded<ReputationFact>[], schema: string): Promise<void> {
  const given = facts.filter(({ type }) => type === 'feedback.given') as Recorded<FeedbackGiven>[];
  const all = given.map(({ data, at }) => ({
    strength: strengthOf(data.source),
    // the voice is decided when the turn of this fact comes
    voice: data.source === 'agent' ? together : null,
    giver: casefold(data.from),
    nick: casefold(data.nick),
    channel: casefold(data.channel),
    day: data.day,
    rating: data.rating,
    private: data.private ?? false,
    at,
  }));
  const rows = await storedRows(tx, all, schema);
  for (const one of all) add(rows, one);
  await storeGiven(tx, [...rows.given.values()], schema);
  await storeAgents(tx, [...rows.agents.values()], schema);
  await storeChannels(tx, [...rows.channels.values()], schema);
  await storeVoices(tx, [...rows.voices.values()], schema);
  await storeActivity(tx, rows, schema);
  await storeFeedback(tx, given, schema);
  await storeAnswers(tx, facts, schema);
}

const keyOf = (...names: string[]): string => names.join(' ');
const unique = (names: string[]): string[] => [...new Set(names)];

async function storedRows(tx: Tx, all: Given[], schema: string): Promise<Touched> {
  const pairs = [...new Map(all.map((one) => [keyOf(one.giver, one.nick, one.channel), one])).values()];
  const given = await rowsOf<Given>(tx, `${schema}.given`, {
    giver: pairs.map(({ giver }) => giver),
    nick: pairs.map(({ nick }) => nick),
    channel: pairs.map(({ channel }) => channel),
  });
  const agents = await rowsOf<Agent>(tx, `${schema}.agents`, {
    nick: unique(all.flatMap(({ giver, nick }) => [giver, nick])),
  });
  const names = unique(all.map(({ channel }) => channel));
  const channels = await rowsOf<Channel>(tx, `${schema}.channels`, {
    channel: names.flatMap((channel) => books.map(() => channel)),
    book: names.flatMap(() => books),
  });
  const there = [
    ...new Map(
      all.flatMap(({ giver, nick, channel }) =>
        [giver, nick].flatMap((who) =>
          books.map((book) => [keyOf(channel, who, book), { channel, nick: who, book }] as const),
        ),
      ),
    ).values(),
  ];
  const channelAgents = await rowsOf<ChannelAgent>(tx, `${schema}.channel_agents`, {
    channel: there.map(({ channel }) => channel),
    nick: there.map(({ nick }) => nick),
    book: there.map(({ book }) => book),
  });
  return {
    given: new Map(given.map((row) => [keyOf(row.giver, row.nick, row.channel), row])),
    agents: new Map(agents.map((row) => [row.nick, row])),
    channels: new Map(channels.map((row) => [nameIn(row.book, row.channel), row])),
    voices: await storedVoices(tx, pairs, schema),
    channelAgents: new Map(channelAgents.map((row) => [keyOf(row.channel, row.nick, row.book), row])),
    steps: new Map(),
  };
}

function add(rows: Touched, one: Given): void {
  const key = keyOf(one.giver, one.nick, one.channel);
  const before = rows.given.get(key);
  const replaced = before?.day === one.day ? before : undefined;
  const giver = agentOf(rows, one.giver);
  const rated = agentOf(rows, one.nick);
  const isWord = one.voice !== null;
  if (isWord && giver.stands) one.voice = one.giver;
  rows.given.set(key, one);

  rated.first_at ??= one.at;
  rated.last_at = one.at;
  if (!replaced) giver.given += 1;
  // an operator or a paid task vouches for both sides, unless the rating was too low
  giver.stands ||= !isWord;
  rated.stands ||= !isWord && one.rating >= leastStanding;

  const change = (sum: Sum, about: string, book: Book) => {
    const { voices } = rows;
    if (replaced && isIn(book, replaced)) count(sum, about, weighed(replaced), { voices, sign: -1 });
    if (isIn(book, one)) count(sum, about, weighed(one), { voices, sign: 1 });
  };
  change(rated, one.nick, 'all');
  for (const book of books) {
    change(channelOf(rows, one.channel, book), nameIn(book, one.channel), book);
    if (isIn(book, one)) for (const nick of [one.giver, one.nick]) noteActive(rows, { ...one, book }, nick);
  }
}

const isIn = (book: Book, one: Given): boolean => book === 'all' || !one.private;

function channelOf({ channels }: Touched, channel: string, book: Book): Channel {
  const key = nameIn(book, channel);
  const row = channels.get(key) ?? { channel, book, feedback: 0, weight: 0, rated: 0 };
  channels.set(key, row);
  return row;
}

const weighed = (one: Given) => ({ ...one, weight: weightAt(one.at) * one.strength });

function agentOf({ agents }: Touched, nick: string): Agent {
  const agent = agents.get(nick) ?? {
    nick,
    feedback: 0,
    given: 0,
    stands: false,
    weight: 0,
    rated: 0,
    first_at: null,
    last_at: null,
  };
  agents.set(nick, agent);
  return agent;
}

/** From this rating on, an operator or the marketplace vouches for the rated nick. */
const leastStanding = 3;

function noteActive(
  { channelAgents, steps }: Touched,
  { channel, book, day }: Given & { book: Book },
  nick: string,
): void {
  const key = keyOf(channel, nick, book);
  const before = channelAgents.get(key);
  if (before && before.day >= day) return;
  channelAgents.set(key, { channel, nick, book, day });
  const step = (day: string, by: 1 | -1) => {
    const key = keyOf(channel, book, day);
    const entry = steps.get(key) ?? { channel, book, day, step: 0 };
    entry.step += by;
    steps.set(key, entry);
  };
  if (before) step(before.day, -1);
  step(day, 1);
}

async function storeGiven(tx: Tx, rows: Given[], schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.given select giver, nick, channel, day::date, rating, at, strength, voice, private from ${givenRows.from('new')}
     on conflict (giver, nick, channel) do update set ${givenRows.replaced('giver', 'nick', 'channel')}`,
    givenRows.params(rows),
  );
}

async function storeAgents(tx: Tx, rows: Agent[], schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.agents (${agentRows.names}) select * from ${agentRows.from('new')}
     on conflict (nick) do update set ${agentRows.replaced('nick')}`,
    agentRows.params(rows.map(withMean)),
  );
}

async function storeChannels(tx: Tx, rows: Channel[], schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.channels (${channelRows.names}) select * from ${channelRows.from('new')}
     on conflict (channel, book) do update set ${channelRows.replaced('channel', 'book')}`,
    channelRows.params(rows.map(withMean)),
  );
}

const withMean = <S extends Pick<Sum, 'weight' | 'rated'>>(sum: S): S & { mean: number } => ({
  ...sum,
  mean: sum.weight > 0 ? sum.rated / sum.weight : 0,
});

async function storeActivity(tx: Tx, { channelAgents, steps }: Touched, schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.channel_agents
     select channel, nick, book, day::date from ${channelAgentRows.from('new')}
     on conflict (channel, nick, book) do update set day = excluded.day`,
    channelAgentRows.params([...channelAgents.values()]),
  );
  const days = [...steps.values()].filter(({ step }) => step !== 0);
  await tx.query(
    `insert into ${schema}.channel_days as d select channel, book, day::date, step from ${stepRows.from('new')}
     on conflict (channel, book, day) do update set agents = d.agents + excluded.agents`,
    stepRows.params(days),
  );
  await tx.query(
    `delete from ${schema}.channel_days as d using ${dayRows.from('changed')}
     where d.channel = changed.channel and d.book = changed.book and d.day = changed.day::date and d.agents = 0`,
    dayRows.params(days),
  );
}
