import { casefold, isNick } from '../../../../streams/irc-grammar.js';
import type { Server } from '../server.js';
import { maskOf, type User } from '../state.js';
import { type Command, lacks } from './command.js';
import { lusers, supports } from './queries.js';

const pass: Command = (run) => {
  const { client, parameters } = run;
  if (client.user) client.numeric('462', 'You may not reregister');
  else if (!lacks(run, 1)) client.password = parameters[0];
};

/** A gateway says who it brings: from then on they come from that host. */
const webirc: Command = ({ server, client, parameters }) => {
  const [password, , host, address] = parameters;
  if (client.user || host === undefined || address === undefined) return;
  if (password === server.options.gatewayPassword) client.host = host;
  else server.close(client, 'WEBIRC: the password is wrong');
};

const userCommand: Command = (run) => {
  const { server, client, parameters } = run;
  if (client.user) return client.numeric('462', 'You may not reregister');
  if (lacks(run, 4)) return;
  client.ident = parameters[0]!.slice(0, 10);
  if (server.kind.name === 'ngircd') client.ident = `~${client.ident}`;
  client.real = parameters[3]!;
  server.consider(client);
};

/** Why a nick cannot be had, as a numeric and its text. */
function refusalOf(server: Server, nick: string, user: User | undefined): [string, string] | undefined {
  const key = casefold(nick);
  const refused = server.refusedNicks.get(key);
  if (refused !== undefined) return [refused, 'The nick is not to be had now'];
  if (!isNick(nick)) return ['432', 'Erroneous Nickname'];
  if (server.options.reservedNicks.some((kept) => casefold(kept) === key))
    return ['432', 'Invalid nickname: Kept for the service'];
  const other = server.user(nick);
  return other && other !== user ? ['433', 'Nickname is already in use.'] : undefined;
}

const nick: Command = (run) => {
  const { server, client, user, parameters } = run;
  if (lacks(run, 1)) return;
  const wanted = parameters[0]!;
  if (user?.nick === wanted) return;
  const refusal = refusalOf(server, wanted, user);
  if (refusal) return client.numeric(refusal[0], wanted, refusal[1]);
  const steady = [...(user?.channels ?? [])].find(({ modes }) => modes.has('N'));
  if (steady) return client.numeric('447', `Can't change nickname while on ${steady.name} (+N is set)`);
  server.overrule(wanted, client);
  if (user) return server.happen({ is: 'nick', user: user.id, nick: wanted, at: server.second });
  client.nick = wanted;
  server.consider(client);
};

const cap: Command = (run) => {
  const { server, client, parameters } = run;
  const [what = '', list = ''] = parameters;
  const answer = (...rest: string[]) => client.send(server.name, {}, 'CAP', client.name, ...rest);
  const subcommand = what.toUpperCase();
  if (subcommand === 'LS' || subcommand === 'REQ') client.negotiating = client.user === undefined;
  if (subcommand === 'LS') {
    if (Number(list) >= 302) client.capabilities.add('cap-notify');
    answer('LS', [...server.capabilities].sort().join(' '));
  } else if (subcommand === 'LIST') answer('LIST', [...client.capabilities].sort().join(' '));
  else if (subcommand === 'REQ') {
    const names = list.split(' ').filter((name) => name !== '');
    const isKnown = names.every((name) => server.capabilities.has(name.replace(/^-/, '')));
    if (isKnown)
      for (const name of names) {
        if (name.startsWith('-')) client.capabilities.delete(name.slice(1));
        else client.capabilities.add(name);
      }
    answer(isKnown ? 'ACK' : 'NAK', list);
  } else if (subcommand === 'END') {
    client.negotiating = false;
    server.consider(client);
  } else client.numeric('410', what, 'Invalid CAP subcommand');
};

/** What a newly registered client is told. */
export const welcome: Command = ({ server, client, user }) => {
  const { name, kind } = server;
  const made = new Date(server.startedAt).toISOString();
  client.numeric('001', `Welcome to the Relay IRC Network ${maskOf(user)}`);
  client.numeric(
    '002',
    `Your host is ${name}, running version ${kind.name === 'inspircd' ? 'InspIRCd-3' : 'ngIRCd-26'}`,
  );
  client.numeric('003', `This server was created ${made}`);
  client.numeric('004', name, kind.name, kind.userModes, kind.channelModes.join(''));
  supports({ server, client });
  lusers(server, client, 1);
  client.numeric('375', `${name} message of the day`);
  client.numeric('372', 'A network of agents.');
  client.numeric('376', 'End of message of the day.');
};

const quit: Command = ({ server, client, parameters }) =>
  server.close(client, parameters[0] ?? 'Client exited');

const ping: Command = (run) => {
  const { server, client, parameters } = run;
  if (!lacks(run, 1)) client.send(server.name, {}, 'PONG', server.name, parameters[0]!);
};

/** Coming, going and names. */
export const registration: Record<string, Command> = {
  PASS: pass,
  WEBIRC: webirc,
  USER: userCommand,
  NICK: nick,
  CAP: cap,
  QUIT: quit,
  PING: ping,
  PONG: () => {},
};
