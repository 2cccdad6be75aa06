import { isChannel } from '../../../../streams/irc-grammar.js';
import type { Channel, User } from '../state.js';
import { maskOf } from '../state.js';
import { type Command, lacks, type Run } from './command.js';

const join: Command = (run) => {
  const { server, client, user, parameters } = run;
  if (lacks(run, 1)) return;
  const keys = (parameters[1] ?? '').split(',');
  for (const [index, name] of parameters[0]!.split(',').entries()) {
    if (!isChannel(name) || name.length > 64) {
      client.numeric(server.kind.name === 'ngircd' ? '403' : '476', name, 'Invalid channel name');
      continue;
    }
    const channel = server.channel(name);
    if (channel?.members.has(user)) continue;
    const refusal = channel && refusalOf(channel, user, keys[index]);
    if (refusal) client.numeric(refusal[0], channel.name, `Cannot join channel (${refusal[1]})`);
    else server.join(user, name);
  }
};

function refusalOf(channel: Channel, user: User, key: string | undefined): [string, string] | undefined {
  const { modes, members, invited } = channel;
  if (invited.has(user)) return undefined;
  if (modes.has('k') && modes.get('k') !== key) return ['475', 'incorrect channel key'];
  if (modes.has('i')) return ['473', 'invite only'];
  if (modes.has('l') && members.size >= Number(modes.get('l'))) return ['471', 'channel is full'];
  return channel.isBanned(user, false) ? ['474', "you're banned"] : undefined;
}

/** A channel that a command names; refuses one that is not there. */
function find({ server, client }: Run, name: string): Channel | undefined {
  const channel = server.channel(name);
  if (!channel) client.numeric('403', name, 'No such channel');
  return channel;
}

const part: Command = (run) => {
  const { server, client, user, parameters } = run;
  if (lacks(run, 1)) return;
  for (const name of parameters[0]!.split(',')) {
    const channel = find(run, name);
    if (!channel) continue;
    if (!channel.members.has(user)) client.numeric('442', channel.name, "You're not on that channel");
    else server.happen({ is: 'part', user: user.id, channel: channel.name, reason: parameters[1] });
  }
};

const kick: Command = (run) => {
  const { server, client, user, parameters } = run;
  if (lacks(run, 2)) return;
  const channel = find(run, parameters[0]!);
  if (!channel) return;
  const other = server.user(parameters[1]!);
  if (!other) return client.numeric('401', parameters[1]!, 'No such nick');
  if (!channel.members.has(user)) return client.numeric('442', channel.name, "You're not on that channel!");
  if (!channel.members.has(other))
    return client.numeric('441', other.nick, channel.name, 'They are not on that channel');
  if (!channel.members.get(user)!.has('o'))
    return client.numeric(
      '482',
      channel.name,
      'You must be a channel op or higher to kick a more privileged user.',
    );
  const reason = parameters[2] ?? user.nick;
  server.happen({ is: 'kick', by: { user: user.id }, user: other.id, channel: channel.name, reason });
};

const topic: Command = (run) => {
  const { client, user, parameters } = run;
  if (lacks(run, 1)) return;
  const channel = find(run, parameters[0]!);
  if (!channel) return;
  const text = parameters[1];
  if (text === undefined) {
    if (channel.isHiddenFrom(user)) return client.numeric('403', channel.name, 'No such channel');
    if (!channel.topic) return client.numeric('331', channel.name, 'No topic is set.');
    const { by, at } = channel.topic;
    client.numeric('332', channel.name, channel.topic.text);
    client.numeric('333', channel.name, by, String(Math.floor(at / 1_000)));
    return;
  }
  const status = channel.members.get(user);
  if (!status) return client.numeric('442', channel.name, "You're not on that channel!");
  if (channel.modes.has('t') && !status.has('o'))
    return client.numeric('482', channel.name, 'You must be a channel op or higher to change the topic.');
  if (text !== (channel.topic?.text ?? '')) setTopic(run, channel, text);
};

/** Sets a topic, cut to what a topic may have. */
export function setTopic({ server, user }: Run, channel: Channel, text: string): void {
  const cut = text.slice(0, 330);
  server.happen({ is: 'topic', by: { user: user.id }, channel: channel.name, text: cut, at: server.now });
}

const invite: Command = (run) => {
  const { server, client, user, parameters } = run;
  if (lacks(run, 2)) return;
  const channel = find(run, parameters[1]!);
  if (!channel) return;
  const other = server.user(parameters[0]!);
  if (!other) return client.numeric('401', parameters[0]!, 'No such nick');
  const status = channel.members.get(user);
  if (!status) return client.numeric('442', channel.name, "You're not on that channel!");
  if (channel.members.has(other))
    return client.numeric('443', other.nick, channel.name, 'is already on channel');
  if (!status.has('o'))
    return client.numeric('482', channel.name, 'You must be a channel op or higher to send an invite.');
  client.numeric('341', other.nick, channel.name);
  server.happen({ is: 'invite', by: user.id, user: other.id, channel: channel.name });
};

/** PRIVMSG, NOTICE and TAGMSG. */
const say: Command = (run) => {
  const { server, client, user, parameters, tags, command } = run;
  const isTagged = command === 'TAGMSG';
  if (lacks(run, isTagged ? 1 : 2)) return;
  const [target = '', text = ''] = parameters;
  if (text === '' && !isTagged) return client.numeric('412', 'No text to send');
  const isToChannel = target.startsWith('#');
  const channel = isToChannel ? server.channel(target) : undefined;
  const other = isToChannel ? undefined : server.user(target);
  if (isToChannel && !channel)
    return client.numeric(server.kind.name === 'ngircd' ? '401' : '403', target, 'No such channel');
  if (!isToChannel && !other) return client.numeric('401', target, 'No such nick');
  const obstacle = channel && obstacleOf(channel, user);
  if (obstacle)
    return client.numeric('404', channel.name, `You cannot send messages to this channel: ${obstacle}`);
  if (other?.away !== undefined && command === 'PRIVMSG') client.numeric('301', other.nick, other.away);
  const clientTags = tags.filter((tag) => tag.startsWith('+'));
  server.happen({
    is: 'message',
    user: user.id,
    channel: channel?.name,
    to: other?.id,
    message: {
      command,
      from: maskOf(user),
      text,
      msgid: server.newMessageId(),
      account: user.account,
      tags: client.has('message-tags') ? clientTags : [],
      isBot: user.modes.has('B'),
    },
  });
};

function obstacleOf(channel: Channel, user: User): string | undefined {
  const status = channel.members.get(user);
  if (!status && channel.modes.has('n')) return 'external messages';
  if (status && status.size > 0) return undefined;
  if (channel.isBanned(user, false)) return 'banned';
  if (channel.modes.has('m')) return 'moderated';
  return channel.isBanned(user, true) ? 'muted' : undefined;
}

const away: Command = ({ server, client, user, parameters }) => {
  const text = parameters[0] === undefined || parameters[0] === '' ? undefined : parameters[0];
  server.happen({ is: 'away', user: user.id, text });
  if (text === undefined) client.numeric('305', 'You are no longer marked as being away');
  else client.numeric('306', 'You have been marked as being away');
};

/** What users do in channels. */
export const channels: Record<string, Command> = {
  JOIN: join,
  PART: part,
  KICK: kick,
  TOPIC: topic,
  INVITE: invite,
  PRIVMSG: say,
  NOTICE: say,
  TAGMSG: say,
  AWAY: away,
};
