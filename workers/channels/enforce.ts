import { casefold, isChannel, isNick } from '../../streams/irc-grammar.js';
import type { Enforced, Enforcement } from '../../streams/moderation/index.js';
import { type IrcLine, textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { except, lift, limitsOf, setBan } from './bans.js';
import { type Member, membersOf, modesOf } from './lookups.js';
import { find, maskOf, type Whereabouts } from './offenders.js';

const failed = (error: string): Enforced => ({ is: 'failed', error });
const notDone = 'The network did not carry it out';

/**
 * Acts against somebody in a channel, or takes an action back. Operators of network and channel are spared.
 */
export async function enforce(session: Session, wanted: Enforcement): Promise<Enforced> {
  const { act, channel } = wanted;
  if (!isChannel(channel) || !isNick(wanted.nick)) return failed('Not a channel and a nick');
  if (act === 'unban' || act === 'unquiet') return await takeBack(session, wanted);
  const found = await find(session, wanted);
  if (found.is === 'operator') return { is: 'spared' };
  // if nobody is where they were, only their mask is acted against
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
      // somebody who cannot be kept out is still kicked
      const kicked = member ? await kick(session, there!) : undefined;
      if (error) return failed(kicked?.is === 'done' ? `Kicked, but not banned: ${error}` : error);
      return { is: 'done', mask };
    }
  }
}

const errorOf = (found: Whereabouts): string => (found.is === 'gone' ? found.error : '');

/** Sets a mask that spares our bots. Answers the reason if that is impossible. */
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
 * A mask keeps them from speaking, whatever happens to the modes of the channel. Voice overrides a mask, so
 * it is taken too. Where the server cannot mute, taking voice is all that can be done; in a channel that is
 * +m, it is enough.
 */
async function quiet(session: Session, wanted: Enforcement, member: Member | undefined): Promise<Enforced> {
  const { channel, nick } = wanted;
  const isSilent = (await modesOf(session, channel)).has('m');
  if (member && (isSilent || member.voice)) {
    const { error } = await session.ask('SAMODE', channel, '-v', nick);
    const still = (await membersOf(session, channel)).get(casefold(nick))?.voice;
    if (error || still) return failed(error?.text ?? notDone);
  }
  const canMute = (await limitsOf(session)).extended.includes('m');
  const mask = `m:${await maskOf(session, wanted)}`;
  const error = canMute ? await ban(session, wanted, mask) : 'The network cannot mute';
  if (error && !isSilent) return failed(error);
  if (member) await tell(session, wanted);
  if (error) return { is: 'done' };
  // in a +m channel they had voice to speak with, even if an earlier mute has taken it
  return { is: 'done', mask, ...(member && (isSilent || member.voice) ? { voice: true } : {}) };
}

async function takeBack(session: Session, wanted: Enforcement): Promise<Enforced> {
  const { act, channel, unless, voice } = wanted;
  const mask = wanted.mask ?? (unless && (await maskToLift(session, wanted, unless)));
  if (mask !== undefined) {
    const error = await lift(session, channel, mask);
    if (error) return failed(error);
  }
  // somebody who has left cannot get voice back, and a channel that is gone has no bans
  const isVoice = act === 'unquiet' && (voice || (mask === undefined && !unless));
  const found = isVoice ? await find(session, wanted) : undefined;
  if (found?.is === 'there' && (await membersOf(session, channel)).has(casefold(found.nick))) {
    const { error } = await session.ask('SAMODE', channel, '+v', found.nick);
    if (error) return failed(error.text);
  }
  return { is: 'done', ...(mask === undefined ? {} : { mask }) };
}

/** The mask that an action would have set, unless one in force needs it. */
async function maskToLift(
  session: Session,
  wanted: Enforcement,
  unless: readonly string[],
): Promise<string | undefined> {
  const mask = `${wanted.act === 'unquiet' ? 'm:' : ''}${await maskOf(session, wanted)}`;
  return unless.includes(mask) ? undefined : mask;
}

function wordsOf(lines: readonly IrcLine[]): string {
  const notice = lines.find(({ command }) => command === 'NOTICE');
  return notice ? textOf(notice).replace(/^\*+ */, '') : notDone;
}
