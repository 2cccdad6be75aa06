import { casefold, isNick } from '../../streams/irc-grammar.js';
import { type Enforcement, hostOf } from '../../streams/moderation/index.js';
import type { IrcLine } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { limitsOf, moderationIn } from './bans.js';
import { holderOf } from './holder.js';
import type { Ours } from './options.js';

/**
 * Where an offender is now: under the known nick, under another one in the channel, or nowhere to be found.
 */
export type Whereabouts = { is: 'there'; nick: string } | { is: 'operator' } | { is: 'gone'; error: string };

/** Somebody in a channel, as WHO shows them. */
interface Present {
  nick: string;
  user: string;
  host: string;
  account: string | undefined;
  isOperator: boolean;
}

/** Finds the person who is meant. Somebody else who has the nick by now is left alone. */
export async function find(session: Session, wanted: Enforcement): Promise<Whereabouts> {
  const { lines } = await session.ask('WHOIS', wanted.nick);
  const shown = lines.find(({ command }) => command === '311');
  if (shown && isThem(session, wanted, { lines, shown })) {
    if (lines.some(({ command }) => command === '313')) return { is: 'operator' };
    return { is: 'there', nick: wanted.nick };
  }
  // one person with another nick now; if there are several candidates, nobody can tell
  const renamed = (await presentIn(session, wanted.channel)).filter((one) => isSame(wanted, one));
  if (renamed.length !== 1)
    return { is: 'gone', error: shown ? 'The nick is somebody else’s now' : 'No such nick' };
  const [{ nick, isOperator }] = renamed as [Present];
  return isOperator ? { is: 'operator' } : { is: 'there', nick };
}

/**
 * The mask of an offender: their account, or everybody at their host who is not identified. Some networks
 * cannot tell these apart. There the mask is the host, narrowed as needed to spare identified people.
 */
export async function maskOf(session: Session, wanted: Enforcement): Promise<string> {
  const { extended } = await limitsOf(session);
  const { nick, host, account, channel, sparing = [] } = wanted;
  if (account !== undefined && extended.includes('R')) return `R:${account}`;
  if (host === undefined) return `${nick}!*@*`;
  const atHost = `*!${wanted.thisUser ? userOf(host) : '*'}@${hostOf(host)}`;
  if (account === undefined && extended.includes('U')) return `U:${atHost}`;
  const spared = new Set(sparing.map(casefold));
  const neighbours = (await presentIn(session, channel)).filter(
    (one) =>
      hostOf(one.host) === hostOf(host) &&
      !isSame(wanted, one) &&
      (one.account !== undefined || spared.has(casefold(one.nick))),
  );
  if (neighbours.length === 0) return atHost;
  const user = userOf(host);
  const isUsers = neighbours.some((one) => casefold(one.user) === casefold(user));
  return `${isUsers ? nick : '*'}!${user}@${hostOf(host)}`;
}

/** The nicks in a channel that moderation has muted there, unless they have voice. */
export async function mutedAmong(
  session: Session,
  channel: string,
  nicks: readonly string[],
  ours: Pick<Ours, 'masksIn'>,
): Promise<string[]> {
  const { mutes } = await moderationIn(session, channel, ours);
  if (mutes.length === 0) return [];
  const wanted = new Set(nicks.map(casefold));
  const there = (await presentIn(session, channel)).filter(({ nick }) => wanted.has(casefold(nick)));
  return there.filter((one) => mutes.some((mask) => hits(mask, one))).map(({ nick }) => nick);
}

/** The nicks on the network that moderation keeps out of a channel. */
export async function bannedAmong(
  session: Session,
  channel: string,
  nicks: readonly string[],
  ours: Pick<Ours, 'masksIn'>,
): Promise<string[]> {
  const { bans } = await moderationIn(session, channel, ours);
  const banned: string[] = [];
  for (const nick of bans.length > 0 ? nicks.filter(isNick) : []) {
    const holder = await holderOf(session, nick);
    if (!holder) continue;
    const [user = '', host = ''] = holder.host.split('@');
    const one = { nick, user, host, account: holder.account ?? undefined };
    if (bans.some((mask) => hits(mask, one))) banned.push(nick);
  }
  return banned;
}

/** Whether a mask made by `maskOf` matches somebody. That of an IPv6 address names its network. */
function hits(mask: string, { nick, user, host, account }: Omit<Present, 'isOperator'>): boolean {
  if (mask.startsWith('R:')) return account !== undefined && casefold(account) === casefold(mask.slice(2));
  if (mask.startsWith('U:') && account !== undefined) return false;
  const parts = casefold(mask.replace(/^U:/, '')).split(/[!@]/);
  return [nick, user, hostOf(host)].every((part, n) => parts[n] === '*' || parts[n] === casefold(part));
}

function isThem(
  session: Session,
  { host, account }: Enforcement,
  {
    lines,
    shown: {
      params: [, , user = '', host_ = ''],
    },
  }: { lines: readonly IrcLine[]; shown: IrcLine },
): boolean {
  if (host !== undefined && casefold(host) !== casefold(`${user}@${host_}`)) return false;
  // without tags a line says nothing about accounts
  if (!session.tagsAccounts) return true;
  const now = lines.find(({ command }) => command === '330')?.params[2];
  return casefold(now ?? '') === casefold(account ?? '');
}

/**
 * Whether somebody in a channel is the person who is meant: of the same account, or of none and the same
 * user.
 */
function isSame({ host, account }: Enforcement, one: Present): boolean {
  if (account !== undefined) return one.account !== undefined && casefold(one.account) === casefold(account);
  return (
    host !== undefined && one.account === undefined && casefold(host) === casefold(`${one.user}@${one.host}`)
  );
}

const userOf = (host: string): string => host.slice(0, Math.max(0, host.lastIndexOf('@'))) || '*';

const token = '16';

/** The people in a channel; empty if the server does not tell their accounts. */
async function presentIn(session: Session, channel: string): Promise<Present[]> {
  if (!(await limitsOf(session)).whox) return [];
  const { lines } = await session.ask('WHO', channel, `%tuhnfa,${token}`);
  return lines
    .filter(({ command, params }) => command === '354' && params[1] === token)
    .map(({ params: [, , user = '', host = '', nick = '', flags = '', account = '0'] }) => ({
      user,
      host,
      nick,
      isOperator: flags.includes('*'),
      account: account === '0' ? undefined : account,
    }));
}
