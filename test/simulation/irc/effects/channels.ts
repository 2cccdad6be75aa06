import { casefold } from '../../../../streams/irc-grammar.js';
import type { Client, Tags } from '../client.js';
import { channels as channelCommands } from '../commands/channels.js';
import { queries } from '../commands/queries.js';
import type { Effects, Fact, ModeChange, Source } from '../facts.js';
import type { Server } from '../server.js';
import { Channel, keptOf, type User } from '../state.js';

function enter(
  server: Server,
  user: User,
  { channel: name, since, status, made }: Fact & { is: 'join' },
): void {
  let channel = server.channel(name);
  if (!channel) {
    channel = new Channel(name, since);
    for (const letter of made) channel.modes.set(letter, undefined);
    server.channels.set(casefold(name), channel);
  }
  server.touch(channel);
  if (channel.members.has(user)) return;
  channel.members.set(user, new Set(status));
  user.channels.add(channel);
  channel.invited.delete(user);
  for (const { client } of channel.members.keys()) {
    if (!client) continue;
    const about = client.has('extended-join') ? [user.account ?? '*', user.real] : [];
    server.tell(client, user, 'JOIN', channel.name, ...about);
    if (client !== user.client && user.away !== undefined && client.has('away-notify'))
      server.tell(client, user, 'AWAY', user.away);
  }
  if (user.client) showRoom(server, user.client, user, channel);
}

/** What who joins is told: the topic, who is there, and what was said. */
function showRoom(server: Server, client: Client, user: User, channel: Channel): void {
  const run = { server, client, user, tags: [], parameters: [channel.name] };
  if (channel.topic) channelCommands.TOPIC!({ ...run, command: 'TOPIC' });
  queries.NAMES!({ ...run, command: 'NAMES' });
  const kept = channel.kept;
  if (!kept || user.modes.has('N')) return;
  const from = kept.ms === 0 ? 0 : server.now - kept.ms;
  const lines = channel.history.filter(({ at }) => at >= from).slice(-kept.lines);
  if (lines.length === 0) return;
  const batch = client.has('batch') ? client.newBatch() : undefined;
  if (batch !== undefined) client.send(server.name, {}, 'BATCH', `+${batch}`, 'chathistory', channel.name);
  else
    client.send(
      server.name,
      {},
      'NOTICE',
      channel.name,
      `Replaying up to ${kept.lines} lines of pre-join history`,
    );
  for (const { at, msgid, account, tags, command, from, text } of lines) {
    const shown: Tags = { at: Math.floor(at / 1_000) * 1_000, msgid, account, client: tags, batch };
    client.send(from, shown, command, channel.name, text);
  }
  if (batch !== undefined) client.send(server.name, {}, 'BATCH', `-${batch}`);
}

function change(
  server: Server,
  by: Source,
  channel: Channel,
  changes: readonly ModeChange[],
  at: number,
): void {
  server.touch(channel);
  const done = changes.filter((one) => changeOne(server, channel, one, by, at));
  if (done.length > 0) server.tellOfChange(channel, by, 'MODE', channel.name, ...textOf(done));
}

function changeOne(
  server: Server,
  channel: Channel,
  { sign, letter, value, user: id }: ModeChange,
  by: Source,
  at: number,
): boolean {
  const isSet = sign === '+';
  if (letter === 'o' || letter === 'v') {
    const user = id === undefined ? undefined : server.users.get(id);
    const status = user && channel.members.get(user);
    if (!status || status.has(letter) === isSet) return false;
    if (isSet) status.add(letter);
    else status.delete(letter);
    return true;
  }
  if (letter === 'b' || letter === 'e') {
    const list = letter === 'b' ? 'bans' : 'excepts';
    channel[list] = channel[list].filter(({ mask }) => mask !== value);
    if (isSet) channel[list].push({ mask: value ?? '', by: server.nickOf(by), at });
    return true;
  }
  if (letter === 'H')
    channel.history = isSet ? channel.history.slice(-(keptOf(value ?? '')?.lines ?? 0)) : [];
  if (!isSet) return channel.modes.delete(letter);
  channel.modes.set(letter, value);
  return true;
}

/** Changes as one MODE has them: `+nt-k key`. */
function textOf(changes: readonly ModeChange[]): string[] {
  let letters = '';
  let sign = '';
  for (const one of changes) {
    if (one.sign !== sign) letters += one.sign;
    sign = one.sign;
    letters += one.letter;
  }
  return [letters, ...changes.flatMap(({ value }) => value ?? [])];
}

