import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { answers } from '../../src/servers/net.js';
import { freePort } from './ports.js';
import { type ServerProcess, startServerProcess, type Teardown } from './server-process.js';

const places = ['ngircd', '/usr/sbin/ngircd', resolve('.tools/ngircd/usr/sbin/ngircd')];
/** The one library it needs that not every machine has. */
const libraries = resolve('.tools/libident/usr/lib');
const libraryPath = existsSync(libraries) ? readdirSync(libraries).map((dir) => join(libraries, dir)) : [];
/** Run through env, which becomes the program: its pid is the server's. */
const underEnv = (path: string) => [`LD_LIBRARY_PATH=${libraryPath.join(':')}`, path];
const program = places.find((path) => spawnSync('env', [...underEnv(path), '--version']).status === 0);

/** Why tests with ngIRCd have to be left out, or `false`. `scripts/setup --dev` fetches it where the distribution has it. */
export const withoutNgircd =
  program === undefined && 'ngircd, a server without capabilities, could not be installed';

/** The operator of every test server. */
export const ngircdOper = { name: 'chanbot', password: 'oper-password' };

const config = (port: number) => `
[Global]
Name = irc.degraded
Info = a server without capabilities
Listen = 127.0.0.1
Ports = ${port}
ServerUID = ${process.getuid?.() ?? 0}
ServerGID = ${process.getgid?.() ?? 0}
MotdPhrase = plain
[Limits]
MaxConnectionsIP = 0
MaxNickLength = 30
MaxJoins = 0
MaxPenaltyTime = 1
[Options]
DNS = no
Ident = no
PAM = no
[Operator]
Name = ${ngircdOper.name}
Password = ${ngircdOper.password}
`;

/** Starts an ngIRCd for one test: a real server that knows none of the capabilities we would like to have. */
export async function startNgircd(t: Teardown): Promise<ServerProcess & { url: string }> {
  const server = await startServerProcess(t, {
    name: 'ngircd',
    command: 'env',
    choosePort: freePort,
    args: (dir, port) => {
      const file = join(dir, 'ngircd.conf');
      writeFileSync(file, config(port));
      return [...underEnv(program!), '--nodaemon', '--config', file];
    },
    answers: (port) => answers({ port }, 'PING :there\r\n', /^/),
  });
  return Object.assign(server, { url: `irc://127.0.0.1:${server.port}` });
}
