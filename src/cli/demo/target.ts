import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pino } from 'pino';
import { createApp } from '../../app/app.js';
import { type Config, readConfig } from '../../config/config.js';
import { isPublic } from '../../config/warnings.js';
import { freePort, isFree } from '../../servers/net.js';
import { isAgreed } from '../core/agreement.js';
import type { Invocation } from '../core/command.js';
import { Failed, UsageError } from '../core/failure.js';
import { type Signing, signingOf } from '../events/emit.js';
import { askAbout, ServiceClient, serviceOf } from '../service/client.js';
import { ownServerPort } from '../service/own-servers.js';
import { type DemoPayments, type NoPayments, openDemoPayments } from './payments-setup.js';

/** A service that the demo plays on. */
export interface DemoTarget {
  service: ServiceClient;
  /** How events are signed. */
  signing: Signing;
  /** `irc://host:port` of its network. */
  irc: string;
  /** Whether it was started for the demo. */
  own: boolean;
  /** Where payments can be made that are nobody's money, or why there are none; only where it was started for the demo. */
  payments?: DemoPayments | NoPayments;
  /** Ends what was started for the demo and removes its files. */
  close(): Promise<void>;
}

/** The service that runs, if one does; else one of our own. Asks first where others may use the one that runs. */
export async function openTarget(
  invocation: Invocation<{ own: boolean; yes: boolean }>,
): Promise<DemoTarget> {
  const { options, stop, config } = invocation;
  const settings = config();
  if (options.own || settings.PORT === 0) return await startOwn(settings, stop);
  const service = serviceOf(invocation);
  try {
    await service.api.get('/health');
  } catch (error) {
    if (!(error instanceof Failed) || error.code === 'interrupted') throw error;
    return await startOwn(settings, stop);
  }
  const about = await askAbout(service).catch(() => undefined);
  // a service that wants a key for this has keys
  if (!options.yes && (about === undefined || isInUse(settings))) await agreeOn(service, invocation);
  const irc = about?.irc || configuredIrc(settings);
  return { service, signing: await signingOf(settings), irc, own: false, close: async () => {} };
}

/** Whether others than who tries the service out may use it: they reach it, have keys, or are on its servers. */
function isInUse(settings: Config): boolean {
  const hasKeys = settings.API_KEYS.length > 0 || settings.API_KEYS_FILE !== '';
  return isPublic(settings) || hasKeys || settings.NATS_URL !== '' || settings.IRC_URL !== '';
}

async function agreeOn({ url }: ServiceClient, invocation: Invocation): Promise<void> {
  const what = `the service at ${url} is not for this machine alone`;
  if (!invocation.terminal.ask)
    throw new UsageError(
      `${what}, and nobody can be asked here: say --yes to play there, or --own to play on a service of the demo's own`,
    );
  invocation.terminal.err(`${what}: events and ratings of the demo stay there for ever`);
  if (!(await isAgreed(invocation, 'Play there?'))) throw new Failed('nothing was done', 'not_agreed');
}

/** Where a service that does not say it should have its network. */
function configuredIrc({ DATA_DIR, IRC_EMBEDDED_PORT, IRC_URL }: Config): string {
  const port = ownServerPort(resolve(DATA_DIR), 'irc') ?? IRC_EMBEDDED_PORT;
  return IRC_URL || `irc://127.0.0.1:${port}`;
}

/**
 * The settings are the defaults, not the configured ones: a demo must not touch what is in use. Only the IRC port
 * is the configured one where it is free, because people point their clients at it.
 */
async function startOwn({ IRC_EMBEDDED_PORT }: Config, stop: AbortSignal): Promise<DemoTarget> {
  const dataDir = await mkdtemp(join(tmpdir(), 'relay-demo-'));
  let payments: DemoPayments | NoPayments | undefined;
  const remove = async () => {
    if (payments && 'close' in payments) await payments.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    payments = await openDemoPayments(dataDir);
    const isOpen = IRC_EMBEDDED_PORT !== 0 && (await isFree(IRC_EMBEDDED_PORT).catch(() => false));
    const ircPort = isOpen ? IRC_EMBEDDED_PORT : await freePort();
    const paid = 'settings' in payments ? payments.settings : {};
    const settings = {
      DATA_DIR: dataDir,
      PORT: '0',
      IRC_EMBEDDED_PORT: String(ircPort),
      // nobody else is there, and nobody likes to wait
      NICK_REGISTER_AFTER_SECONDS: '0',
      ...paid,
    };
    const app = await createApp(readConfig(settings), pino({ level: 'silent' }));
    return {
      service: new ServiceClient({ url: app.address!, stop }),
      signing: { secret: app.webhookSecrets[0]!, schemes: ['body'] },
      irc: app.places.irc,
      own: true,
      payments,
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
