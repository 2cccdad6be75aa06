import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pino } from 'pino';
import { createApp } from '../app.js';
import { environment } from '../config.js';
import { freePort, isFree } from '../embedded/net.js';
import { ServiceClient, serviceOf } from './client.js';
import { Failed, type Invocation } from './command.js';
import { webhookSecret } from './emit.js';
import { ownServerPort } from './own-servers.js';

/** A service that the demo plays on. */
export interface Stage {
  service: ServiceClient;
  /** What events are signed with. */
  secret: string;
  /** `irc://host:port` of its network. */
  irc: string;
  /** Whether it was started for the demo. */
  own: boolean;
  /** Ends what was started for the demo and removes its files. */
  close(): Promise<void>;
}

const usualIrcPort = 6667;

/** The service that runs, if one does; else one of our own. */
export async function openStage(invocation: Invocation): Promise<Stage> {
  const { options, stop, config } = invocation;
  if (options.has('own') || config().PORT === 0) return await startOwn(stop);
  const service = serviceOf(invocation);
  try {
    await service.ask('GET', '/health');
  } catch (error) {
    if (!(error instanceof Failed) || error.code === 'interrupted') throw error;
    return await startOwn(stop);
  }
  const { IRC_URL, IRC_EMBEDDED_PORT, DATA_DIR } = config();
  const port = ownServerPort(resolve(DATA_DIR), 'irc') ?? IRC_EMBEDDED_PORT;
  const irc = IRC_URL || `irc://127.0.0.1:${port}`;
  return { service, secret: webhookSecret(config()), irc, own: false, close: async () => {} };
}

/** The settings are the defaults, not the configured ones: a demo must not touch what is in use. */
async function startOwn(stop: AbortSignal): Promise<Stage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'relay-demo-'));
  const remove = () => rm(dataDir, { recursive: true, force: true });
  try {
    const ircPort = (await isFree(usualIrcPort)) ? usualIrcPort : await freePort();
    const settings = { DATA_DIR: dataDir, PORT: '0', IRC_EMBEDDED_PORT: String(ircPort) };
    const app = await createApp(environment.parse(settings), pino({ level: 'silent' }));
    return {
      service: new ServiceClient({ url: app.address!, stop }),
      secret: app.webhookSecrets[0]!,
      irc: app.places.irc,
      own: true,
      close: async () => {
        await app.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw new Failed(`the demo's own service did not start: ${(error as Error).message}`, 'start_failed');
  }
}
