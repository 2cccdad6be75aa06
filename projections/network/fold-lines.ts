import { casefold } from '../../streams/irc-grammar.js';
import { Rows } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import type { Line } from './patch.js';

/** What one nick said in one channel on one day. */
interface Activity {
  nick: string;
  channel: string;
  private: boolean;
  lines: number;
  first_at: Date;
  last_at: Date;
}

/** A line of a channel as it is stored. */
export const lineRows = new Rows({
  channel: 'text collate "C" not null',
  seq: 'bigint',
  index: 'integer',
  nick: 'text not null',
  text: 'text not null',
  at: 'timestamptz not null',
  action: 'boolean not null',
  // said while the channel was closed to the public, or before it was deleted and made again
  private: 'boolean not null',
});

/** What the network calls a line, where it does. Apart from the lines: a wider table is read in another way. */
export const msgidRows = new Rows({
  seq: 'bigint',
  index: 'integer',
  channel: 'text collate "C" not null',
  msgid: 'text collate "C" not null',
});

/** The msgid of the line that a line answers. */
export const replyRows = new Rows({ seq: 'bigint', index: 'integer', msgid: 'text collate "C" not null' });

const activityRows = new Rows({
  nick: 'text',
  channel: 'text',
  private: 'boolean',
  lines: 'integer',
  first_at: 'timestamptz',
  last_at: 'timestamptz',
});

/**
 * Adds lines and counts them. The count begins with what was recorded before the first fact that is still
 * kept.
 */
export async function storeLines(tx: Tx, lines: Line[], before: number, schema: string): Promise<void> {
  const rows = lines.map(({ channel, seq, index, said, isPrivate }) => ({
    channel,
    seq,
    index,
    nick: said.nick,
    text: said.text,
    at: new Date(said.at),
    action: said.is === 'action',
    private: isPrivate,
  }));
  const msgids = lines.flatMap(({ channel, seq, index, said: { msgid } }) =>
    msgid === undefined ? [] : [{ seq, index, channel, msgid }],
  );
  const replies = lines.flatMap(({ seq, index, said: { reply_to: msgid } }) =>
    msgid === undefined ? [] : [{ seq, index, msgid }],
  );
  await tx.query(
    `with counted as (
       insert into ${schema}.totals (lines) values ($1::bigint + $2::bigint)
       on conflict (only_row) do update set lines = totals.lines + $2::bigint
     )
     insert into ${schema}.lines (${lineRows.names}) select * from ${lineRows.from('said', { first: 3 })}`,
    [before, lines.length, ...lineRows.params(rows)],
  );
  if (msgids.length > 0)
    await tx.query(
      `insert into ${schema}.msgids (${msgidRows.names}) select * from ${msgidRows.from('named')}`,
      msgidRows.params(msgids),
    );
  if (replies.length > 0)
    await tx.query(
      `insert into ${schema}.replies (${replyRows.names}) select * from ${replyRows.from('said')}`,
      replyRows.params(replies),
    );
}

/** Counts what each nick said in each channel on a day. */
export async function storeActivity(tx: Tx, lines: Line[], day: string, schema: string): Promise<void> {
  const spoken = new Map<string, Activity>();
  for (const { channel, said, isPrivate } of lines) {
    const nick = casefold(said.nick);
    const key = `${nick} ${channel} ${isPrivate}`;
    const at = new Date(said.at);
    const none = { nick, channel, private: isPrivate ?? false, lines: 0, first_at: at, last_at: at };
    const entry = spoken.get(key) ?? none;
    spoken.set(key, entry);
    entry.lines += 1;
    if (at < entry.first_at) entry.first_at = at;
    if (at > entry.last_at) entry.last_at = at;
  }
  await tx.query(
    `insert into ${schema}.activity as a (nick, channel, private, day, lines, first_at, last_at)
     select nick, channel, private, $1::date, lines, first_at, last_at
     from ${activityRows.from('spoken', { first: 2 })}
     on conflict (nick, channel, private, day) do update set lines = a.lines + excluded.lines,
       first_at = least(a.first_at, excluded.first_at), last_at = greatest(a.last_at, excluded.last_at)`,
    [day, ...activityRows.params([...spoken.values()])],
  );
}
