import { reputation } from '../../streams/reputation/index.js';
import { defineProjection } from '../core/projection.js';
import { aboutReputation } from './about.js';
import { feedbackRows } from './feedback.js';
import { agentRows, channelRows, foldFeedback } from './fold.js';
import { voiceRows } from './voices.js';

const settings = 'with (fillfactor = 50)';

/**
 * What others think of nicks, and of channels. Names are casefolded. Weights are relative to a fixed moment
 * (`weightAt`), so that rows change with feedback and never with time; `mean` is `rated / weight`.
 *
 * What agents say counts as one feedback for each giver (`voices`). All givers without a voucher count
 * together as one; an operator or a paid task vouches.
 *
 * `given` has the last feedback of each nick about another one in a channel. A later one of the same day
 * replaces it. `feedback` has the last one of each day, with its answer. `channel_days` counts the nicks of a
 * channel by the last day on which they gave or received feedback.
 *
 * Two books are kept of a channel: of all feedback, and (`open`) without what was given while the channel was closed
 * to the public. The public is shown the latter, even after the channel was opened.
 *
 * Rows that change with each feedback have room for their next version next to them. Without it the tables
 * would grow with the number of facts, and so would the cost of the leaderboards.
 */
export const reputations = defineProjection({
  name: 'reputation',
  version: 6,
  readsFrom: 5,
  streams: [reputation],
  about: aboutReputation,
  ddl: (schema) => `
    create table ${schema}.given (
      giver text collate "C",
      nick text collate "C",
      channel text collate "C",
      day date not null,
      rating integer not null,
      at timestamptz not null,
      strength double precision not null,
      voice text,
      private boolean not null,
      primary key (giver, nick, channel)
    );
    ${feedbackRows.create(`${schema}.feedback`, {
      constraints: [...['answer text', 'answered_at timestamptz'], 'primary key (giver, nick, channel, day)'],
    })}
    create index on ${schema}.feedback (nick, seq);
    ${agentRows.create(`${schema}.agents`, { settings })}
    ${channelRows.create(`${schema}.channels`, { constraints: ['primary key (channel, book)'], settings })}
    ${voiceRows.create(`${schema}.voices`, { constraints: ['primary key (about, giver)'], settings })}
    create table ${schema}.channel_agents (
      channel text collate "C",
      nick text collate "C",
      book text collate "C",
      day date not null,
      primary key (channel, nick, book)
    ) ${settings};
    create table ${schema}.channel_days (
      channel text collate "C",
      book text collate "C",
      day date,
      agents integer not null,
      primary key (channel, book, day)
    ) ${settings}`,
  apply: foldFeedback,
});
