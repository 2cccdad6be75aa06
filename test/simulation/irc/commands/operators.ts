import { isChannel, isNick } from '../../../../streams/irc-grammar.js';
import { setTopic } from './channels.js';
import { type Command, explain, isNoOperator, lacks, type Run } from './command.js';
import { changeModes } from './modes.js';

const oper: Command = (run) => {
  const { server, client, user, parameters } = run;
  if (lacks(run, 2)) return;
  const { name, password } = server.options.oper;
  if (parameters[0] !== name || parameters[1] !== password)
    return client.numeric(server.kind.wrongOper, 'Invalid oper credentials');
  server.happen({ is: 'user mode', user: user.id, letter: 'o', isSet: true });
  client.costMs = 0;
  client.send(server.name, {}, 'MODE', user.nick, '+o');
  client.numeric('381', 'You are now a ChannelBot');
};

const kill: Command = (run) => {
  const { server, client, user, parameters } = run;
  if (isNoOperator(run) || lacks(run, 2)) return;
  const other = server.user(parameters[0]!);
  if (!other) return client.numeric('401', parameters[0]!, 'No such nick');
  const reason = `Killed (${user.nick} (${parameters[1]!}))`;
  server.happen({ is: 'killed', by: { user: user.id }, user: other.id, reason });
};

/** As many targets as a server takes in one command; those beyond are dropped without a word. */
const maxTargets = 20;

const targetsOf = (list: string): string[] => [...new Set(list.split(',').slice(0, maxTargets))];

const sajoin: Command = (run) => {
  const { server, client, parameters } = run;
  if (isNoOperator(run) || lacks(run, 2)) return;
  const [nick = '', list = ''] = parameters;
  for (const name of targetsOf(list)) {
    const user = server.user(nick);
    if (!user) explain(run, `*** No such nickname: '${nick}'`);
    else if (!isChannel(name) || name.length > 64) client.numeric('476', name, 'Invalid channel name');
    else if (server.channel(name)?.members.has(user)) explain(run, `*** ${user.nick} is already on ${name}`);
    else if (user.client) server.join(user, name);
    else server.options.force({ is: 'forced', user: user.id, does: 'join', argument: name }, user.home);
  }
};

const sapart: Command = (run) => {
  const { server, parameters } = run;
  if (isNoOperator(run) || lacks(run, 2)) return;
  const [nick = '', list = '', reason] = parameters;
  for (const name of targetsOf(list)) {
    const user = server.user(nick);
    const channel = server.channel(name);
    if (!user || !channel) explain(run, '*** Invalid nickname or channel');
    else if (!channel.members.has(user)) explain(run, `*** ${user.nick} is not on ${channel.name}`);
    else if (user.client) server.happen({ is: 'part', user: user.id, channel: channel.name, reason });
    else
      server.options.force(
        { is: 'forced', user: user.id, does: 'part', argument: channel.name, reason },
        user.home,
      );
  }
};

const samode: Command = (run) => {
  const { server, client, parameters } = run;
  if (isNoOperator(run) || lacks(run, 2)) return;
  const channel = server.channel(parameters[0]!);
  if (!channel) return client.numeric('403', parameters[0]!, 'No such channel');
  changeModes(run, channel, parameters.slice(1), true);
};

const satopic: Command = (run) => {
  const { server, client, parameters } = run;
  if (isNoOperator(run) || lacks(run, 2)) return;
  const channel = server.channel(parameters[0]!);
  if (!channel) return client.numeric('403', parameters[0]!, 'No such channel');
  const isSame = (channel.topic?.text ?? '') === parameters[1]!.slice(0, 330);
  if (isSame) explain(run, `The topic on ${channel.name} is already what you are trying to change it to.`);
  else setTopic(run, channel, parameters[1]!);
};

const sakick: Command = (run) => {
  const { server, parameters } = run;
  if (isNoOperator(run) || lacks(run, 2)) return;
  const [name = '', nick = '', text] = parameters;
  const channel = server.channel(name);
  const user = server.user(nick);
  if (!channel || !user) return explain(run, '*** Invalid nickname or channel');
  if (!channel.members.has(user)) return explain(run, `*** ${user.nick} is not on ${channel.name}`);
  const reason = text ?? user.nick;
  server.happen({ is: 'kick', by: { server: server.name }, user: user.id, channel: channel.name, reason });
};

const sanick: Command = (run) => {
  const { server, parameters } = run;
  if (isNoOperator(run) || lacks(run, 2)) return;
  const [nick = '', wanted = ''] = parameters;
  const user = server.user(nick);
  if (!user) return explain(run, `*** No such nickname: '${nick}'`);
  if (!isNick(wanted)) return explain(run, `*** Invalid nickname: '${wanted}'`);
  force(run, user.id, user.client !== undefined, wanted, user.home);
};

function force({ server }: Run, id: string, isHere: boolean, wanted: string, home: string): void {
  if (server.user(wanted)) return;
  server.overrule(wanted, undefined);
  if (isHere) server.happen({ is: 'nick', user: id, nick: wanted, at: server.second });
  else server.options.force({ is: 'forced', user: id, does: 'nick', argument: wanted }, home);
}

/** What operators of the network do; not every kind of server can have them force anything. */
export const operators: Record<string, Command> = { OPER: oper, KILL: kill };

/** Commands by which operators force others. */
export const forcing: Record<string, Command> = {
  SAJOIN: sajoin,
  SAPART: sapart,
  SAMODE: samode,
  SATOPIC: satopic,
  SAKICK: sakick,
  SANICK: sanick,
};
