import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { findNatsServer, projectDir } from './binaries.js';
import { type SupervisedChild, superviseChild } from './child.js';
import { loadNatsPassword, natsAuthorization, ownNatsUrl } from './nats-credentials.js';
import { answers } from './net.js';
import { writePrivateFile } from './private-file.js';
import { type StoreWatch, watchStore } from './store-watch.js';

/** A server of our own; `url` stays the same when it is restarted, and has the credentials that it asks for. */
export interface EmbeddedServer extends SupervisedChild {
  readonly url: string;
}

/** Our own nats-server. */
export interface OwnNatsServer extends EmbeddedServer {
  readonly storing: Pick<StoreWatch, 'trouble' | 'restarts'>;
}

/** `always`: acknowledged means on disk, as `nats.conf` says. `default`: the server's two minutes, for tests and benchmarks. */
export type StoreSync = 'always' | 'default';

/**
 * Runs a nats-server with JetStream on loopback, its data under `<dataDir>/nats`; one that a killed service
 * left running there is adopted. Its configuration is the repository's `nats.conf` and a generated password,
 * without which it serves nobody. One that can store nothing more after a write error is restarted.
 */
export async function startNatsServer(options: {
  dataDir: string;
  log: Logger;
  port?: number;
  storeSync?: StoreSync;
}): Promise<OwnNatsServer> {
  const binary = findNatsServer();
  const host = '127.0.0.1';
  const dir = resolve(options.dataDir, 'nats');
  const store = join(dir, 'store');
  mkdirSync(store, { recursive: true, mode: 0o700 });
  const config = join(dir, 'nats.conf');
  const password = loadNatsPassword(options.dataDir);
  const text = natsConfigText(options.storeSync ?? 'always') + natsAuthorization(password);
  const child = await superviseChild({
    name: 'nats-server',
    dir,
    host,
    port: options.port ?? 0,
    command: binary.path,
    args: (port) => {
      writePrivateFile(config, text);
      return natsArgs({ config, host, port, store });
    },
    ownArgument: store,
    fingerprint: createHash('sha256').update(`${binary.version}\n${text}`).digest('hex'),
    answers: (port) => natsAnswers(port),
    // Large stores are checked before the port opens.
    startTimeoutMs: 120_000,
    stopGraceMs: 15_000,
    log: options.log,
  });
  const storing = watchStore({ server: child, store, password, log: options.log });
  const stop = child.stop.bind(child);
  return Object.defineProperties(child as OwnNatsServer, {
    url: { value: ownNatsUrl(options.dataDir, child.port) },
    storing: { value: storing },
    stop: {
      value: async () => {
        await storing.stop();
        await stop();
      },
    },
  });
}

/** The command line of a nats-server with the given configuration file and store folder. */
export function natsArgs(at: { config: string; host: string; port: number; store: string }): string[] {
  return ['-c', at.config, '-a', at.host, '-p', String(at.port), '-sd', at.store];
}

/** The text of `nats.conf`, without the sync of every write unless that is wanted. */
export function natsConfigText(storeSync: StoreSync): string {
  const text = readFileSync(join(projectDir, 'nats.conf'), 'utf8');
  return storeSync === 'always' ? text : text.replace(/^\s*sync_interval:.*$/m, '');
}

/** Whether a nats-server greets on the port; it does so once its streams are recovered. */
export function natsAnswers(port: number): Promise<boolean> {
  return answers({ port }, '', /^INFO \{/);
}
