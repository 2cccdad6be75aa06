import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Binary, findNatsServer, projectDir } from '../../src/servers/binaries.js';
import { natsAnswers, natsArgs, natsConfigText, type StoreSync } from '../../src/servers/nats-server.js';
import { freePort } from './ports.js';
import { type ServerProcess, startServerProcess, type Teardown } from './server-process.js';

/** A real nats-server with JetStream; `start` after `kill` finds the same port and store. */
export interface TestNats extends ServerProcess {
  readonly url: string;
}

/** A configuration in a folder. It is production's, but requires no credentials. */
export function natsConfigFile(dir: string, sync: StoreSync): string {
  const file = join(dir, 'nats.conf');
  writeFileSync(file, natsConfigText(sync));
  return file;
}

/** Whether a nats-server stores messages together. */
export function storesGroups({ version }: Binary): boolean {
  return Number(/ v2\.(\d+)/.exec(version)?.[1]) >= 12;
}

/**
 * A nats-server that stores messages together, if `scripts/setup` could fetch it or the one that is found
 * does.
 */
export function newNatsServer(): Binary | undefined {
  return [fetched('nats-server'), findNatsServer()].find((one) => one && storesGroups(one));
}

/** A nats-server that does not, if `scripts/setup --dev` could fetch it or the one that is found does not. */
export function oldNatsServer(): Binary | undefined {
  return [fetched('nats-server-old'), findNatsServer()].find((one) => one && !storesGroups(one));
}

function fetched(folder: string): Binary | undefined {
  const path = join(projectDir, '.tools', folder, 'usr/sbin/nats-server');
  return existsSync(path) ? findNatsServer([path]) : undefined;
}

/**
 * Starts a nats-server for one test. `sync: 'always'` is what production does, the default is quicker.
 * `store` is where it stores, if not in its own folder. `program` is by default the one that is found.
 */
export async function startNats(
  t: Teardown,
  options: { sync?: StoreSync; store?: string; program?: Binary } = {},
): Promise<TestNats> {
  const server = await startServerProcess(t, {
    name: 'nats',
    command: (options.program ?? findNatsServer()).path,
    choosePort: freePort,
    args: (dir, port) =>
      natsArgs({
        config: natsConfigFile(dir, options.sync ?? 'default'),
        host: '127.0.0.1',
        port,
        store: options.store ?? join(dir, 'store'),
      }),
    answers: natsAnswers,
  });
  return Object.defineProperty(server as TestNats, 'url', { value: `nats://127.0.0.1:${server.port}` });
}
