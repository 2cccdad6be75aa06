import { casefold } from '../../../../streams/irc-grammar.js';
import type { Client } from '../client.js';
import type { Server } from '../server.js';
import type { Channel, User } from '../state.js';
import { type Command, lacks } from './command.js';

/** Numeric 005. */
export function supports({ server, client }: { server: Server; client: Client }): void {
  for (const tokens of server.kind.supports) client.numeric('005', ...tokens, 'are supported by this server');
}

/** How large the network is. A newly connected client is not counted yet. */
export function lusers(server: Server, client: Client, coming = 0): void {
  const users = server.users.size - coming;
  const servers = new Set([...server.users.values()].map(({ home }) => home)).add(server.name).size;
  const operators = [...server.users.values()].filter(({ modes }) => modes.has('o')).length;
  const local = [...server.clients].filter(({ user }) => user).length - coming;
  client.numeric('251', `There are ${users} users and 0 invisible on ${servers} servers`);
  if (operators > 0) client.numeric('252', String(operators), 'operator(s) online');
  if (server.channels.size > 0) client.numeric('254', String(server.channels.size), 'channels formed');
  client.numeric('255', `I have ${local} clients and ${servers - 1} servers`);
  client.numeric('265', `Current local users: ${local}  Max: ${local}`);
  client.numeric('266', `Current global users: ${users}  Max: ${users}`);
}

const names: Command = ({ server, client, user, parameters }) => {
  const [name = '*'] = parameters;
  const channel = server.channel(name);
  if (channel && !channel.isHiddenFrom(user)) {
    const entries = [...channel.members].map(([member, status]) => entryOf(client, member, status));
    const kind = channel.modes.has('s') ? '@' : channel.modes.has('p') ? '*' : '=';
    const start = `:${server.name} 353 ${client.name} ${kind} ${channel.name} :`.length;
    for (const text of packed(entries, 510 - start)) client.numeric('353', kind, channel.name, text);
  }
  client.numeric('366', channel?.name ?? name, 'End of /NAMES list.');
};

function entryOf(client: Client, user: User, status: Set<string>): string {
  const prefixes = `${status.has('o') ? '@' : ''}${status.has('v') ? '+' : ''}`;
  const prefix = client.has('multi-prefix') ? prefixes : prefixes.slice(0, 1);
  return `${prefix}${user.nick}${client.has('userhost-in-names') ? `!${user.ident}@${user.host}` : ''}`;
}

function packed(entries: readonly string[], most: number): string[] {
  const lines: string[] = [];
  for (const entry of entries) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + entry.length <= most)
      lines[lines.length - 1] = `${last} ${entry}`;
    else lines.push(entry);
  }
  return lines;
}

const whois: Command = (run) => {
  const { server, client, user, parameters } = run;
  if (lacks(run, 1)) return;
  const wanted = parameters.at(-1)!;
  const other = server.user(wanted);
  const { nick } = other ?? { nick: wanted };
  if (other) {
    const isOurs = user.modes.has('o') || other === user;
    client.numeric('311', nick, other.ident, other.host, '*', other.real);
    if (isOurs) client.numeric('378', nick, `is connecting from ${other.ident}@${other.host} ${other.host}`);
    const shown = [...other.channels].filter(
      (channel) => other === user || channel.members.has(user) || !isSecret(channel),
    );
    const marked = shown.map((channel) => `${prefixOf(channel, other)}${channel.name}`);
    if (marked.length > 0) client.numeric('319', nick, marked.join(' '));
    client.numeric('312', nick, other.home, 'Relay Network');
    if (other.away !== undefined) client.numeric('301', nick, other.away);
    if (other.modes.has('o')) client.numeric('313', nick, 'is a ChannelBot on Relay');
    if (other.account !== undefined) client.numeric('330', nick, other.account, 'is logged in as');
    if (other.modes.has('r')) client.numeric('307', nick, 'is a registered nick');
    if (isOurs) client.numeric('379', nick, `is using modes +${[...other.modes].sort().join('')}`);
    if (other.modes.has('B')) client.numeric('335', nick, 'is a bot on Relay');
    if (other.client)
      client.numeric('317', nick, '0', String(Math.floor(other.since / 1_000)), 'seconds idle, signon time');
  } else client.numeric('401', nick, 'No such nick');
  client.numeric('318', nick, 'End of /WHOIS list.');
};

