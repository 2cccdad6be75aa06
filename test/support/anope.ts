import { anopeArgs, nickServiceAnswers, writeAnopeFiles } from '../../src/servers/anope.js';
import { anopeConfig, servicesOfInspircd } from '../../src/servers/anope-config.js';
import { findInspircd } from '../../src/servers/binaries.js';
import { installationOf } from '../../src/servers/inspircd-config.js';
import { lookForAnope } from '../../src/servers/own-network.js';
import type { Observer } from './irc-observer.js';
import { startIrcd, type TestIrcd, type TestIrcdOptions } from './ircd.js';
import { freePort } from './ports.js';
import { type ServerProcess, startServerProcess, type Teardown } from './server-process.js';

const found = lookForAnope();

/** Why tests with services have to be left out, or `false`. `scripts/setup` fetches Anope where the distribution has it. */
export const withoutAnope =
  'without' in found && `anope, which gives nicks their accounts, cannot be run: ${found.without}`;

/** A network with a nick service: users register with it and identify to it. */
export interface AccountNetwork {
  ircd: TestIrcd;
  /** The services' process; its accounts are there again after an end in good order and `start`. */
  services: ServerProcess;
  /** Registers the nick of a user, who is identified with it then. */
  register(user: Observer, password: string): Promise<void>;
  /** Identifies a user with an account, and waits until the network knows. */
  identify(user: Observer, account: string, password: string): Promise<void>;
}

/** Starts an InspIRCd and, linked to it, the nick service that `npm start` has. Takes some seconds: Anope dwells on its start where it is root. */
export async function startAccountNetwork(
  t: Teardown,
  options: Pick<TestIrcdOptions, 'reservedNicks'> = {},
): Promise<AccountNetwork> {
  if ('without' in found) throw new Error(found.without);
  const { binary } = found;
  const link = { port: await freePort(), password: 'link-password' };
  const extraConfig = servicesOfInspircd(link, installationOf(findInspircd()));
  const ircd = await startIrcd(t, { ...options, extraConfig });
  const services = await startServerProcess(t, {
    name: 'anope',
    command: binary.path,
    choosePort: async () => link.port,
    args: (dir) => {
      // people pause between two registrations, tests do not
      writeAnopeFiles(dir, anopeConfig(link, dir, { registerAfterSeconds: 0 }));
      return anopeArgs(dir, binary);
    },
    answers: () => nickServiceAnswers({ port: ircd.port, password: ircd.serverPassword }),
  });
  return { ircd, services, register, identify };
}

/** Registers the nick of a user and waits until the server says that the user is logged in and the nick is theirs. */
export async function register(user: Observer, password: string): Promise<void> {
  const from = user.raw.length;
  await untilAccount(user, user.nick, `REGISTER ${password}`);
  // it comes last: a nick taken before it would be given it
  await user.waitUntil(() => user.raw.slice(from).some((line) => / MODE \S+ :?\+r/.test(line)));
}

/** Identifies a user with an account and waits until the server says so. */
export function identify(user: Observer, account: string, password: string): Promise<void> {
  return untilAccount(user, account, `IDENTIFY ${account} ${password}`);
}

/** Gives a command to the nick service and waits until the server says that the user is logged in (900). */
async function untilAccount(user: Observer, account: string, command: string): Promise<void> {
  const from = user.raw.length;
  user.send(`PRIVMSG NickServ :${command}`);
  const isLoggedIn = (line: string) => / 900 /.test(line) && line.includes(` ${account} `);
  await user.waitUntil(() => user.raw.slice(from).some(isLoggedIn), `${command.split(' ')[0]}`);
}
