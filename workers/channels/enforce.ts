import { casefold, isChannel, isNick } from '../../streams/irc-grammar.js';
import type { Enforced, Enforcement } from '../../streams/moderation/index.js';
import { type IrcLine, textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { extendedBans, lift, setBan } from './bans.js';
import { membersOf, modesOf } from './lookups.js';

const failed = (error: string): Enforced => ({ is: 'failed', error });

/** Acts against somebody in a channel, or takes that back. Operators of network and channel are spared. */
export async function enforce(session: Session, wanted: Enforcement): Promise<Enforced> {
  const { act, channel, nick } = wanted;
  if (!isChannel(channel) || !isNick(nick)) return failed('Not a channel and a nick');
  if (act === 'unban' || act === 'unquiet') return await takeBack(session, wanted);
  const who = await whoIs(session, wanted);
  if (who === 'operator') return { is: 'spared' };
  const member = (await membersOf(session, channel)).get(casefold(nick));
  if (who === 'there' && member?.op) return { is: 'spared' };
  switch (act) {
    case 'notice':
      return who === 'there' ? await tell(session, wanted) : failed(who);
    case 'kick':
      return who === 'there' ? await kick(session, wanted) : failed(who);
    case 'quiet':
      return await quiet(session, wanted, member !== undefined && who === 'there');
    case 'ban': {
      const mask = await maskOf(session, wanted, '');
      const error = await setBan(session, channel, mask);
      // whoever cannot be kept out is put out all the same
      const kicked = who === 'there' && member ? await kick(session, wanted) : undefined;
      if (error) return failed(kicked?.is === 'done' ? `Kicked, but not banned: ${error}` : error);
      return { is: 'done', mask };
    }
  }
}

/** Whether they are there and no operator of the network; else why not, in words. */
async function whoIs(session: Session, { nick, host }: Enforcement): Promise<string | 'there' | 'operator'> {
  const { lines } = await session.ask('WHOIS', nick);
  const shown = lines.find(({ command }) => command === '311');
  if (!shown) return 'No such nick';
  const [, , user = '', shownHost = ''] = shown.params;
  if (host !== undefined && casefold(host) !== casefold(`${user}@${shownHost}`))
    return 'The nick is somebody else’s now';
  return lines.some(({ command }) => command === '313') ? 'operator' : 'there';
}

async function tell(session: Session, { nick, text }: Enforcement): Promise<Enforced> {
  const { error } = await session.ask('NOTICE', nick, text);
  return error ? failed(error.text) : { is: 'done' };
}

async function kick(session: Session, { channel, nick, text }: Enforcement): Promise<Enforced> {
  const { lines, error } = await session.ask('SAKICK', channel, nick, text);
  if (error) return failed(error.text);
  if (!(await membersOf(session, channel)).has(casefold(nick))) return { is: 'done' };
  return failed(wordsOf(lines));
}

/** Nobody without a voice speaks in a +m channel: there the voice goes. Elsewhere a mask keeps them from speaking. */
async function quiet(session: Session, wanted: Enforcement, isThere: boolean): Promise<Enforced> {
  const { channel, nick } = wanted;
  if ((await modesOf(session, channel)).has('m')) {
    if (!isThere) return { is: 'done' };
    const { error } = await session.ask('SAMODE', channel, '-v', nick);
    const still = (await membersOf(session, channel)).get(casefold(nick))?.voice;
    if (error || still) return failed(error?.text ?? 'The network did not carry it out');
    await tell(session, wanted);
    return { is: 'done' };
  }
  if (!(await extendedBans(session)).includes('m')) return failed('The network cannot mute');
  const mask = await maskOf(session, wanted, 'm:');
  const error = await setBan(session, channel, mask);
  if (error) return failed(error);
  if (isThere) await tell(session, wanted);
  return { is: 'done', mask };
}

async function takeBack(session: Session, { act, channel, nick, mask }: Enforcement): Promise<Enforced> {
  if (mask !== undefined) {
    const error = await lift(session, channel, mask);
    return error ? failed(error) : { is: 'done', mask };
  }
  // who has left has no voice to be given back, and a channel that is gone has no bans
  if (act === 'unquiet' && (await membersOf(session, channel)).has(casefold(nick))) {
    const { error } = await session.ask('SAMODE', channel, '+v', nick);
    if (error) return failed(error.text);
  }
  return { is: 'done' };
}

/** Who is meant: the account where the network knows them by it, else the nick at its host. */
async function maskOf(session: Session, { nick, host, account }: Enforcement, kind: string): Promise<string> {
  if (account !== undefined && (await extendedBans(session)).includes('R')) return `${kind}R:${account}`;
  return `${kind}${nick}!*@${host?.slice(host.lastIndexOf('@') + 1) ?? '*'}`;
}

function wordsOf(lines: readonly IrcLine[]): string {
  const notice = lines.find(({ command }) => command === 'NOTICE');
  return notice ? textOf(notice).replace(/^\*+ */, '') : 'The network did not carry it out';
}
