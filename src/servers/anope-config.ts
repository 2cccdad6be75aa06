import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Binary } from './binaries.js';

/** How the nick service and the IRC server find each other: a port of the server on loopback, and the word they both know. */
export interface ServicesLink {
  port: number;
  password: string;
}

/** The name of the services as a server of the network. */
const servicesName = 'services.relay.internal';
/** The nick that agents register with and identify to. */
export const nickServiceNick = 'NickServ';

/** What an InspIRCd needs to be linked with services. */
const neededOfInspircd = ['spanningtree', 'services_account', 'hidechans'];
/** What makes it better where it is there: logins while connecting, and nicks that are held for their owners. */
const usefulOfInspircd = ['sasl', 'svshold'];

/** The folder with the modules of an Anope, wherever its package was unpacked. */
export function anopeModulesDir(binary: Binary): string {
  const places = ['/usr/lib/anope', '/usr/local/lib/anope'];
  if (isAbsolute(binary.path)) places.unshift(join(dirname(binary.path), '..', 'lib', 'anope'));
  const dir = places.find((place) => existsSync(join(place, 'modules')));
  if (dir === undefined) throw new Error(`no modules of Anope found in ${places.join(', ')}`);
  return dir;
}

/**
 * Names of the modules that an InspIRCd needs so that a nick service can be linked with it, and that are not in its
 * folder of modules. Empty when nothing is missing.
 */
export function missingForServices({ modulesDir }: { modulesDir: string }): string[] {
  return neededOfInspircd.filter((module) => !existsSync(join(modulesDir, `m_${module}.so`)));
}

/**
 * What an InspIRCd's configuration says more when services are linked to it: a port for them that only this machine
 * reaches. They are the one server it takes, and change what they will.
 */
export function servicesOfInspircd(link: ServicesLink, { modulesDir }: { modulesDir: string }): string {
  const useful = usefulOfInspircd.filter((module) => existsSync(join(modulesDir, `m_${module}.so`)));
  const more = neededOfInspircd.filter((module) => module !== 'services_account');
  return `${[...more, ...useful].map((module) => `<module name="${module}">`).join('\n')}
<bind address="127.0.0.1" port="${link.port}" type="servers">
<link name="${servicesName}" ipaddr="127.0.0.1" port="1" allowmask="127.0.0.0/8" timeout="10" sendpass="${link.password}" recvpass="${link.password}">
<uline server="${servicesName}" silent="yes">
${useful.includes('sasl') ? `<sasl target="${servicesName}">` : ''}`;
}

/** What the nick service asks of those who register nicks. */
export interface NickServiceLimits {
  /** How long a connection must have had a nick to register it, and between two of them. */
  registerAfterSeconds: number;
}

/**
 * The whole text of an Anope configuration: nicks and their passwords, nothing about channels, no mail. A nick is
 * registered without more ado and does not expire: what is linked with it would fall to whoever takes it next. `dir` is where
 * it keeps its files; names without a folder are those of the program's own folder.
 */
export function anopeConfig(
  { port, password }: ServicesLink,
  dir: string,
  { registerAfterSeconds }: NickServiceLimits,
): string {
  const seed = createHash('sha256').update(password).digest().readUInt32BE() >>> 1;
  const module = (name: string, ...settings: string[]) => block('module', [`name = "${name}"`, ...settings]);
  return `${[
    block('uplink', ['host = "127.0.0.1"', `port = ${port}`, `password = "${password}"`]),
    block('serverinfo', [
      `name = "${servicesName}"`,
      'description = "Nick service"',
      `pid = "${join(dir, 'anope.pid')}"`,
      `motd = "${join(dir, 'motd.txt')}"`,
    ]),
    module('inspircd3'),
    block('networkinfo', [
      'networkname = "Relay"',
      'nicklen = 30',
      'userlen = 10',
      'hostlen = 64',
      'chanlen = 64',
      'vhost_chars = "abcdefghijklmnopqrstuvwxyz0123456789.-"',
    ]),
    block('options', [
      'casemap = "rfc1459"',
      `seed = ${seed}`,
      'strictpasswords = yes',
      // who guesses passwords is thrown off the network
      'badpasslimit = 5',
      'badpasstimeout = 1h',
      'updatetimeout = 10s',
      'expiretimeout = 30m',
      'readtimeout = 1s',
      'warningtimeout = 4h',
      'timeoutcheck = 3s',
      'retrywait = 1s',
    ]),
    block('service', [
      `nick = "${nickServiceNick}"`,
      'user = "services"',
      `host = "${servicesName}"`,
      'gecos = "Nick service"',
    ]),
    module(
      'nickserv',
      `client = "${nickServiceNick}"`,
      'forceemail = no',
      'defaults = "ns_secure ns_private hide_email hide_mask"',
      `regdelay = ${registerAfterSeconds}s`,
      'expire = 0',
      'kill = 60s',
      'killquick = 20s',
      'enforceruser = "enforcer"',
      `enforcerhost = "${servicesName}"`,
      'releasetimeout = 1m',
      'guestnickprefix = "Guest"',
      'passlen = 64',
    ),
    module('ns_register', 'registration = "none"', `nickregdelay = ${registerAfterSeconds}s`),
    module('ns_group', 'maxaliases = 8', 'nogroupchange = yes'),
    module('ns_identify', 'maxlogins = 50'),
    ...['ns_logout', 'ns_recover', 'ns_drop', 'ns_status', 'ns_info', 'ns_set', 'help'].map((name) =>
      module(name),
    ),
    module('enc_bcrypt'),
    module('m_sasl'),
    module('db_flatfile', 'database = "anope.db"', 'keepbackups = 3', 'fork = no'),
    ...Object.entries(commands).map(([name, command]) =>
      block('command', [
        `service = "${nickServiceNick}"`,
        `name = "${name}"`,
        `command = "${command}"`,
        ...(name === 'ID' ? ['hide = yes'] : []),
      ]),
    ),
  ].join('\n')}\n`;
}

const commands = {
  HELP: 'generic/help',
  REGISTER: 'nickserv/register',
  IDENTIFY: 'nickserv/identify',
  ID: 'nickserv/identify',
  LOGOUT: 'nickserv/logout',
  STATUS: 'nickserv/status',
  INFO: 'nickserv/info',
  GROUP: 'nickserv/group',
  UNGROUP: 'nickserv/ungroup',
  GLIST: 'nickserv/glist',
  RECOVER: 'nickserv/recover',
  DROP: 'nickserv/drop',
  SET: 'nickserv/set',
  'SET PASSWORD': 'nickserv/set/password',
  'SET KILL': 'nickserv/set/kill',
};

/** One directive a line: Anope 2.0 takes them in no other way. */
function block(name: string, settings: string[]): string {
  return `${name}\n{\n${settings.map((setting) => `  ${setting}`).join('\n')}\n}`;
}
