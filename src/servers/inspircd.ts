import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServicesLink } from './anope-config.js';
import { findInspircd } from './binaries.js';
import { superviseChild } from './child.js';
import { type InspircdSecrets, inspircdConfig, installationOf, motd } from './inspircd-config.js';
import type { EmbeddedServer } from './nats-server.js';
import { answers, isFree } from './net.js';
import { writePrivateFile } from './private-file.js';
import { isAlive, type ProcessIdentity } from './process.js';

const portPollMs = 1_000;

/**
 * Runs an InspIRCd, with its files under `<dataDir>/irc`. If a killed service left one running there with the
 * same configuration, it is adopted. It answers once its port is open; a client is registered up to 1 s
 * later.
 */
export async function startInspircd(options: {
  dataDir: string;
  port: number;
  log: Logger;
  secrets: InspircdSecrets;
  /** Nicks that are reserved for the bots while they are away. */
  reservedNicks?: readonly string[];
  /** Channels that are there from the start, besides the usual ones. */
  fixedChannels?: readonly string[];
  /** Where services can link, if they should. */
  services?: ServicesLink | undefined;
  host?: string;
}): Promise<EmbeddedServer> {
  const binary = findInspircd();
  const host = options.host ?? '127.0.0.1';
  const dir = resolve(options.dataDir, 'irc');
  const config = join(dir, 'inspircd.conf');
  const { secrets, reservedNicks = [], fixedChannels = [], services } = options;
  const installation = installationOf(binary);
  const textFor = (port: number) =>
    inspircdConfig({ dir, host, port, secrets, installation, reservedNicks, fixedChannels, services });
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
    failed: couldNotBind,
    started: (output, run) => {
      if (!services || !couldNotBind(output, services.port)) return;
      openLater(run, services.port, options.log).catch((error) =>
        options.log.warn({ err: error }, 'the port for the nick service stays closed until the next start'),
      );
    },
    logs: ['ircd.log'],
    startTimeoutMs: 15_000,
    stopGraceMs: 5_000,
    log: options.log,
  });
  return Object.defineProperty(child as EmbeddedServer, 'url', { value: `irc://${host}:${child.port}` });
}

/** Whether InspIRCd reports that it runs without one of its ports. */
function couldNotBind(output: string, port: number): boolean {
  return new RegExp(`failed to bind[^]*:${port}: `).test(output);
}

/** The network works without its services. A server that runs without their port opens it once it is free. */
async function openLater(run: ProcessIdentity, port: number, log: Logger): Promise<void> {
  const about = { server: 'inspircd', serverPid: run.pid, port };
  log.warn(about, 'another program has the port for the nick service: nobody can identify until it is free');
  while (isAlive(run)) {
    if (await isFree(port)) {
      process.kill(run.pid, 'SIGHUP'); // makes it read its configuration again and open the missing ports
      log.info(about, 'the port for the nick service is free again');
      return;
    }
    await sleep(portPollMs, undefined, { ref: false });
  }
}

/**
 * Writes the configuration (it holds secrets: mode 0600) and the message of the day. Returns the path of the
 * configuration.
 */
export function writeInspircdFiles(dir: string, text: string): string {
  const config = join(dir, 'inspircd.conf');
  writePrivateFile(config, text);
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
