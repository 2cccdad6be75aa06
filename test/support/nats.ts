import { join } from 'node:path';
import { findNatsServer } from '../../src/servers/binaries.js';
import { natsAnswers, natsArgs, natsConfig, type StoreSync } from '../../src/servers/nats-server.js';
import { freePort } from '../../src/servers/net.js';
import { type ServerProcess, startServerProcess, type Teardown } from './server-process.js';

/** A real nats-server with JetStream; `start` after `kill` finds the same port and store. */
export interface TestNats extends ServerProcess {
  readonly url: string;
}

/**
 * Starts a nats-server for one test. `sync: 'always'` is what production does, the default is quicker; `store` is
 * where it stores, if not in its own folder.
 */
export async function startNats(
  t: Teardown,
  options: { sync?: StoreSync; store?: string } = {},
): Promise<TestNats> {
  const server = await startServerProcess(t, {
    name: 'nats',
    command: findNatsServer().path,
    choosePort: freePort,
    args: (dir, port) =>
      natsArgs({
        config: natsConfig(dir, options.sync ?? 'default'),
        host: '127.0.0.1',
        port,
        store: options.store ?? join(dir, 'store'),
      }),
    answers: natsAnswers,
  });
  return Object.defineProperty(server as TestNats, 'url', { value: `nats://127.0.0.1:${server.port}` });
}
