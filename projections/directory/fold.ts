import { directory, languageRanges, type PublishedEntry } from '../../streams/directory/index.js';
import { defineProjection } from '../core/projection.js';
import { Rows } from '../core/rows.js';
import { aboutAgents } from './about.js';

/** An entry as it is stored; lists have commas between their members. */
export const entryRows = new Rows({
  nick: 'text collate "C" primary key',
  wallet: 'text',
  abilities: 'text not null',
  ask: 'text',
  card_url: 'text',
  languages: 'text not null',
  price: 'text',
  hours: 'text',
  published_at: 'timestamptz not null',
});

const tagRows = new Rows({ tag: 'text collate "C" not null', nick: 'text collate "C" not null' });

/** The tag that an entry is found by for an ability, or for a language (in lower case) and those that are part of it. */
export const tagOf = {
  ability: (ability: string) => `ability ${ability}`,
  language: (language: string) => `language ${language}`,
};

/** The entries of agents, one row a nick, and what they are found by: `tags` has a row for each ability and language. */
export const agentDirectory = defineProjection({
  name: 'agent_directory',
  version: 1,
  streams: [directory],
  about: aboutAgents,
  ddl: (schema) => `
    ${entryRows.create(`${schema}.entries`)}
    ${tagRows.create(`${schema}.tags`, { constraints: ['primary key (tag, nick)'] })}
    create index on ${schema}.tags (nick)`,
  apply: async (tx, facts, schema) => {
    const last = new Map(
      facts.map(({ type, data }) => [data.nick, type === 'entry.published' ? data : undefined]),
    );
    const entries = [...last.values()].filter((entry) => entry !== undefined);
    const nicks = [...last.keys()];
    await tx.query(`delete from ${schema}.entries where nick = any($1::text[])`, [nicks]);
    await tx.query(`delete from ${schema}.tags where nick = any($1::text[])`, [nicks]);
    await tx.query(
      `insert into ${schema}.entries (${entryRows.names}) select * from ${entryRows.from('new')}`,
      entryRows.params(
        entries.map(({ abilities, languages, published_at, ...entry }) => ({
          ...entry,
          abilities: abilities.join(','),
          languages: languages.join(','),
          published_at: new Date(published_at),
        })),
      ),
    );
    await tx.query(
      `insert into ${schema}.tags (${tagRows.names}) select * from ${tagRows.from('new')}`,
      tagRows.params(entries.flatMap(tagsOf)),
    );
  },
});

function tagsOf({ nick, abilities, languages }: PublishedEntry): { tag: string; nick: string }[] {
  const tags = [
    ...abilities.map(tagOf.ability),
    ...languages.flatMap((language) => languageRanges(language).map(tagOf.language)),
  ];
  return [...new Set(tags)].map((tag) => ({ tag, nick }));
}
