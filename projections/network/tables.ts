import { irc } from '../../streams/network/index.js';
import { defineProjection } from '../core/projection.js';
import { aboutNetwork } from './about.js';
import { foldSightings } from './fold.js';
import { memberRows } from './fold-channels.js';
import { lineRows, msgidRows, replyRows } from './fold-lines.js';

/**
 * The channel of a public line. This is one expression, because the planner has no statistics: with two
 * conditions it would expect so few lines that it sorts all lines of the channel.
 */
export const openChannel = `case when not private then channel end`;

/**
 * The IRC network as it was seen: channels with their members, what was said in them, and how much each nick
 * said. Channels and nicks are keyed by their casefolded names. Rows older than 30 days are removed, by the
 * time of the facts and counted in whole days.
 */
export const ircNetwork = defineProjection({
  name: 'irc_network',
  version: 5,
  streams: [irc],
  about: aboutNetwork,
  ddl: (schema) => `
    create table ${schema}.channels (
      channel text collate "C" primary key,
      name text not null,
      topic text not null,
      modes text not null,
      users integer not null,
      present boolean not null,
      life bigint not null,
      -- where the present life begins in the stream; 0 where it is not known
      life_seq bigint not null,
      -- the last gap in the record: who came and went in it is not known
      gap_seq bigint not null,
      gap_index integer not null,
      day date not null
    );
    ${memberRows.create(`${schema}.members`, { constraints: ['primary key (channel, nick)'] })}
    ${lineRows.create(`${schema}.lines`, { constraints: ['primary key (seq, index)'] })}
    create index on ${schema}.lines (channel, seq, index);
    create index on ${schema}.lines ((${openChannel}), seq, index);
    ${msgidRows.create(`${schema}.msgids`, { constraints: ['primary key (seq, index)'] })}
    create index on ${schema}.msgids (msgid);
    ${replyRows.create(`${schema}.replies`, { constraints: ['primary key (seq, index)'] })}
    create table ${schema}.activity (
      nick text collate "C",
      channel text collate "C",
      private boolean,
      day date,
      lines integer not null,
      first_at timestamptz not null,
      last_at timestamptz not null,
      primary key (nick, channel, private, day)
    );
    create table ${schema}.days (day date primary key, first_seq bigint not null);
    create table ${schema}.totals (
      only_row boolean primary key default true check (only_row),
      lines bigint not null
    )`,
  apply: foldSightings,
});
