import { casefold } from '../../../../streams/irc-grammar.js';
import type { Effects } from '../facts.js';
import { type Server, tagsOf } from '../server.js';
import { maskOf, type User } from '../state.js';

/** A user whose nick somebody else had when servers were linked has had it since then. */
const overruledAt = 100;

function introduce(server: Server, user: User): void {
  const other = server.user(user.nick);
  if (other) collide(server, other, user);
  server.users.set(user.id, user);
  server.nicks.set(casefold(user.nick), user);
  server.tellWatchers('730', user.nick);
}

/** Two users of one nick meet: of two of the same person the newer keeps it, else the older; or neither. */
function collide(server: Server, ours: User, theirs: User): void {
  const isSame = ours.ident === theirs.ident && ours.host === theirs.host;
  const isOlder = ours.nickSince < theirs.nickSince;
  const isTie = ours.nickSince === theirs.nickSince;
  if (isTie || isOlder === isSame) rename(server, ours, ours.id, overruledAt);
  if (isTie || isOlder !== isSame) {
    theirs.nick = theirs.id;
    theirs.nickSince = overruledAt;
  }
}

function quit(server: Server, user: User, reason: string): void {
  const acquaintances = server.acquaintances(user);
  server.remove(user);
  for (const client of acquaintances) server.tell(client, user, 'QUIT', reason);
  server.tellWatchers('731', user.nick);
}

function rename(server: Server, user: User, nick: string, at: number): void {
  const before = maskOf(user);
  const clients = server.acquaintances(user);
  const isOther = casefold(user.nick) !== casefold(nick);
  server.nicks.delete(casefold(user.nick));
  if (isOther) server.tellWatchers('731', user.nick);
  const other = server.user(nick);
  user.nick = nick;
  user.nickSince = at;
  if (other && other !== user) collide(server, other, user);
  server.nicks.set(casefold(user.nick), user);
  if (user.client) {
    user.client.nick = user.nick;
    clients.add(user.client);
  }
  // in the answer to a label the new nick is already before the line
  for (const client of clients)
    client.send(client.isAnswering ? maskOf(user) : before, tagsOf(user), 'NICK', user.nick);
  if (isOther) server.tellWatchers('730', user.nick);
}

/** What happens to users. */
export const userEffects: Pick<
  Effects,
  'user' | 'quit' | 'killed' | 'nick' | 'away' | 'account' | 'host' | 'user mode'
> = {
  user: (server, { user }) => {
    introduce(server, { ...user, modes: new Set(user.modes), client: undefined, channels: new Set() });
  },
  quit: (server, fact) => server.with(fact.user, (user) => quit(server, user, fact.reason)),
  killed: (server, { user: id, by, reason }) =>
    server.with(id, (user) => {
      const { client } = user;
      if (client) {
        const source = server.sourceOf(by);
        client.send(source.from, source.tags, 'KILL', user.nick, reason);
        client.send('', {}, 'ERROR', `Closing link: (${user.ident}@${user.host}) [${reason}]`);
        server.drop(client);
      }
      quit(server, user, reason);
    }),
  nick: (server, { user: id, nick, at }) => server.with(id, (user) => rename(server, user, nick, at)),
  away: (server, { user: id, text }) =>
    server.with(id, (user) => {
      user.away = text;
      for (const client of server.acquaintances(user))
        if (client.has('away-notify'))
          server.tell(client, user, 'AWAY', ...(text === undefined ? [] : [text]));
    }),
  account: (server, { user: id, account }) =>
    server.with(id, (user) => {
      user.account = account;
      if (account === undefined) user.modes.delete('r');
      else user.modes.add('r');
      for (const client of server.acquaintances(user))
        if (client.has('account-notify')) server.tell(client, user, 'ACCOUNT', account ?? '*');
    }),
  host: (server, { user: id, host }) =>
    server.with(id, (user) => {
      user.host = host;
      user.client?.numeric('396', host, 'is now your displayed host');
    }),
  'user mode': (server, { user: id, letter, isSet }) =>
    server.with(id, (user) => {
      if (isSet) user.modes.add(letter);
      else user.modes.delete(letter);
    }),
};
