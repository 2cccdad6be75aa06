import { randomUUID } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { openSql } from '../../projections/core/open-sql.js';
import type { Sql } from '../../projections/core/sql.js';
import type { Config } from '../config/config.js';
import { needsOwnKey } from '../config/warnings.js';
import { lockDataDir } from '../servers/data-dir-lock.js';
import { type OwnNatsServer, startNatsServer } from '../servers/nats-server.js';
import { isFree } from '../servers/net.js';
import { startOwnNetwork } from '../servers/own-network.js';
import { loadOperatorKey, loadSecrets, type Secrets, secretsFile } from '../servers/secrets.js';

/** A part that was opened, and how to close it. */
export interface Closing {
  name: string;
  close: () => Promise<unknown>;
}

/** The servers around the service, our own or given ones, and the secrets that go with them. */
export interface Dependencies {
  natsUrl: string;
  /** Whether our own nats-server can store; absent for another server. */
  storing: OwnNatsServer['storing'] | undefined;
  /** Disk budget of all streams, in bytes. */
  streamsMaxBytes: number;
  ircUrl: string;
  /** Whether our own IRC network has a nick service, also one that is away now; false for another network. */
  hasNickService: boolean;
  /**
   * Identity of this process among those that share leases. It is the same after a restart if nobody else can
   * have it.
   */
  holder: string;
  sql: Sql;
  /** Where the read models are stored, without credentials. */
  sqlPlace: string;
  secrets: {
    /** An operator's key. It was made because none is set and others can reach the service. */
    apiKey?: string | undefined;
    webhook: string[];
    ircServerPassword: string;
    /**
     * The gateway's password at the IRC server; without it there is no gateway. The gateway speaks for
     * agents.
     */
    ircGatewayPassword?: string | undefined;
    ircOper: { name: string; password: string } | undefined;
  };
}

/**
 * Starts all servers that no address is given for, in parallel, and registers in `closing` how to end each.
 * Resolves when all of them are starting; `opened` resolves when they are up.
 */
export async function openDependencies(
  config: Config,
  logger: Logger,
  closing: Closing[],
): Promise<{ opened: Promise<Dependencies> }> {
  const dataDir = resolve(config.DATA_DIR);
  const own = { nats: config.NATS_URL === '', sql: config.DATABASE_URL === '', irc: config.IRC_URL === '' };
  const locked = own.nats || own.sql || (own.irc && config.ROLES.includes('irc'));
  if (locked) {
    const unlock = await lockDataDir(dataDir);
    closing.push({ name: 'data directory', close: unlock });
  }
  // before a server is started or a stream is touched: listening itself is one of the last steps
  if (config.PORT !== 0 && !(await isFree(config.PORT, config.HOST)))
    throw Object.assign(new Error('port in use'), { code: 'EADDRINUSE', syscall: 'listen' });
  const made = await loadMadeSecrets(config, logger, dataDir, own);

  const start = async <T>(
    name: string,
    opening: Promise<T>,
    close: (opened: T) => Promise<unknown>,
  ): Promise<T> => {
    const opened = await opening;
    closing.push({ name, close: () => close(opened) });
    return opened;
  };
  // in parallel; each registers its ending as soon as it is up, even if another one fails
  const nats = own.nats
    ? start('nats-server', startNatsServer({ dataDir, log: logger }), (server) => server.stop())
    : Promise.resolve({ url: config.NATS_URL, storing: undefined });
  const irc = made.irc
    ? start(
        'irc network',
        startOwnNetwork({ config, dataDir, generated: made.irc, log: logger }),
        (network) => network.stop(),
      )
    : Promise.resolve({ url: config.IRC_URL, nickService: undefined });
  const sql = start(
    'sql',
    openSql({ databaseUrl: config.DATABASE_URL, directory: join(dataDir, 'pg'), logger }),
    (opened) => opened.close(),
  );
  const settled = Promise.allSettled([nats, irc, sql]);

  const whenThere = async (): Promise<Dependencies> => {
    await settled;
    return {
      holder: locked ? `${hostname()}:${dataDir}` : randomUUID(),
      natsUrl: (await nats).url,
      storing: (await nats).storing,
      streamsMaxBytes: await streamsBudget(config),
      ircUrl: (await irc).url,
      hasNickService: (await irc).nickService !== undefined,
      sql: await sql,
      sqlPlace: own.sql ? join(dataDir, 'pg') : new URL(config.DATABASE_URL).host,
      secrets: secretsOf(config, made),
    };
  };
  const opened = whenThere();
  opened.catch(() => {}); // told to whoever waits for it
  return { opened };
}

/** Secrets that were made here because none are set. */
interface MadeSecrets {
  /** What a service has whose servers are all our own. */
  all: Secrets | undefined;
  /** What our own IRC network has. */
  irc: Secrets | undefined;
  operatorKey: string | undefined;
}

async function loadMadeSecrets(
  config: Config,
  logger: Logger,
  dataDir: string,
  own: { nats: boolean; sql: boolean; irc: boolean },
): Promise<MadeSecrets> {
  const warn = (text: string) => logger.warn(text);
  const all = own.nats && own.sql && own.irc ? await loadSecrets(dataDir, warn) : undefined;
  const irc =
    own.irc && config.ROLES.includes('irc') ? (all ?? (await loadSecrets(dataDir, warn))) : undefined;
  const operatorKey =
    config.ROLES.includes('api') && needsOwnKey(config) ? await loadOperatorKey(dataDir) : undefined;
  if (operatorKey !== undefined)
    logger.warn(
      { file: secretsFile(dataDir) },
      'API_KEYS is empty: the operator’s key is api_key in this file',
    );
  return { all, irc, operatorKey };
}

function secretsOf(config: Config, { all, irc, operatorKey }: MadeSecrets): Dependencies['secrets'] {
  const operName = config.IRC_OPER_NAME || irc?.ircOperName;
  const operPassword = config.IRC_OPER_PASSWORD || irc?.ircOperPassword;
  const { EM_WEBHOOK_SECRET: webhook } = config;
  return {
    apiKey: operatorKey,
    webhook: webhook.length === 0 && all ? [all.webhookSecret] : webhook,
    ircServerPassword: config.IRC_SERVER_PASSWORD || irc?.ircServerPassword || '',
    ircGatewayPassword: config.IRC_GATEWAY_PASSWORD || irc?.ircGatewayPassword,
    ircOper: operName && operPassword ? { name: operName, password: operPassword } : undefined,
  };
}

/** The usual bound of all streams together, in bytes. */
const usualBudget = 8_000_000_000;

/** The bound of all streams together when they are made, in bytes. */
export async function streamsBudget(
  config: Pick<Config, 'STREAMS_MAX_BYTES' | 'NATS_URL' | 'DATA_DIR'>,
): Promise<number> {
  const { STREAMS_MAX_BYTES: given, NATS_URL, DATA_DIR } = config;
  return given ?? (NATS_URL === '' ? await ownDiskBudget(resolve(DATA_DIR)) : usualBudget);
}

/** The usual budget, or on a small disk most of the free space: full streams refuse, full disks break. */
async function ownDiskBudget(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dataDir);
  return Math.min(usualBudget, Math.floor(bavail * bsize * 0.6));
}
