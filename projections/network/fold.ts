import type { Recorded } from '../../streams/core/index.js';
import type { IrcFact } from '../../streams/network/index.js';
import { dayBefore, days } from '../core/days.js';
import { Rows } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import { storeAways, storeChannels, storeIdentities } from './fold-channels.js';
import { storeActivity, storeLines } from './fold-lines.js';
import { type ChannelPatch, type Line, patchOf } from './patch.js';

const keptDays = 30;

const rebornRows = new Rows({ channel: 'text', first_seq: 'bigint' });

/**
 * Folds facts of the IRC stream into the tables of `irc_network`, day by day. Rows that a new day makes too
 * old are removed before anything of that day is folded. So the rows do not depend on how the facts were
 * batched.
 */
export async function foldSightings(tx: Tx, facts: Recorded<IrcFact>[], schema: string): Promise<void> {
  for (const { day, facts: ofDay } of days(facts)) {
    await beginDay(tx, day, ofDay[0]!.seq, schema);
    const { channels, lines } = patchOf(ofDay);
    await knowPrivacy(tx, lines, schema);
    const reborn = await rebornAmong(tx, channels, schema);
    await storeChannels(tx, channels, day, schema);
    await storeIdentities(tx, channels, schema);
    await storeAways(tx, channels, schema);
    await storeLines(tx, lines, ofDay[0]!.data.lines_before, schema);
    if (reborn.length > 0) await hideEarlierLives(tx, reborn, schema);
    if (lines.length > 0) await storeActivity(tx, lines, day, schema);
  }
}

/** Notes where a day begins in the stream, and removes what is too old when the day is new. */
async function beginDay(tx: Tx, day: string, seq: number, schema: string): Promise<void> {
  const begun = await tx.query(
    `insert into ${schema}.days values ($1::date, $2) on conflict (day) do nothing returning day`,
    [day, seq],
  );
  if (begun.length === 0) return;
  const oldest = dayBefore(day, keptDays);
  await tx.query(
    `with old_lines as (
       delete from ${schema}.lines
       where seq < (select min(first_seq) from ${schema}.days where day >= $1::date)
     ), old_msgids as (
       delete from ${schema}.msgids
       where seq < (select min(first_seq) from ${schema}.days where day >= $1::date)
     ), old_replies as (
       delete from ${schema}.replies
       where seq < (select min(first_seq) from ${schema}.days where day >= $1::date)
     ), old_activity as (
       delete from ${schema}.activity where day < $1::date
     ), old_channels as (
       delete from ${schema}.channels where day < $1::date returning channel
     ), old_members as (
       delete from ${schema}.members where channel in (select channel from old_channels)
     )
     delete from ${schema}.days where day < $1::date`,
    [oldest],
  );
}

/**
 * In older facts, lines before the first modes of a batch do not say whether they are private: the stored
 * modes say it.
 */
async function knowPrivacy(tx: Tx, lines: Line[], schema: string): Promise<void> {
  const unknown = lines.filter(({ isPrivate }) => isPrivate === null);
  if (unknown.length === 0) return;
  const closed = await tx.query<{ channel: string }>(
    `select channel from ${schema}.channels where channel = any($1::text[]) and modes ~ '[spik]'`,
    [[...new Set(unknown.map(({ channel }) => channel))]],
  );
  const names = new Set(closed.map(({ channel }) => channel));
  for (const line of unknown) line.isPrivate = names.has(line.channel);
}

/** Channels that were deleted and made again, with the sequence where their present life begins. */
async function rebornAmong(
  tx: Tx,
  channels: Map<string, ChannelPatch>,
  schema: string,
): Promise<{ channel: string; first_seq: number }[]> {
  const known = [...channels].filter(([, { lives }]) => lives.length > 0);
  if (known.length === 0) return [];
  const rows = await tx.query<{ channel: string; life: number }>(
    `select channel, life from ${schema}.channels where channel = any($1::text[])`,
    [known.map(([channel]) => channel)],
  );
  const before = new Map(rows.map(({ channel, life }) => [channel, life]));
  return known.flatMap(([channel, { lives }]) => {
    const { life, from } = lives.at(-1)!;
    // older facts do not say to which life they belong
    const earlier = lives.at(-2)?.life ?? (before.get(channel) || life);
    return earlier === life ? [] : [{ channel, first_seq: from }];
  });
}

async function hideEarlierLives(
  tx: Tx,
  reborn: { channel: string; first_seq: number }[],
  schema: string,
): Promise<void> {
  await tx.query(
    `update ${schema}.lines as l set private = true from ${rebornRows.from('reborn')}
     where l.channel = reborn.channel and l.seq < reborn.first_seq and not l.private`,
    rebornRows.params(reborn),
  );
}
