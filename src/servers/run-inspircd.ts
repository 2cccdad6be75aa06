import { resolve } from 'node:path';
import { pino } from 'pino';
import { keptNicks } from '../config/bot-nicks.js';
import { readConfig } from '../config/config.js';
import { lockDataDir } from './data-dir-lock.js';
import { startInspircd } from './inspircd.js';
import { ircSecrets } from './own-network.js';
import { loadSecrets } from './secrets.js';

// The IRC server alone, in the foreground, for a container of its own: the configuration of `npm start`
// with the address and credentials of the environment.
const config = readConfig();
const log = pino({ level: config.LOG_LEVEL });
const dataDir = resolve(config.DATA_DIR);
const unlock = await lockDataDir(dataDir);
const generated = await loadSecrets(dataDir);
const server = await startInspircd({
  dataDir,
  host: config.HOST,
  port: config.IRC_EMBEDDED_PORT,
  log,
  reservedNicks: keptNicks(config),
  fixedChannels: config.IRC_CHANNELS,
  secrets: ircSecrets(config, generated),
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    await server.stop();
    await unlock();
  });
}
