import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import t from 'tap';
import { openSql } from '../../projections/core/open-sql.js';
import { eventually } from '../support/eventually.js';
import { needsDisk, smallDisk } from '../support/small-disk.js';

const megabyte = 1024 * 1024;

function listen() {
  const said: { msg: string; err?: { message: string } }[] = [];
  const stream = { write: (line: string) => said.push(JSON.parse(line) as (typeof said)[number]) };
  return { logger: pino({ level: 'info' }, stream), said };
}

t.test('START-02 an embedded store on a full disk is not taken for a damaged one', needsDisk, async (t) => {
  const disk = smallDisk(t, 160);
  const { logger, said } = listen();
  const directory = join(disk.dir, 'pg');
  const open = () => openSql({ directory, logger });
  const full = { message: `the disk of the read store ${directory} is full: free some space` };

  await disk.fill(22 * megabyte);
  await t.rejects(open(), full, 'there is no room for a new one');
  t.same(await readdir(disk.dir), ['filler'], 'and half a one is not left there');
  await disk.clear();

  const first = await open();
  await first.query(`create table notes (text text); insert into notes values ('kept')`);
  await first.close();
  await disk.fill(0);
  await t.rejects(open(), full, 'there is no room to open the one that is there');
  t.same((await readdir(disk.dir)).sort(), ['filler', 'pg'], 'it is not moved');
  await disk.clear();

  const sql = await open();
  t.teardown(() => sql.close());
  t.same(await sql.query('select text from notes'), [{ text: 'kept' }]);
  t.same(said, []);
});

t.test(
  'START-02 an embedded store that crashes while the disk is full is opened again when there is room',
  needsDisk,
  async (t) => {
    const disk = smallDisk(t, 160);
    const { logger, said } = listen();
    const directory = join(disk.dir, 'data', 'pg');
    await mkdir(join(disk.dir, 'data'));
    const sql = await openSql({ directory, logger });
    t.teardown(() => sql.close());
    await sql.query(`create table notes (text text); insert into notes values ('kept')`);
    await disk.fill(0);
    await t.rejects(sql.query(`copy notes from program 'any'`), { code: 'store_unavailable' });
    await eventually('it to say what is wrong', () =>
      said.some(({ err }) => /the disk .* is full/.test(err?.message ?? '')),
    );
    await disk.clear();
    const rows = await eventually('the store to be back', () => sql.query('select text from notes'));
    t.same(rows, [{ text: 'kept' }]);
    t.same(await readdir(join(disk.dir, 'data')), ['pg'], 'nothing was moved aside');
  },
);