/** A channel of a server that is being linked: the older one is right, and two of the same age are both. */
function merge(
  server: Server,
  { name, since, modes, bans, topic, members, from }: Fact & { is: 'channel' },
): void {
  const channel = server.channel(name) ?? new Channel(name, since);
  server.channels.set(casefold(name), channel);
  server.touch(channel);
  if (since < channel.since) {
    const gone: ModeChange[] = [...channel.modes].map(([letter, value]) => ({ sign: '-', letter, value }));
    for (const { mask } of channel.bans) gone.push({ sign: '-', letter: 'b', value: mask });
    for (const [{ nick, id }, status] of channel.members)
      for (const letter of status) gone.push({ sign: '-', letter, value: nick, user: id });
    change(server, { server: server.name }, channel, gone, server.now);
    channel.since = since;
  }
  const isRight = since <= channel.since;
  const by: Source = { server: from };
  const give = (changes: ModeChange[]) => {
    if (isRight && changes.length > 0) change(server, by, channel, changes, server.now);
  };
  const isOther = ([letter, value]: [string, string | undefined]) =>
    !channel.modes.has(letter) || channel.modes.get(letter) !== value;
  const missing = bans.filter(({ mask }) => channel.bans.every((ban) => ban.mask !== mask));
  give([
    ...modes.filter(isOther).map(([letter, value]): ModeChange => ({ sign: '+', letter, value })),
    ...missing.map(({ mask }): ModeChange => ({ sign: '+', letter: 'b', value: mask })),
  ]);
  const coming = members.flatMap(({ user: id, status }) => {
    const user = server.users.get(id);
    return user ? [{ user, status }] : [];
  });
  for (const { user } of coming)
    enter(server, user, { is: 'join', user: user.id, channel: name, since, status: '', made: '' });
  give(
    coming.flatMap(({ user: { id, nick }, status }) =>
      [...status].map((letter): ModeChange => ({ sign: '+', letter, value: nick, user: id })),
    ),
  );
  if (!isRight) return;
  if (topic && topic.text !== channel.topic?.text && topic.at >= (channel.topic?.at ?? 0)) {
    channel.topic = topic;
    server.tellOfChange(channel, by, 'TOPIC', channel.name, topic.text);
  }
}

/** What happens in channels, but for what is said. */
export const channelEffects: Pick<
  Effects,
  'join' | 'part' | 'kick' | 'mode' | 'topic' | 'invite' | 'channel' | 'forced' | 'burst over'
> = {
  join: (server, fact) => server.with(fact.user, (user) => enter(server, user, fact)),
  part: (server, { user: id, channel: name, reason }) =>
    server.within(id, name, (user, channel) => {
      for (const { client } of channel.members.keys())
        if (client)
          server.tell(client, user, 'PART', channel.name, ...(reason === undefined ? [] : [reason]));
      server.leave(user, channel);
    }),
  kick: (server, { user: id, channel: name, by, reason }) =>
    server.within(id, name, (user, channel) => {
      server.tellOfChange(channel, by, 'KICK', channel.name, user.nick, reason);
      server.leave(user, channel);
    }),
  mode: (server, { by, channel: name, changes, at }) => {
    const channel = server.channel(name);
    if (channel) change(server, by, channel, changes, at);
    if (channel) server.dropIfEmpty(channel);
  },
  topic: (server, { by, channel: name, text, at }) => {
    const channel = server.channel(name);
    if (!channel) return;
    server.touch(channel);
    channel.topic = text === '' ? undefined : { text, by: server.nickOf(by), at };
    server.tellOfChange(channel, by, 'TOPIC', channel.name, text);
  },
  invite: (server, { by: id, user: invited, channel: name }) =>
    server.with(invited, (user) => {
      const channel = server.channel(name);
      const by = server.users.get(id);
      if (!channel || !by) return;
      channel.invited.add(user);
      if (user.client) server.tell(user.client, by, 'INVITE', user.nick, channel.name);
      for (const [{ client }, status] of channel.members)
        if (status.has('o') && client?.has('invite-notify'))
          server.tell(client, by, 'INVITE', user.nick, channel.name);
    }),
  channel: merge,
  forced: (server, { user: id, does, argument, reason }) =>
    server.with(id, (user) => {
      if (!user.client) return;
      if (does === 'part') server.happen({ is: 'part', user: id, channel: argument, reason });
      else if (does === 'nick') server.happen({ is: 'nick', user: id, nick: argument, at: server.second });
      else server.join(user, argument);
    }),
  'burst over': (server, { from }) => {
    for (const client of server.clients)
      if (client.user?.modes.has('s'))
        client.send(
          server.name,
          {},
          'NOTICE',
          client.name,
          `*** LINK: Received end of netburst from ${from}`,
        );
  },
};

/** What a user says reaches a channel or one other user. */
export const message: Effects['message'] = (server, { user: id, channel: name, to, message: said }) =>
  server.with(id, (user) => {
    const { command, from, text, msgid, account, isBot, tags: client } = said;
    const tags: Tags = { msgid, account, isBot, client };
    const channel = name === undefined ? undefined : server.channel(name);
    const other = to === undefined ? undefined : server.users.get(to);
    const target = channel?.name ?? other?.nick;
    if (target === undefined) return;
    const body =
      command === 'TAGMSG' ? `:${from} TAGMSG :${target}` : `:${from} ${command} ${target} :${text}`;
    const takes = (reader: Client) => command !== 'TAGMSG' || reader.has('message-tags');
    // what one says to oneself is no part of the answer, only its echo is
    if (other === user) user.client?.writeApart(tags, body);
    else if (other?.client && takes(other.client)) other.client.write(tags, body);
    for (const member of channel?.members.keys() ?? [])
      if (member !== user && member.client && !member.modes.has('d') && takes(member.client))
        member.client.write(tags, body);
    if (user.client?.has('echo-message')) user.client.write({ ...tags, isEcho: true }, body);
    if (!channel) return;
    const arrived = { ...said, at: server.now };
    const isCtcp = text.startsWith('\x01') && !text.startsWith('\x01ACTION');
    const kept = channel.kept;
    if (kept && command !== 'TAGMSG' && !isCtcp) channel.history.push(arrived);
    if (kept && channel.history.length > kept.lines) channel.history.shift();
    server.options.shown?.(server, channel, arrived, user.home === server.name);
  });
