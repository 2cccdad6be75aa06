import pino from 'pino';
import { Log } from '../../streams/core/index.js';
import { streams } from '../../streams/index.js';
import { DeliverToIrc } from '../../workers/delivery/index.js';
import { IrcConnection } from '../../workers/irc/connection.js';

/** A process with a delivery worker that is told to stop and must then end by itself. */
async function run(urls: string, url: string, password: string): Promise<void> {
  const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const limits = { maxRetries: 3, ttlMs: 3_600_000, retryMs: 60_000 };
  const log = await Log.open({
    urls,
    name: 'stopping',
    streams,
    replicas: 1,
    maxBytes: 1_000_000_000,
    logger,
  });
  const irc = new IrcConnection({ url, nick: 'em-bot', password, log: logger });
  const deliver = new DeliverToIrc({ log, irc, limits, logger });
  deliver.start();
  process.once('message', async () => {
    const began = performance.now();
    await deliver.stop();
    await log.close();
    process.send?.(performance.now() - began);
    process.disconnect();
  });
  process.send?.('started');
}

const [urls, url, password] = process.argv.slice(2);
if (urls && url && password) await run(urls, url, password);
