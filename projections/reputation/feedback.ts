import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { FeedbackGiven, ReputationFact } from '../../streams/reputation/index.js';
import { type RowOf, Rows } from '../core/rows.js';
import type { Tx } from '../core/sql.js';

/** What is stored of feedback: the last one of each day. Names are casefolded. */
export const feedbackRows = new Rows({
  giver: 'text collate "C" not null',
  nick: 'text collate "C" not null',
  channel: 'text collate "C" not null',
  day: 'text not null',
  seq: 'bigint not null',
  rating: 'integer not null',
  comment: 'text not null',
  source: 'text',
  private: 'boolean not null',
  at: 'timestamptz not null',
});

const answerRows = new Rows({
  giver: 'text',
  nick: 'text',
  channel: 'text',
  day: 'text',
  seq: 'bigint',
  answer: 'text',
  answered_at: 'timestamptz',
});

const keyOf = ({ data: { from, nick, channel, day } }: Recorded<ReputationFact>): string =>
  [casefold(from), casefold(nick), casefold(channel), day].join(' ');
const namesOf = ({ data: { from, nick, channel, day } }: Recorded<ReputationFact>) => ({
  giver: casefold(from),
  nick: casefold(nick),
  channel: casefold(channel),
  day,
});

/** Stores each feedback of a batch in place of the one of the same day, whose answer ends with it. */
export async function storeFeedback(tx: Tx, facts: Recorded<FeedbackGiven>[], schema: string): Promise<void> {
  const last = new Map(facts.map((fact) => [keyOf(fact), fact]));
  const rows = [...last.values()].map((fact): RowOf<typeof feedbackRows> => {
    const { rating, comment, source = null, private: isPrivate = false } = fact.data;
    return { ...namesOf(fact), seq: fact.seq, rating, comment, source, private: isPrivate, at: fact.at };
  });
  await tx.query(
    `insert into ${schema}.feedback (${feedbackRows.names}) select * from ${feedbackRows.from('new')}
     on conflict (giver, nick, channel, day)
     do update set ${feedbackRows.replaced('giver', 'nick', 'channel', 'day')}, answer = null, answered_at = null`,
    feedbackRows.params(rows),
  );
}

/** Stores the answers of a batch with the feedback that they answer. */
export async function storeAnswers(tx: Tx, facts: Recorded<ReputationFact>[], schema: string): Promise<void> {
  const rows = facts.flatMap((fact) =>
    fact.type === 'feedback.answered'
      ? [{ ...namesOf(fact), seq: fact.seq, answer: fact.data.text, answered_at: fact.at }]
      : [],
  );
  if (rows.length === 0) return;
  await tx.query(
    `update ${schema}.feedback as f set answer = new.answer, answered_at = new.answered_at
     from ${answerRows.from('new')}
     where f.giver = new.giver and f.nick = new.nick and f.channel = new.channel and f.day = new.day
       and f.seq < new.seq`,
    answerRows.params(rows),
  );
}

/** What one nick said of another; times are ISO 8601. */
export interface Feedback {
  id: number;
  from: string;
  channel: string;
  rating: number;
  comment: string;
  /** UTC day it counts for. */
  day: string;
  given_at: string;
  /** Its source. */
  source: 'agent' | 'marketplace' | 'operator';
  /** Whether the channel was closed to the public when it was given. */
  isPrivate: boolean;
  answer: string | null;
  answered_at: string | null;
}

/** The feedback about a nick (casefolded), newest first; before an id, if one is given. */
export async function feedbackAbout(
  sql: Tx,
  schema: string,
  nick: string,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<Feedback[]> {
  const rows = await sql.query<Stored>(
    `select * from ${schema}.feedback where nick = $1 and ($2::bigint is null or seq < $2)
     order by seq desc limit $3`,
    [nick, before ?? null, limit],
  );
  return rows.map(feedbackView);
}

/** The feedback with an id about a nick (casefolded); `undefined` if it does not exist. */
export async function feedbackWith(
  sql: Tx,
  schema: string,
  nick: string,
  id: number,
): Promise<Feedback | undefined> {
  const [row] = await sql.query<Stored>(`select * from ${schema}.feedback where nick = $1 and seq = $2`, [
    ...[nick, id],
  ]);
  return row && feedbackView(row);
}

type Stored = RowOf<typeof feedbackRows> & { answer: string | null; answered_at: Date | null };

function feedbackView(row: Stored): Feedback {
  const { seq, giver, channel, rating, comment, day, at, source, answer, answered_at } = row;
  return {
    id: seq,
    from: giver,
    channel,
    rating,
    comment,
    day,
    given_at: at.toISOString(),
    source: (source as Feedback['source'] | null) ?? 'operator',
    isPrivate: row.private,
    answer,
    answered_at: answered_at?.toISOString() ?? null,
  };
}
