import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import {
  anopeConfig,
  anopeModulesDir,
  type NickServiceLimits,
  nickServiceNick,
  type ServicesLink,
} from './anope-config.js';
import type { Binary } from './binaries.js';
import { recordedRun } from './child.js';
import { freePort, isFree, probe } from './net.js';
import { type OptionalChild, superviseOptionalChild } from './optional-child.js';
import { writePrivateFile } from './private-file.js';

/**
 * Where the nick service checks that it is heard: the port for clients, and the connect password of the bots.
 */
export interface IrcEntrance {
  port: number;
  password: string;
}

/**
 * The password between InspIRCd and services, and a port for them: that of an InspIRCd that was left running,
 * else a free one.
 */
export async function chooseServicesLink(dataDir: string, password: string): Promise<ServicesLink> {
  const dir = resolve(dataDir, 'irc');
  const known = portOf(join(dir, 'inspircd.conf'));
  const isKept = known !== undefined && (recordedRun(dir, 'inspircd') !== undefined || (await isFree(known)));
  return { port: isKept ? known : await freePort(), password };
}

/**
 * Runs an Anope, with its files (the registered nicks among them) under `<dataDir>/nickserv`. If a killed
 * service left one running there with the same configuration, it is adopted. Returns at once: the network
 * works without it until it is up. It links itself again whenever the server was away.
 */
export function startAnope(options: {
  binary: Binary;
  dataDir: string;
  link: ServicesLink;
  limits: NickServiceLimits;
  irc: IrcEntrance;
  log: Logger;
}): OptionalChild {
  const { binary, link, limits, irc, log } = options;
  const dir = resolve(options.dataDir, 'nickserv');
  const text = anopeConfig(link, dir, limits);
  return superviseOptionalChild({
    name: 'anope',
    dir,
    host: '127.0.0.1',
    port: link.port,
    connects: true,
    command: binary.path,
    args: () => {
      writeAnopeFiles(dir, text);
      return anopeArgs(dir, binary);
    },
    ownArgument: confdir(dir),
    fingerprint: createHash('sha256').update(`${binary.version}\n${text}`).digest('hex'),
    answers: () => nickServiceAnswers(irc),
    // as root it waits 3 s at its start to say that it should not be
    startTimeoutMs: 20_000,
    stopGraceMs: 5_000,
    log,
  });
}

/** Makes the folders of an Anope and writes its configuration (it holds the link's password: mode 0600). */
export function writeAnopeFiles(dir: string, text: string): void {
  for (const name of ['conf', 'db/backups', 'logs'])
    mkdirSync(join(dir, name), { recursive: true, mode: 0o700 });
  writePrivateFile(join(dir, 'conf', 'services.conf'), text);
}

/** The command line of an Anope in the foreground, with its files in `dir`. */
export function anopeArgs(dir: string, binary: Binary): string[] {
  return [
    '--nofork',
    confdir(dir),
    `--dbdir=${join(dir, 'db')}`,
    `--logdir=${join(dir, 'logs')}`,
    `--modulesdir=${anopeModulesDir(binary)}`,
  ];
}

const confdir = (dir: string) => `--confdir=${join(dir, 'conf')}`;

/** Whether the nick service answers a client on the network, within `timeoutMs`. */
export function nickServiceAnswers({ port, password }: IrcEntrance, timeoutMs = 3_000): Promise<boolean> {
  const nick = `probe-${randomBytes(4).toString('hex')}`;
  return probe({ port }, timeoutMs, (socket, settle) => {
    let rest = '';
    socket.once('connect', () =>
      socket.write(`PASS :${password}\r\nNICK ${nick}\r\nUSER probe 0 * :looks for ${nickServiceNick}\r\n`),
    );
    socket.on('data', (bytes) => {
      const lines = (rest + bytes.toString('latin1')).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [from = '', command] = line.split(' ');
        if (from === 'PING') socket.write(`PONG ${command}\r\n`);
        // the end of the message of the day: the connection is registered now
        if (command === '376' || command === '422')
          socket.write(`PRIVMSG ${nickServiceNick} :STATUS ${nick}\r\n`);
        if (command === '401') settle(false);
        if (command === 'NOTICE' && from.startsWith(`:${nickServiceNick}!`)) settle(true);
      }
    });
  });
}

/** The port for servers that an InspIRCd's configuration names. */
function portOf(config: string): number | undefined {
  try {
    const port = /<bind [^>]*port="(\d+)" type="servers">/.exec(readFileSync(config, 'utf8'))?.[1];
    return port === undefined ? undefined : Number(port);
  } catch {
    return undefined; // there was no configuration yet
  }
}
