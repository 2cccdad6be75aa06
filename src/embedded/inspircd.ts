import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import type { ServicesLink } from './anope-config.js';
import { findInspircd } from './binaries.js';
import { superviseChild } from './child.js';
import { type InspircdSecrets, inspircdConfig, installationOf, motd } from './inspircd-config.js';
import type { EmbeddedServer } from './nats-server.js';
import { answers } from './net.js';

/**
 * Runs an InspIRCd, its files under `<dataDir>/irc`; one that a killed service left running there with the
 * same configuration is adopted. It answers once its port is open; a client is registered up to 1 s later.
 */
export async function startInspircd(options: {
  dataDir: string;
  port: number;
  log: Logger;
  secrets: InspircdSecrets;
  /** Nicks that are kept for the bots while they are away. */
  reservedNicks?: readonly string[];
  /** Where services are to be linked, if they are. */
  services?: ServicesLink | undefined;
  host?: string;
}): Promise<EmbeddedServer> {
  const binary = findInspircd();
  const host = options.host ?? '127.0.0.1';
  const dir = resolve(options.dataDir, 'irc');
  const config = join(dir, 'inspircd.conf');
  const { secrets, reservedNicks = [], services } = options;
  const installation = installationOf(binary);
  const textFor = (port: number) =>
    inspircdConfig({ dir, host, port, secrets, installation, reservedNicks, services });
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const child = await superviseChild({
    name: 'inspircd',
    dir,
    host,
    port: options.port,
    command: binary.path,
    args: (port) => {
      writeInspircdFiles(dir, textFor(port));
      return inspircdArgs(config);
    },
    ownArgument: config,
    fingerprint: createHash('sha256')
      .update(`${binary.version}\n${textFor(options.port)}`)
      .digest('hex'),
    answers: (port) => inspircdAnswers(port, host),
    failure: inspircdFailure,
    startTimeoutMs: 15_000,
    stopGraceMs: 5_000,
    log: options.log,
  });
  return Object.defineProperty(child as EmbeddedServer, 'url', { value: `irc://${host}:${child.port}` });
}

/** What InspIRCd prints when it runs without the port it was told to open. */
export const inspircdFailure = /failed to bind/;

/** Writes the configuration (it holds secrets: mode 0600) and the message of the day; returns the former's path. */
export function writeInspircdFiles(dir: string, text: string): string {
  const config = join(dir, 'inspircd.conf');
  writeFileSync(config, text, { mode: 0o600 });
  writeFileSync(join(dir, 'motd.txt'), motd);
  return config;
}

/** The command line of an InspIRCd in the foreground; `--runasroot` does nothing for other users. */
export function inspircdArgs(config: string): string[] {
  return ['--runasroot', '--nofork', '--nopid', '--config', config];
}

/** Whether an IRC server with capabilities answers on the port. */
export function inspircdAnswers(port: number, host?: string): Promise<boolean> {
  return answers({ port, ...(host && { host }) }, 'CAP LS 302\r\n', / CAP \* LS /);
}
