import { join } from 'node:path';
import { findNatsServer } from '../../src/servers/binaries.js';
import { natsAnswers, natsArgs } from '../../src/servers/nats-server.js';
import { natsConfigFile } from './nats.js';
import { freePort } from './ports.js';
import { type ServerProcess, startServerProcess, type Teardown } from './server-process.js';

/** Three nats-servers that keep each stream on all of them. */
export interface TestNatsCluster {
  /** For clients: all of them, comma-separated. */
  readonly url: string;
  readonly nodes: ServerProcess[];
}

const size = 3;

/** Starts a cluster of three with the configuration that is used in production. */
export async function startNatsCluster(t: Teardown): Promise<TestNatsCluster> {
  const routes = await Promise.all(
    Array.from({ length: size }, async () => `nats://127.0.0.1:${await freePort()}`),
  );
  const starting = routes.map((route, index) =>
    startServerProcess(t, {
      name: `nats-${index + 1}`,
      command: findNatsServer().path,
      choosePort: freePort,
      args: (dir, port) => [
        ...natsArgs({
          config: natsConfigFile(dir, 'always'),
          host: '127.0.0.1',
          port,
          store: join(dir, 'store'),
        }),
        ...['--server_name', `nats-${index + 1}`, '--cluster_name', 'relay'],
        ...['--cluster', route, '--routes', routes.join(',')],
      ],
      answers: natsAnswers,
    }),
  );
  const nodes = await Promise.all(starting);
  return { url: nodes.map(({ port }) => `nats://127.0.0.1:${port}`).join(','), nodes };
}
