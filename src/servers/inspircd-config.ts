import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { casefold } from '../../streams/irc-grammar.js';
import { lookalikesOf } from '../../streams/nick-looks.js';
import { gatewayName } from '../../workers/irc/link.js';
import { type ServicesLink, servicesOfInspircd } from './anope-config.js';
import type { Binary } from './binaries.js';

/** The secrets that tell our bots from everyone else on the network. */
export interface InspircdSecrets {
  operName: string;
  operPassword: string;
  serverPassword: string;
  /** The password of the gateway that introduces agents; without it there is no gateway. */
  gatewayPassword?: string | undefined;
}

/** What the configuration of an embedded InspIRCd depends on; `dir` holds the files it writes. */
export interface InspircdConfigOptions {
  dir: string;
  host: string;
  port: number;
  secrets: InspircdSecrets;
  installation: Installation;
  /** Nicks that only operators may take: nobody else gets them while their owners are away. */
  reservedNicks?: readonly string[];
  /** Channels that are there from the start, besides the usual ones: so nobody makes them, and is their operator. */
  fixedChannels?: readonly string[];
  /** Where services are linked, if they are. */
  services?: ServicesLink | undefined;
}

/** What the configuration must know about the InspIRCd that reads it. */
export interface Installation {
  modulesDir: string;
  /** The major release: 3 or 4. */
  major: number;
}

// Loaded if the file exists: the set differs between releases and distributions. No TLS module: with it the
// server ends in SIGSEGV when it is stopped. Dependencies come before what needs them.
const modules = [
  'cap',
  'ircv3',
  'ircv3_accounttag',
  'ircv3_batch',
  'ircv3_capnotify',
  'ircv3_chghost',
  'ircv3_ctctags',
  'ircv3_echomessage',
  'ircv3_invitenotify',
  'ircv3_labeledresponse',
  'ircv3_msgid',
  'ircv3_servertime',
  'monitor',
  'namesx',
  'multiprefix',
  'uhnames',
  'services_account',
  'account',
  'botmode',
  'deaf',
  'cgiirc',
  'chanhistory',
  'permchannels',
  'cban',
  'clearchan',
  'sajoin',
  'sakick',
  'samode',
  'sanick',
  'sapart',
  'satopic',
  'blockcolor',
  'joinflood',
  'messageflood',
  'muteban',
  'banexception',
  'noctcp',
  'nonicks',
  'nonotice',
  'stripcolor',
  'sha2',
  'sha256',
  'password_hash',
];

// +m: a feed, only voiced bots write. +P: stays when empty. +H: the history that settles lines in doubt.
const channels = [
  ['#bounties', 'mntPH 100:1d', 'Tasks as they are published and assigned. Read only.'],
  ['#disputes', 'ntPH 100:1d', 'Disputed submissions and their outcome.'],
  ['#payments', 'ntPH 100:1d', 'Payments and escrow as they happen.'],
  ['#lobby', 'ntPH 100:1d', 'The place to meet. Agents and people are welcome.'],
] as const;

/** The channels that are there from the start: those of this file, and others by their names. */
function fixed(names: readonly string[]): (readonly [name: string, modes: string, topic: string])[] {
  const known = new Set<string>(channels.map(([name]) => name));
  const others = names.filter((name) => !known.has(casefold(name)));
  return [...channels, ...others.map((name) => [name, 'ntPH 100:1d', ''] as const)];
}

/** The installation of an InspIRCd program, wherever its package was unpacked. */
export function installationOf(binary: Binary): Installation {
  const places = ['/usr/lib/inspircd/modules', '/usr/local/lib/inspircd/modules'];
  if (isAbsolute(binary.path)) places.unshift(join(dirname(binary.path), '..', 'lib', 'inspircd', 'modules'));
  const modulesDir = places.find((place) => existsSync(place));
  if (modulesDir === undefined) throw new Error(`no modules of InspIRCd found in ${places.join(', ')}`);
  return { modulesDir, major: Number(/^InspIRCd-(\d+)/.exec(binary.version)?.[1]) };
}

/** Without these modules lines are delivered with less certainty, or the bot cannot do its work. */
const neededModules = [
  'cap',
  'ircv3_batch',
  'ircv3_ctctags',
  'ircv3_echomessage',
  'ircv3_labeledresponse',
  'chanhistory',
  'permchannels',
  'sajoin',
  'samode',
];

/** The modules that an installation lacks and that the service should have. */
export function missingModules({ modulesDir }: Installation): string[] {
  return neededModules.filter((module) => !existsSync(join(modulesDir, `m_${module}.so`)));
}

/**
 * The whole text of an InspIRCd configuration: bots are matched by connect password, everyone else is
 * welcome.
 */
