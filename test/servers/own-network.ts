import pino, { type Logger } from 'pino';
import { readConfig } from '../../src/config/config.js';
import type { Binary } from '../../src/servers/binaries.js';
import { startOwnNetwork } from '../../src/servers/own-network.js';
import { loadSecrets } from '../../src/servers/secrets.js';

/** The network of a service on a data directory, on any free port. */
export async function ownNetwork(
  dataDir: string,
  over: { anope?: () => Binary; log?: Logger; registerAfter?: string } = {},
) {
  const { registerAfter = '0', ...rest } = over;
  const config = readConfig({
    DATA_DIR: dataDir,
    IRC_EMBEDDED_PORT: '0',
    NICK_REGISTER_AFTER_SECONDS: registerAfter,
  });
  const generated = await loadSecrets(dataDir);
  const network = await startOwnNetwork({
    config,
    dataDir,
    generated,
    log: pino({ level: 'silent' }),
    ...rest,
  });
  return { ...network, generated, port: Number(new URL(network.url).port) };
}
