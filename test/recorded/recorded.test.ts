import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, constants } from 'node:zlib';
import pino from 'pino';
import t, { type Test } from 'tap';
import { readBuilds } from '../../projections/core/builds.js';
import { openSql } from '../../projections/core/open-sql.js';
import { projections } from '../../projections/index.js';
import { ExportReader } from '../../src/cli/transfer/reader.js';
import { decodeFact } from '../../streams/core/index.js';
import { streams } from '../../streams/index.js';
import { askOf } from '../channels/stage.js';
import { relay } from '../cli/terminal.js';
import { postEvent, sampleEvent, startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { startPostgres, temporaryDirectory } from '../support/sql.js';
import { type Answers, answersTo, filesIn, noFact, reading } from './answers.js';

const logger = pino({ level: 'silent' });
const params = { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 };
const unpacked = (file: string) => brotliDecompressSync(readFileSync(file), { params });

/** Read models that can be folded again from a data folder of any age: the record of the network is kept for 30 days there. */
const lasting = projections
  .filter(({ streams }) => streams.every(({ maxAgeMs }) => maxAgeMs === 0))
  .map(({ name }) => name);

/**
 * What has been added to read models since 2026-11; its rows cannot be the same. `agent_keys` and
 * `agent_directory` are from new streams. `floors` is a new read of an old one. In `reputation`, feedback can be read one by one, with its weight and its voice, and channels have two books.
 * In `irc_network`,
 * private lines are counted separately, members have who they are, and lines are found by what the network calls them, with what they answer. In `channel_directory`, relays end too. In
 * `moderation`, persons have what the public may know of them, and their counts are made of incidents. `identity_links` knows the
 * last day, to forget who was seen long ago.
 */
const newer: Record<string, readonly string[] | 'all'> = {
  agent_keys: 'all',
  agent_directory: 'all',
  floors: 'all',
  reputation: ['feedback', 'given', 'voices', 'channels', 'channel_agents', 'channel_days'],
  irc_network: ['activity', 'members', 'msgids', 'replies'],
  channel_directory: ['endings'],
  moderation: ['persons'],
  identity_links: ['last_day'],
};

/** The rows that a recording can have too. */
function comparable(rows: Awaited<ReturnType<typeof rowsOf>>): typeof rows {
  const kept = Object.entries(rows).flatMap(([name, tables]) => {
    const without = newer[name] ?? [];
    if (without === 'all') return [];
    return [[name, Object.fromEntries(Object.entries(tables).filter(([table]) => !without.includes(table)))]];
  });
  return Object.fromEntries(kept) as typeof rows;
}

/**
 * Columns that rows have got since then. They say whether a row is private, and to which life of a channel it
 * belongs. They say by which nick incidents are found (no longer by their persons), and what became of
 * appeals. They say whether somebody vouches for a nick or for a voter, and give the sums of weights and
 * means. They say when an event ended, and give each of its lines. They say which nicks a channel was made for, and where
 * its present life and its last gap are in the record. They say who holds a paid place. The challenges of wallets are gone:
 * they are no facts any more.
 */
const newerColumns = [
  ...['private', 'private_count', 'life', 'nick_key', 'voice'],
  ...['appealed_at', 'appeal', 'upheld_at', 'told_at'],
  ...['ended_at', 'lines'],
  ...['founding', 'life_seq', 'gap_seq', 'gap_index'],
  ...['stands', 'plain', 'hearsay', 'firm_weight', 'firm_rated', 'plain_weight', 'plain_rated'],
  ...['challenge', 'challenge_expires_at'],
];

/** The same of columns and of members of facts in a column. */
const newerMembers = ['holder'];

function withoutNewer(row: string): string {
  const parsed = JSON.parse(row, (name, value) => (newerMembers.includes(name) ? undefined : value));
  const known = Object.entries(parsed as object).filter(([column]) => !newerColumns.includes(column));
  return JSON.stringify(Object.fromEntries(known));
}

/**
 * A count that has returned to zero may have a row or not: that depends on how many facts were folded
 * together.
 */
const countOfNothing = /^\{(?=.*"status": )(?=.*"(events|queries)": 0\b)[^,]*,[^,]*\}$/;

/** The rows of every table of every read model that is read, by the read model's name. */
async function rowsOf(place: { databaseUrl?: string; directory?: string }) {
  const sql = await openSql({ databaseUrl: '', directory: '', logger, ...place });
  const rows: Record<string, Record<string, string[]>> = {};
  try {
    for (const { name, schema, caughtUpAt } of await readBuilds(sql)) {
      if (!caughtUpAt) continue;
      const tables = await sql.query<{ table_name: string }>(
        'select table_name from information_schema.tables where table_schema = $1 order by table_name',
        [schema],
      );
      rows[name] = {}; // builds come oldest first
      for (const { table_name } of tables) {
        const found = await sql.transaction(async (tx) => {
          await tx.query(`set local time zone 'UTC'`);
          return await tx.query<{ row: string }>(
            `select to_jsonb(t)::text as row from ${schema}.${table_name} t`,
          );
        });
        rows[name][table_name] = found
          .map(({ row }) => row)
          .filter((row) => !countOfNothing.test(row))
          .map(withoutNewer)
          .sort();
      }
    }
  } finally {
    await sql.close();
  }
  return rows;
}

/** Rebuilds a read model, and waits until reads go to it. */
async function rebuild(url: string, name: string): Promise<void> {
  const { status, body } = await askOf(url, 'POST', `/ops/projections/${name}/rebuild`, {});
  if (status !== 202) throw new Error(`${name}: ${JSON.stringify(body)}`);
  await eventually(`${name} to be built`, async () => {
    const { builds } = (await askOf(url, 'GET', `/ops/projections/${name}`)).body;
    return builds.some(
      ({ schema, state }: { schema: string; state: string }) => schema === body.schema && state === 'live',
    );
  });
}

/** What a new event becomes in a service with all roles. */
async function deliversOneMore(t: Test, environment: Record<string, string>): Promise<void> {
  const app = await startApp(t, { ...environment, IRC_EMBEDDED_PORT: String(await freePort()) });
  const event = sampleEvent('evt-one-more');
  t.match(await postEvent(app.url, event), { status: 202, body: { status: 'accepted' } });
  await eventually(
    'the new event to be shown',
    async () => (await postEvent(app.url, event)).body.delivery_status === 'delivered',
  );
  t.equal((await postEvent(app.url, sampleEvent('evt-late'))).body.status, 'already_processed');
  await app.stop();
}

for (const version of readdirSync('test/recorded', { withFileTypes: true })) {
  if (!version.isDirectory()) continue;
  const files = filesIn(join('test/recorded', version.name));
  const recorded = JSON.parse(readFileSync(files.answers, 'utf8')) as Answers;
  const paths = Object.keys(recorded);

  t.test(`LOG-10 every fact of ${version.name} decodes`, async (t) => {
    const reader = new ExportReader(files.log);
    const seen = new Set<string>();
    for (const line of unpacked(files.log).toString().trimEnd().split('\n')) {
      const said = reader.read(Buffer.from(line));
      if (said.is !== 'message' || Buffer.from(said.message.data).toString() === noFact) continue;
      const { stream: name, ...place } = said.message;
      const stream = streams.find((one) => one.name === name);
      if (!stream) return t.fail(`the stream ${name} is gone`);
      decodeFact(stream, said.message.data, place);
      seen.add(name);
    }
    t.ok(seen.size > 10, `facts of ${[...seen]}`);
  });

  t.test(`READ-04 the data folder of ${version.name}`, { timeout: 180_000 }, async (t) => {
    const DATA_DIR = await temporaryDirectory(t);
    execFileSync('tar', ['-xf', '-', '-C', DATA_DIR], { input: unpacked(files.data) });
    const directory = join(DATA_DIR, 'pg');
    const before = comparable(await rowsOf({ directory }));
    const known = projections.map(({ name }) => name).filter((name) => newer[name] !== 'all');
    t.same(Object.keys(before).sort(), known.sort());

    const app = await startApp(t, { ...reading, DATA_DIR });
    t.same(await answersTo(app.url, paths), recorded, 'it answers what it answered');
    for (const { name } of projections) await rebuild(app.url, name);
    // the latter tells which channels of the network are seen
    const kept = paths.filter((path) => !path.startsWith('/irc/') && path !== '/guardian/stats');
    const expected = Object.fromEntries(kept.map((path) => [path, recorded[path]]));
    t.same(await answersTo(app.url, kept), expected, 'and folded again, too');
    await app.stop();
    const after = comparable(await rowsOf({ directory }));
    for (const name of lasting) t.same(after[name], before[name], `rows of ${name}`);
    await deliversOneMore(t, { DATA_DIR });
  });

  t.test(`OPERATE-09 the export of ${version.name}`, { timeout: 180_000 }, async (t) => {
    const DATA_DIR = await temporaryDirectory(t);
    const { url: DATABASE_URL } = await startPostgres(t);
    const file = join(DATA_DIR, 'export.jsonl');
    writeFileSync(file, unpacked(files.log));
    const imported = await relay(['import', '--in', file], { env: { ...reading, DATA_DIR } });
    t.match(imported, { code: 0, out: /^\d+ facts imported, there already: 0$/ }, imported.err);
    const app = await startApp(t, { ...reading, DATA_DIR, DATABASE_URL });
    t.same(await answersTo(app.url, paths), recorded, 'it answers what the exported one answered');
    await app.stop();
    const folder = await temporaryDirectory(t);
    execFileSync('tar', ['-xf', '-', '-C', folder, 'pg'], { input: unpacked(files.data) });
    t.same(
      comparable(await rowsOf({ databaseUrl: DATABASE_URL })),
      comparable(await rowsOf({ directory: join(folder, 'pg') })),
    );
    await deliversOneMore(t, { DATA_DIR, DATABASE_URL });
  });
}
