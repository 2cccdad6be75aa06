import type { About } from '../core/projection.js';

/** What people are told of the table of floors. */
export const aboutFloors: About = {
  floors: {
    says: 'Whose turn it is in a channel, one row for each where that was ever asked.',
    columns: {
      channel: 'Channel under the key by which names are compared.',
      seq: 'Sequence in the stream IRC of the fact that changed it last.',
      state: 'Who has the floor, who waits, who opened it, and who are operators.',
    },
    json: ['state'],
  },
};