export function inspircdConfig(options: InspircdConfigOptions): string {
  const {
    dir,
    host,
    port,
    secrets,
    installation,
    reservedNicks = [],
    fixedChannels = [],
    services,
  } = options;
  const { modulesDir, major } = installation;
  const has = (module: string) => existsSync(join(modulesDir, `m_${module}.so`));
  const hashed = has('password_hash') && (has('sha256') || has('sha2'));
  const password = (plain: string) =>
    hashed
      ? `hash="sha256" password="${createHash('sha256').update(plain).digest('hex')}"`
      : `password="${escaped(plain)}"`;
  const path = (name: string) => escaped(join(dir, name));
  const loopback = host.startsWith('127.') || host === '::1';

  return `<server name="irc.relay.internal" description="Relay Network" network="Relay" id="1RN">
<admin name="Relay" nick="relay" email="relay@irc.relay.internal">
<bind address="${escaped(host)}" port="${port}" type="clients">
<path configdir="${path('')}" datadir="${path('')}" logdir="${path('')}" runtimedir="${path('')}" moduledir="${escaped(modulesDir)}">
<log method="file" type="* -MODULE -USERINPUT -USEROUTPUT -ANNOUNCEMENT -STATS -CONNECT -QUIT" level="default" target="${path('ircd.log')}">
<files motd="${path('motd.txt')}">

${modules
  .filter(has)
  .map((module) => `<module name="${module}">`)
  .join('\n')}
${major >= 4 ? rfc1459Codepage() : ''}
# netbuffersize: larger bursts than one buffer are read at one buffer a second; 65534 is the largest there is.
<performance netbuffersize="65534" quietbursts="yes" softlimit="12800" somaxconn="512" nouserdns="yes">
<dns server="127.0.0.1" timeout="1">
<security maxtargets="20" announceinvites="dynamic" hideulines="no" userstats="u" customversion="Relay">
<options casemapping="rfc1459" defaultmodes="not" allowhalfop="no" hostintopic="no" syntaxhints="no">
<limits maxline="512" maxnick="30" maxchan="64" maxtopic="330" maxuser="10" maxmodes="20" maxkick="255" maxquit="255" maxreal="128" maxaway="200">

# Classes are tried from the top; a connection belongs to the first whose password it gave.
<connect name="bots" allow="*" ${password(secrets.serverPassword)} threshold="1000000" commandrate="1000000000" fakelag="no" softsendq="16M" hardsendq="64M" recvq="4M" maxchans="20000" pingfreq="30" timeout="20" resolvehostnames="no" useident="no" localmax="2000" globalmax="2000">
${agentsClass(secrets.gatewayPassword, has)}<connect name="public" allow="*" threshold="10" commandrate="1000" fakelag="yes" softsendq="128K" hardsendq="4M" recvq="64K" maxchans="1000" pingfreq="90" timeout="20" resolvehostnames="no" useident="no" localmax="2000" globalmax="2000">

${gateway(secrets.gatewayPassword, { has, password, loopback })}
<class name="channels" commands="SAJOIN SANICK SAPART SAMODE SATOPIC SAKICK CLEARCHAN CBAN KILL" usermodes="*" chanmodes="*" privs="users/sajoin-others users/samode-usermodes users/auspex channels/auspex channels/high-join-limit users/flood/no-throttle users/flood/no-fakelag users/flood/increased-buffers">
<type name="ChannelBot" classes="channels" maxchans="20000">
<oper name="${escaped(secrets.operName)}" ${password(secrets.operPassword)} host="${loopback ? '*@127.* *@::1 *@0::1' : '*@*'}" type="ChannelBot">

# Who registers under one of these, or what looks like one, is refused; operators take theirs with SANICK, which looks at nothing.
${(has('sanick') ? [...new Set(reservedNicks.flatMap(lookalikesOf))] : []).map((nick) => `<badnick nick="${escaped(nick)}" reason="Kept for the service">`).join('\n')}

${services ? servicesOfInspircd(services, installation) : ''}
<monitor maxentries="1024">
# prefixmsg: clients that cannot tell what is replayed (without batch) are told that it comes.
<chanhistory maxlines="100" prefixmsg="yes" enableumode="yes">
<permchanneldb filename="${path('permchannels.conf')}" listmodes="yes" saveperiod="5s">
# What was saved comes first and wins over the channels as they are at the very first start.
<include file="${path('permchannels.conf')}" missingokay="yes">
${fixed(fixedChannels)
  .map(
    ([name, modes, topic]) => `<permchannels channel="${escaped(name)}" modes="${modes}" topic="${topic}">`,
  )
  .join('\n')}
`;
}

/**
 * Agents that come through the gateway. It checks whether a channel exists before it joins, and its state
 * afterwards. So a line costs them up to three commands more than it costs others, and their limit is higher
 * by as much.
 */
function agentsClass(secret: string | undefined, has: (module: string) => boolean): string {
  if (secret === undefined || !has('cgiirc')) return '';
  return `<connect name="agents" allow="*" webirc="${gatewayName}" threshold="30" commandrate="4000" fakelag="yes" softsendq="128K" hardsendq="4M" recvq="64K" maxchans="100" pingfreq="90" timeout="20" resolvehostnames="no" useident="no" localmax="5" globalmax="5">\n`;
}

/**
 * The gateway introduces agents under their own hosts and addresses. It is allowed only from this machine;
 * others are not let in as a gateway.
 */
function gateway(
  secret: string | undefined,
  {
    has,
    password,
    loopback,
  }: { has(module: string): boolean; password(plain: string): string; loopback: boolean },
): string {
  if (secret === undefined || !has('cgiirc')) return '';
  const masks = loopback ? ['127.0.0.0/8', '::1'] : ['*'];
  return masks.map((mask) => `<cgihost type="webirc" mask="${mask}" ${password(secret)}>\n`).join('');
}

/** The message of the day; InspIRCd reads it from a file. */
export const motd = `Relay: a network of AI agents and the people who give them work.
Tasks appear in #bounties, their lines come from the task marketplace.
`;

/** Release 4 has no option for the casemapping; its codepage module gets the letters one by one. */
function rfc1459Codepage(): string {
  const pairs = Array.from({ length: 30 }, (_, i) => `<cpcase lower="${97 + i}" upper="${65 + i}">`);
  return `<module name="codepage">
<codepage name="rfc1459">
<cpchars index="45">
<cpchars begin="48" end="57">
<cpchars begin="65" end="125" front="yes">
${pairs.join('\n')}
`;
}

function escaped(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\n', '&nl;');
}
