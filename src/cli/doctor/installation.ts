import { join, resolve } from 'node:path';
import type { Log } from '../../../streams/core/index.js';
import type { About } from '../../app/about.js';
import type { Config } from '../../config/config.js';
import { type Binary, findAnope, findInspircd, findNatsServer } from '../../servers/binaries.js';
import { storedSecrets } from '../../servers/secrets.js';
import type { Failed } from '../core/failure.js';
import { openLogReader } from '../log/open.js';
import { askAbout, type ServiceClient } from '../service/client.js';
import { ownServerPort } from '../service/own-servers.js';

/** The running service, as it answers at its address. */
export type ServiceState =
  | { is: 'running'; ready: boolean; reason: string | undefined; about: About | undefined; problem: string }
  /** Nothing listens there. */
  | { is: 'absent'; problem: string }
  /** Something else listens there, or it does not answer. */
  | { is: 'stranger'; problem: string }
  /** Clients that follow the fetch standard refuse this port, whatever listens there. */
  | { is: 'blocked'; problem: string };

/** Within this time the process of a bot reports what its connection became. */
export const reportedMs = 3_000;

/** What checks look at. What several of them need is requested once. */
export interface Installation {
  config: Config;
  dataDir: string;
  /** Which servers the service runs itself. */
  own: { nats: boolean; sql: boolean; irc: boolean };
  nodeVersion: string;
  /** Complaints about names in the environment that are not settings. */
  unknownNames(): string[];
  findNatsServer(): Binary;
  findInspircd(): Binary;
  findAnope(): Binary;
  now(): number;
  /** Where a given log server may show its state over HTTP. */
  monitorPort: number;
  /** A certificate authority to trust on IRC besides the well-known ones, PEM. */
  ca: string | undefined;
  client: ServiceClient;
  service(): Promise<ServiceState>;
  /** The log, for reading. Rejects with `Failed` if it cannot be opened. */
  log(): Promise<Log>;
  /** Address of the IRC server; `undefined` if our own does not run. */
  ircUrl: string | undefined;
  secrets(): Promise<KnownSecrets>;
  /** Closes what was opened. */
  close(): Promise<void>;
}

/** The secrets that the service would use, from its settings or generated; empty if there are none. */
export interface KnownSecrets {
  webhook: string[];
  /**
   * When the webhook secret was replaced because it had been lost, in ISO 8601; `undefined` if it is not
   * used.
   */
  webhookRemadeAt: string | undefined;
  ircOper: { name: string; password: string } | undefined;
  ircServerPassword: string;
}

/** The port where nats-server listens for browsers by default. */
const usualMonitorPort = 8222;

/** Builds what checks look at; parts can be replaced. */
export function openInstallation(
  config: Config,
  client: ServiceClient,
  over: Partial<Installation> = {},
): Installation {
  const dataDir = resolve(config.DATA_DIR);
  const own = { nats: config.NATS_URL === '', sql: config.DATABASE_URL === '', irc: config.IRC_URL === '' };
  const ircPort = ownServerPort(dataDir, 'irc');
  let log: Promise<Log> | undefined;
  let service: Promise<ServiceState> | undefined;
  return {
    config,
    dataDir,
    own,
    nodeVersion: process.versions.node,
    unknownNames: () => [],
    findNatsServer,
    findInspircd,
    findAnope,
    now: Date.now,
    monitorPort: usualMonitorPort,
    ca: undefined,
    client,
    service: () => {
      service ??= askService(client);
      return service;
    },
    log: () => {
      log ??= openLogReader(config);
      return log;
    },
    ircUrl: own.irc ? (ircPort === undefined ? undefined : `irc://127.0.0.1:${ircPort}`) : config.IRC_URL,
    secrets: () => knownSecrets(config, dataDir, own),
    close: async () => {
      await log?.then((opened) => opened.close()).catch(() => {});
    },
    ...over,
  };
}

/** Where the embedded read store lies. */
export function storeDirectory({ dataDir }: Installation): string {
  return join(dataDir, 'pg');
}

async function askService(client: ServiceClient): Promise<ServiceState> {
  let answer: { status: number; body: unknown };
  try {
    answer = await client.send('GET', '/ready');
  } catch (error) {
    const { code, message: problem } = error as Failed;
    if (code === 'port_blocked') return { is: 'blocked', problem };
    return { is: code === 'service_not_running' ? 'absent' : 'stranger', problem };
  }
  const { ready, error: reason } = (answer.body ?? {}) as { ready?: unknown; error?: string };
  if (typeof ready !== 'boolean')
    return { is: 'stranger', problem: `${client.url} answers, but not as this service does` };
  const told = await askAbout(client).catch((error: Failed) => error);
  const about = told instanceof Error ? undefined : told;
  return { is: 'running', ready, reason, about, problem: told instanceof Error ? told.message : '' };
}

async function knownSecrets(
  config: Config,
  dataDir: string,
  own: Installation['own'],
): Promise<KnownSecrets> {
  const stored = own.nats || own.sql || own.irc ? await storedSecrets(dataDir) : {};
  const isConfigured = config.EM_WEBHOOK_SECRET.length > 0;
  const webhook = own.nats && own.sql && own.irc && stored.webhookSecret ? [stored.webhookSecret] : [];
  const ofIrc = own.irc ? stored : {};
  const name = config.IRC_OPER_NAME || ofIrc.ircOperName;
  const password = config.IRC_OPER_PASSWORD || ofIrc.ircOperPassword;
  return {
    webhook: [
      ...(isConfigured ? config.EM_WEBHOOK_SECRET : webhook),
      ...config.EM_PRODUCERS.map(({ secret }) => secret),
    ],
    webhookRemadeAt: isConfigured || webhook.length === 0 ? undefined : stored.remadeAt,
    ircOper: name && password ? { name, password } : undefined,
    ircServerPassword: config.IRC_SERVER_PASSWORD || ofIrc.ircServerPassword || '',
  };
}
