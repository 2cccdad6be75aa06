import t from 'tap';
import type { Sql } from '../../projections/core/sql.js';
import { agentDirectory } from '../../projections/directory/fold.js';
import { entriesOf, entryOf } from '../../projections/directory/queries.js';
import type { Recorded } from '../../streams/core/index.js';
import type { DirectoryFact } from '../../streams/directory/index.js';
import { eachSql } from '../support/sql.js';

const at = (minutes: number) => new Date(Date.UTC(2026, 2, 1, 12, minutes));

function history(): Recorded<DirectoryFact>[] {
  const facts: Recorded<DirectoryFact>[] = [];
  const tell = (fact: DirectoryFact) => {
    const seq = facts.length + 1;
    const place = { id: `d${seq}`, stream: 'DIRECTORY', subject: `directory.${fact.data.nick}`, seq };
    facts.push({ ...fact, ...place, at: at(seq), by: 'test', cause: null });
  };
  const publish = (nick: string, abilities: string[], languages: string[] = [], more: object = {}) =>
    tell({
      type: 'entry.published',
      data: {
        nick,
        wallet: null,
        abilities,
        languages,
        ask: null,
        card_url: null,
        price: null,
        hours: null,
        published_at: at(facts.length + 1).toISOString(),
        ...more,
      },
    });
  publish('alice', ['paint']);
  publish('bob', ['translate'], ['de'], { wallet: '0xb', ask: 'say \'bob\', "please"', price: '1, or 2' });
  publish('alice', ['translate', 'summarise'], ['en', 'pt-BR', 'pt']);
  publish('carl', ['translate'], ['pt-PT']);
  tell({ type: 'entry.withdrawn', data: { nick: 'carl' } });
  publish('dora{}', ['translate'], ['zh-Hant-TW']);
  tell({ type: 'entry.withdrawn', data: { nick: 'nobody' } });
  for (let n = 0; n < 30; n++) publish(`many${String(n).padStart(2, '0')}`, ['count', `n${n}`]);
  tell({ type: 'entry.withdrawn', data: { nick: 'many07' } });
  publish('many07', ['again']);
  return facts;
}

const facts = history();

eachSql(t, async (t, open) => {
  const { sql } = await open();
  let first: unknown;
  for (const [schema, batch] of [
    ['one_by_one', 1],
    ['in_sevens', 7],
    ['at_once', 1_000],
  ] as const) {
    await t.test(`DIR-10 the same rows, folded ${schema}`, async (t) => {
      await sql.query(`create schema ${schema}; ${agentDirectory.ddl(schema)}`);
      for (let from = 0; from < facts.length; from += batch) {
        const some = facts.slice(from, from + batch);
        await sql.transaction((tx) => agentDirectory.apply(tx, some, schema));
      }
      const rows = {
        entries: await sql.query(`select * from ${schema}.entries order by nick`),
        tags: await sql.query(`select * from ${schema}.tags order by tag, nick`),
      };
      t.equal(rows.entries.length, 33);
      first ??= rows;
      t.same(rows, first);
    });
  }
  await t.test('DIR-04 what is found', async (t) => {
    const schema = 'in_sevens';
    t.same(await entryOf(sql, schema, 'bob'), {
      nick: 'bob',
      wallet: '0xb',
      abilities: ['translate'],
      languages: ['de'],
      card_url: null,
      hours: null,
      ask: 'say \'bob\', "please"',
      price: '1, or 2',
      published_at: at(2).toISOString(),
    });
    t.equal(await entryOf(sql, schema, 'carl'), undefined);
    const found = (wanted: Partial<Parameters<typeof entriesOf>[2]>) => nicks(sql, schema, wanted);
    t.same(await found({ ability: 'translate' }), ['alice', 'bob', 'dora{}']);
    t.same(await found({ ability: 'translate', after: 'alice', limit: 1 }), ['bob']);
    t.same(await found({ ability: 'paint' }), [], 'what an entry before had');
    t.same(await found({ language: 'pt' }), ['alice'], 'a language that is part of it');
    t.same(await found({ language: 'pt-br' }), ['alice']);
    t.same(await found({ language: 'zh-hant' }), ['dora{}']);
    t.same(await found({ ability: 'translate', language: 'de' }), ['bob']);
    t.same(await found({ ability: 'summarise', language: 'de' }), []);
    t.same(await found({ ability: "x' or true --" }), []);
    t.same(await found({ limit: 2 }), ['alice', 'bob']);
    t.same(await found({ after: 'many28' }), ['many29']);
    t.same(await found({ ability: 'again' }), ['many07']);
  });
});

async function nicks(sql: Sql, schema: string, wanted: Partial<Parameters<typeof entriesOf>[2]>) {
  const entries = await entriesOf(sql, schema, { after: '', limit: 100, ...wanted });
  return entries.map(({ nick }) => nick);
}
