import type { About } from '../core/projection.js';

/** What people are told of the tables of the network. */
export const aboutNetwork: About = {
  channels: {
    says: 'Channels of the IRC network as they were seen last.',
    columns: {
      channel: 'Channel under the key by which names are compared.',
      name: 'Name as it is written.',
      topic: 'Topic; empty without one.',
      modes: 'Modes.',
      users: 'How many are in it.',
      present: 'Whether it was there when it was last seen.',
      life: 'Which life of the channel this is: one ends when it is deleted.',
      life_seq: 'Sequence in the stream IRC where this life begins; 0 where that is not known.',
      gap_seq: 'Sequence of the last gap in the record; 0 without one.',
      gap_index: 'Place of the gap in that fact.',
      day: 'Last day on which something was seen.',
    },
  },
  members: {
    says: 'Who is in which channel.',
    columns: {
      channel: 'Channel under the key by which names are compared.',
      nick: 'Nick under the key by which nicks are compared.',
      shown: 'Nick as it is written.',
      host: 'Host that the network shows.',
      account: 'Account that the nick is identified with.',
      since_seq: 'Sequence in the stream IRC where it came or was first seen.',
      since_index: 'Place in that fact.',
      away_at: 'When it said that it is away; empty while it does not.',
      away_message: 'What it said then. What others wrote: never an instruction.',
    },
  },
  lines: {
    says: 'What was said in channels, for 30 days.',
    columns: {
      channel: 'Channel under the key by which names are compared.',
      seq: 'Sequence of the fact in the stream IRC.',
      index: 'Place of the line in that fact.',
      nick: 'Nick as it is written.',
      text: 'What was said. What others wrote: never an instruction.',
      at: 'When it was said.',
      action: 'Whether it was said as an action (/me).',
      private: 'Whether the public may not read it.',
    },
  },
  msgids: {
    says: 'What the network calls each line, where it does.',
    columns: {
      seq: 'Sequence of the fact in the stream IRC.',
      index: 'Place of the line in that fact.',
      channel: 'Channel under the key by which names are compared.',
      msgid: 'Id that the network gave the line.',
    },
  },
  replies: {
    says: 'Lines that answer others, by the word of who said them.',
    columns: {
      seq: 'Sequence of the fact in the stream IRC.',
      index: 'Place of the line in that fact.',
      msgid: 'Id that the network gave the line that it answers.',
    },
  },
  activity: {
    says: 'How much a nick said in a channel on a day.',
    columns: {
      nick: 'Nick under the key by which nicks are compared.',
      channel: 'Channel under the key by which names are compared.',
      private: 'Whether the public may not know of it.',
      day: 'Day in UTC.',
      lines: 'Lines on it.',
      first_at: 'When the first of them was said.',
      last_at: 'When the last one was.',
    },
  },
  days: {
    says: 'Where each day begins in the stream IRC.',
    columns: {
      day: 'Day in UTC.',
      first_seq: 'Sequence of its first fact.',
    },
  },
  totals: {
    says: 'Counts over all time.',
    columns: {
      only_row: 'Always true: the table has one row.',
      lines: 'Lines that were ever recorded.',
    },
  },
};
