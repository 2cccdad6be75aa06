import { aboutLastDay } from '../core/days.js';
import type { About } from '../core/projection.js';

/** What people are told of the tables of links. */
export const aboutLinks: About = {
  links: {
    says: 'Which nick is linked with which wallet now.',
    columns: {
      nick: 'Nick under the key by which nicks are compared.',
      wallet: 'Wallet under the key by which wallets are compared.',
      wallet_address: 'Its address as it was given.',
      identified: 'Whether the identified nick itself said so.',
      linked_at: 'When it was linked.',
      verified_at: 'When the wallet signed; null before.',
      agent_id: 'ERC-8004 id. 0 is a real id; null means none.',
      sync_version: 'Counts the changes that others must be told.',
    },
  },
  seen: {
    says: 'When nicks last said something in a channel that was not private, to the minute. 30 days of it.',
    columns: {
      nick: 'Nick under the key by which nicks are compared.',
      seen_at: 'The minute.',
    },
  },
  last_day: aboutLastDay,
  totals: {
    says: 'Counts of links.',
    columns: {
      only_row: 'Always true: the table has one row.',
      links: 'Links now.',
      verified: 'Of those, the verified ones.',
    },
  },
};
