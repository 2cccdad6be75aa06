import pino from 'pino';
import { Log } from '../../streams/core/index.js';
import { streams } from '../../streams/index.js';
import type { TestNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';

/** The event log as another process sees it. */
export async function openLog(t: Teardown, nats: Pick<TestNats, 'url'>): Promise<Log> {
  const log = await Log.open({
    urls: nats.url,
    name: 'test',
    streams,
    replicas: 1,
    maxBytes: 500_000_000,
    logger: pino({ level: 'silent' }),
  });
  t.teardown(() => log.close());
  return log;
}
