import { resolve } from 'node:path';
import { pino } from 'pino';
import { readConfig } from '../config/config.js';
import { lockDataDir } from './data-dir-lock.js';
import { startOwnNetwork } from './own-network.js';
import { loadSecrets } from './secrets.js';

// The IRC server and the nick service alone, in the foreground, for a container of their own: the configuration of
// `npm start` with the address and credentials of the environment.
const config = readConfig();
const log = pino({ level: config.LOG_LEVEL });
const dataDir = resolve(config.DATA_DIR);
const unlock = await lockDataDir(dataDir);
const generated = await loadSecrets(dataDir);
const network = await startOwnNetwork({ config, dataDir, generated, log, host: config.HOST });

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    await network.stop();
    await unlock();
  });
}