/** Operators by a mask of their nicks, which is all that is asked for. */
const who: Command = ({ server, client, parameters: [mask = '*', flags] }) => {
  if (flags !== 'no') return client.numeric('421', 'WHO', 'Unknown command');
  const parts = mask.toLowerCase().replace(/[^\w*?]/g, '\\$&');
  const isMeant = new RegExp(`^${parts.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'i');
  for (const { nick, ident, host, home, real, modes, away } of server.users.values()) {
    if (!modes.has('o') || !isMeant.test(nick)) continue;
    const shown = `${away === undefined ? 'H' : 'G'}*${modes.has('B') ? 'B' : ''}`;
    client.numeric('352', '*', ident, host, home, nick, shown, `0 ${real}`);
  }
  client.numeric('315', mask, 'End of /WHO list.');
};

const isSecret = ({ modes }: Channel): boolean => modes.has('s') || modes.has('p');

function prefixOf(channel: Channel, user: User): string {
  const status = channel.members.get(user);
  return status?.has('o') ? '@' : status?.has('v') ? '+' : '';
}

const ison: Command = (run) => {
  const { server, client, parameters } = run;
  if (lacks(run, 1)) return;
  const there = parameters
    .flatMap((text) => text.split(' '))
    .flatMap((nick) => server.user(nick)?.nick ?? []);
  client.numeric('303', there.join(' '));
};

const list: Command = ({ server, client, user }) => {
  client.numeric('321', 'Channel', 'Users Name');
  for (const channel of server.channels.values()) {
    if (channel.isHiddenFrom(user)) continue;
    const seesKey = channel.members.has(user) || user.modes.has('o');
    const shown = `[${channel.shownModes(seesKey).join(' ')}] ${channel.topic?.text ?? ''}`;
    const text = server.kind.name === 'inspircd' ? shown : (channel.topic?.text ?? '');
    client.numeric('322', channel.name, String(channel.members.size), text);
  }
  client.numeric('323', 'End of channel list.');
};

const version: Command = ({ server, client }) => {
  client.numeric('351', `${server.kind.name}.`, server.name, 'Relay');
  supports({ server, client });
};

const stats: Command = (run) => {
  const { server, client, parameters } = run;
  if (lacks(run, 1)) return;
  if (parameters[0] === 'u') {
    const seconds = Math.floor((server.now - server.startedAt) / 1_000);
    const two = (value: number) => String(value).padStart(2, '0');
    const clock = `${two(Math.floor(seconds / 3_600) % 24)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
    client.numeric('242', `Server up ${Math.floor(seconds / 86_400)} days, ${clock}`);
  }
  client.numeric('219', parameters[0]!, 'End of /STATS report');
};

const monitor: Command = (run) => {
  const { server, client, parameters } = run;
  if (lacks(run, 1)) return;
  const [sign, text = ''] = parameters;
  const nicks = text.split(',').filter((nick) => nick !== '');
  if (sign === '-') for (const nick of nicks) client.watched.delete(casefold(nick));
  if (sign === 'C') client.watched.clear();
  if (sign !== '+') return;
  for (const nick of nicks) client.watched.add(casefold(nick));
  const there = nicks.flatMap((nick) => server.user(nick)?.nick ?? []);
  const away = nicks.filter((nick) => !server.user(nick));
  if (there.length > 0) client.numeric('730', there.join(','));
  if (away.length > 0) client.numeric('731', away.join(','));
};

/** What changes nothing. */
export const queries: Record<string, Command> = {
  NAMES: names,
  WHO: who,
  WHOIS: whois,
  ISON: ison,
  LIST: list,
  LUSERS: ({ server, client }) => lusers(server, client),
  VERSION: version,
  STATS: stats,
  MONITOR: monitor,
};
