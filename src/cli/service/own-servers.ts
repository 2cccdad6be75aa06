import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ownNatsUrl } from '../../servers/nats-credentials.js';
import { isAlive } from '../../servers/process.js';

const records = { nats: 'nats-server.json', irc: 'inspircd.json' };
const Run = z.object({ pid: z.int(), startTime: z.string(), port: z.int() });

/** Port of a server that the service has started on a data directory; `undefined` when it does not run. */
export function ownServerPort(dataDir: string, kind: keyof typeof records): number | undefined {
  let text: string;
  try {
    text = readFileSync(join(dataDir, kind, records[kind]), 'utf8');
  } catch {
    return undefined; // it has never run here, or was stopped in good order
  }
  const run = Run.safeParse(JSON.parse(text));
  return run.success && isAlive(run.data) ? run.data.port : undefined;
}

/** Address and credentials of the nats-server that the service has started on a data directory, while it runs. */
export function ownLogUrl(dataDir: string): string | undefined {
  const port = ownServerPort(dataDir, 'nats');
  return port === undefined ? undefined : ownNatsUrl(dataDir, port);
}
