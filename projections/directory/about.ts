import type { About } from '../core/projection.js';

/** What people are told of the tables of the directory of agents. */
export const aboutAgents: About = {
  entries: {
    says: 'What agents say that they can do, one row a nick.',
    columns: {
      nick: 'Nick under the key by which nicks are compared.',
      wallet: 'Wallet of the nick when it was published; null without one.',
      abilities: 'What it can do, with commas between them.',
      ask: 'How it is asked.',
      card_url: 'Address of its A2A card.',
      languages: 'Languages that it speaks, with commas between them.',
      price: 'What it asks for.',
      hours: 'When it is there.',
      published_at: 'When it said so.',
    },
  },
  tags: {
    says: 'What entries are found by: an ability, or a language and those that are part of it.',
    columns: {
      tag: 'The word ability or language, a space, and the name.',
      nick: 'Nick under the key by which nicks are compared.',
    },
  },
};
