import t from 'tap';
import { readerOf } from '../../src/cli/projections/read-query.js';

t.test('OPERATE-15 one statement that reads', async (t) => {
  const reads = [
    'select 1',
    ' SELECT 1 ; ',
    '(select 1) union (select 2);;',
    'with a as (select 1) select * from a',
    'values (1)',
    'table events',
    'show search_path',
    'explain analyze select 1',
    '-- a comment; of one line\nselect 1 -- ; and another',
    '/* of; /* two; */ levels; */ select /* ; */ 1',
    "select ';', 'it''s; ', e'\\';', E'a'\n'b\\'; '",
    'select ";", "a"";" from events',
    'select $$;$$, $body$ ; $$ ; $body$',
    'select a$b$c from events',
    "select typee'\\'",
  ];
  for (const text of reads) t.type(readerOf(text), 'string', text);
  const others = [
    '',
    ' ',
    ';',
    '-- select 1',
    '/* select 1',
    'delete from events',
    'drop table events',
    'set transaction read write',
    'commit',
    'begin; select 1',
    'do $$ begin end $$',
    'call f()',
    'copy events to program $$cat$$',
    '"select" 1',
    "'select'",
    'select 1; drop table events',
    'select 1; select 2',
    'select 1;; select 2',
    "select '\\'; drop table events; --'",
    "select typee'\\'; drop table events; --'",
    "select e'a'\n'b\\'' ; drop table events; --'",
    'select 1 -- a comment\n; drop table events',
    'select /* /* */ 1; */ 2; drop table events',
    'select a$b$ ; drop table events; select a$b$ from events',
    'select $$ $a$ $$; drop table events; select $a$ $a$',
  ];
  for (const text of others) t.equal(readerOf(text), undefined, text);
  t.equal(readerOf('/* select */ (Values (1)) union select 2'), 'VALUES', 'the word that it begins with');
});
