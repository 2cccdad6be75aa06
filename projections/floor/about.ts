import { aboutLastDay } from '../core/days.js';
import type { About } from '../core/projection.js';

/** What people are told of the table of floors. */
export const aboutFloors: About = {
  floors: {
    says: 'Whose turn it is in a channel, one row for each where that was asked or that has operators. A channel without a fact for three days has no row.',
    columns: {
      channel: 'Channel under the key by which names are compared.',
      seq: 'Sequence in the stream IRC of the fact that changed it last.',
      state: 'Who has the floor, who waits, who opened it, and who are operators.',
      day: 'Day in UTC of the last fact of the channel.',
    },
    json: ['state'],
  },
  last_day: aboutLastDay,
};
