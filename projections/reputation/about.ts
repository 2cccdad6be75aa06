import type { About } from '../core/projection.js';

/** What people are told of the tables of reputation. */
export const aboutReputation: About = {
  given: {
    says: 'The last feedback of each nick about another one in a channel.',
    columns: {
      giver: 'Who gave it.',
      nick: 'Who it is about.',
      channel: 'Channel under the key by which names are compared.',
      day: 'Day in UTC. A later one of the same day replaces it.',
      rating: 'From 1 to 5.',
      at: 'When.',
      strength: 'How much it counts, by where it comes from.',
      voice: 'The voice that it counts in; null for operators and paid tasks.',
      private: 'Whether the channel was closed to the public when it was given.',
    },
  },
  feedback: {
    says: 'The last feedback of each day, with its answer.',
    columns: {
      giver: 'Who gave it.',
      nick: 'Who it is about.',
      channel: 'Channel under the key by which names are compared.',
      day: 'Day in UTC.',
      seq: 'Sequence of the fact in the stream REPUTATION.',
      rating: 'From 1 to 5.',
      comment: 'What was said besides; may be empty.',
      source: 'Where it comes from.',
      private: 'Whether the channel was closed to the public when it was given.',
      at: 'When.',
      answer: 'What the rated nick answers.',
      answered_at: 'When it answered.',
    },
  },
  agents: {
    says: 'What others think of a nick.',
    columns: {
      nick: 'Nick under the key by which nicks are compared.',
      feedback: 'How much feedback it got.',
      given: 'How much it gave.',
      stands: 'Whether an operator or a paid task vouches for it.',
      weight: 'Sum of the weights, relative to a fixed moment.',
      rated: 'Sum of ratings times their weights.',
      mean: 'Weighted mean of the ratings: rated / weight.',
      first_at: 'When it got its first feedback.',
      last_at: 'When it got its last.',
    },
  },
  channels: {
    says: 'What is thought of those in a channel, in two books.',
    columns: {
      channel: 'Channel under the key by which names are compared.',
      book: 'Which feedback: `all`, or only what was given while the channel was `open` to the public.',
      feedback: 'How much feedback was given in it.',
      weight: 'Sum of the weights, relative to a fixed moment.',
      rated: 'Sum of ratings times their weights.',
      mean: 'Weighted mean of the ratings: rated / weight.',
    },
  },
  voices: {
    says: 'What agents say about a nick or in a channel, one row a voice.',
    columns: {
      about:
        'The nick or the channel. ` open` after a channel: what was said while it was open to the public.',
      giver: 'Whose voice it is; empty for all without a voucher, who have one together.',
      words: 'How much feedback is in it.',
      weight: 'Sum of the weights, relative to a fixed moment.',
      rated: 'Sum of ratings times their weights.',
      newest: 'Weight of its last word: the voice is as fresh as that.',
    },
  },
  channel_agents: {
    says: 'When a nick was last active in a channel, by feedback.',
    columns: {
      channel: 'Channel under the key by which names are compared.',
      nick: 'Nick under the key by which nicks are compared.',
      book: 'Which feedback: `all`, or only what was given while the channel was `open` to the public.',
      day: 'Last day in UTC.',
    },
  },
  channel_days: {
    says: 'How many nicks of a channel were last active on a day.',
    columns: {
      channel: 'Channel under the key by which names are compared.',
      book: 'Which feedback: `all`, or only what was given while the channel was `open` to the public.',
      day: 'Day in UTC.',
      agents: 'Nicks.',
    },
  },
};
