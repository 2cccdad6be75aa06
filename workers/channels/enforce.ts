import { casefold, isChannel, isNick } from '../../streams/irc-grammar.js';
import type { Enforced, Enforcement } from '../../streams/moderation/index.js';
import { type IrcLine, textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { except, lift, limitsOf, setBan } from './bans.js';
import { type Member, membersOf, modesOf } from './lookups.js';
import { find, maskOf, type Whereabouts } from './offenders.js';

const failed = (error: string): Enforced => ({ is: 'failed', error });

/** Acts against somebody in a channel, or takes that back. Operators of network and channel are spared. */
export async function enforce(session: Session, wanted: Enforcement): Promise<Enforced> {
  const { act, channel } = wanted;
  if (!isChannel(channel) || !isNick(wanted.nick)) return failed('Not a channel and a nick');
  if (act === 'unban' || act === 'unquiet') return await takeBack(session, wanted);
  const found = await find(session, wanted);
  if (found.is === 'operator') return { is: 'spared' };
  // nobody is where they were: they are acted against by their mask alone
  const there = found.is === 'there' ? { ...wanted, nick: found.nick } : undefined;
  const member = there && (await membersOf(session, channel)).get(casefold(there.nick));
  if (member?.op) return { is: 'spared' };
  switch (act) {
    case 'notice':
      return there ? await tell(session, there) : failed(errorOf(found));
    case 'kick':
      return there ? await kick(session, there) : failed(errorOf(found));
    case 'quiet':
      return await quiet(session, there ?? wanted, member);
    case 'ban': {
      const mask = await maskOf(session, wanted);
      const error = await ban(session, wanted, mask);
      // whoever cannot be kept out is put out all the same
      const kicked = member ? await kick(session, there!) : undefined;
      if (error) return failed(kicked?.is === 'done' ? `Kicked, but not banned: ${error}` : error);
      return { is: 'done', mask };
    }
  }
}

const errorOf = (found: Whereabouts): string => (found.is === 'gone' ? found.error : '');

/** Sets a mask that spares our bots; why not, if so. */
async function ban(
  session: Session,
  { channel, sparing = [] }: Enforcement,
  mask: string,
): Promise<string | undefined> {
  if (!/^(m:)?R:/.test(mask)) await except(session, channel, sparing);
  return await setBan(session, channel, mask);
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

/**
 * Nobody without a voice speaks in a +m channel: there the voice goes. Elsewhere a mask keeps them from speaking, which a
 * voice is heard over.
 */
async function quiet(session: Session, wanted: Enforcement, member: Member | undefined): Promise<Enforced> {
  const { channel, nick } = wanted;
  if ((await modesOf(session, channel)).has('m')) {
    if (!member) return { is: 'done' };
    const { error } = await session.ask('SAMODE', channel, '-v', nick);
    const still = (await membersOf(session, channel)).get(casefold(nick))?.voice;
    if (error || still) return failed(error?.text ?? 'The network did not carry it out');
    await tell(session, wanted);
    return { is: 'done' };
  }
  if (!(await limitsOf(session)).extended.includes('m')) return failed('The network cannot mute');
  const mask = `m:${await maskOf(session, wanted)}`;
  const error = await ban(session, wanted, mask);
  if (error) return failed(error);
  if (member?.voice) await session.ask('SAMODE', channel, '-v', nick);
  if (member) await tell(session, wanted);
  return { is: 'done', mask };
}

async function takeBack(session: Session, wanted: Enforcement): Promise<Enforced> {
  const { act, channel, mask } = wanted;
  if (mask !== undefined) {
    const error = await lift(session, channel, mask);
    return error ? failed(error) : { is: 'done', mask };
  }
  // who has left has no voice to be given back, and a channel that is gone has no bans
  const found = act === 'unquiet' ? await find(session, wanted) : undefined;
  if (found?.is === 'there' && (await membersOf(session, channel)).has(casefold(found.nick))) {
    const { error } = await session.ask('SAMODE', channel, '+v', found.nick);
    if (error) return failed(error.text);
  }
  return { is: 'done' };
}

function wordsOf(lines: readonly IrcLine[]): string {
  const notice = lines.find(({ command }) => command === 'NOTICE');
  return notice ? textOf(notice).replace(/^\*+ */, '') : 'The network did not carry it out';
}
