import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pino } from 'pino';
import type { Config } from '../../config/config.js';
import { lockDataDir } from '../../servers/data-dir-lock.js';
import { startNatsServer } from '../../servers/nats-server.js';
import { Failed } from '../core/failure.js';
import { ownLogUrl } from '../service/own-servers.js';

/**
 * Lends the address of the log server: NATS_URL, else the one on the data directory, which is started for as long
 * as it takes where the service does not run. `alone`: the service must not run on it.
 */
export async function withLogServer<T>(
  config: Config,
  options: { alone: boolean },
  work: (url: string) => Promise<T>,
): Promise<T> {
  if (config.NATS_URL) return await work(config.NATS_URL);
  const dataDir = resolve(config.DATA_DIR);
  const url = ownLogUrl(dataDir);
  if (url !== undefined && !options.alone) return await work(url);
  if (!options.alone && !existsSync(join(dataDir, 'nats', 'store'))) {
    const hint = 'Set NATS_URL, or DATA_DIR to where the service has run.';
    throw new Failed(`there is no event log in ${dataDir}`, 'no_log', hint);
  }
  const unlock = await lockDataDir(dataDir).catch((error: Error) => {
    throw new Failed(error.message, 'data_dir_in_use', 'Stop the service first.');
  });
  try {
    const server = await startNatsServer({ dataDir, log: pino({ level: 'silent' }) });
    try {
      return await work(server.url);
    } finally {
      await server.stop();
    }
  } finally {
    await unlock();
  }
}
