import { modeFlags } from '../../streams/channels/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { IrcLine } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import type { Members } from './lookups.js';

/**
 * Our bots that get a voice in a silent channel as soon as they are in it: who is forced in on another server is there
 * after the answer.
 */
const expected = new WeakMap<Session, Set<string>>();

const keyOf = (channel: string, nick: string): string => `${casefold(channel)} ${casefold(nick)}`;

/** Has one of our bots get its voice when it comes into a channel. */
export function expectVoice(session: Session, channel: string, nick: string): void {
  const keys = expected.get(session) ?? new Set();
  expected.set(session, keys.add(keyOf(channel, nick)));
}

/** Takes note of a line from the server: one of our bots may have come. */
export function voiceWhoCame(session: Session, { command, nick, params: [channel = ''] }: IrcLine): void {
  if (command !== 'JOIN' || !expected.get(session)?.delete(keyOf(channel, nick))) return;
  session.ask('SAMODE', channel, '+v', nick).catch(() => undefined); // the next session begins anew
}

/** Those of our bots in a channel whom +m would silence; the others are waited for. */
export function voiceless(
  session: Session,
  { name, members, bots }: { name: string; members: Members; bots: readonly string[] },
): string[] {
  return bots.flatMap((bot) => {
    const member = members.get(casefold(bot));
    if (!member) expectVoice(session, name, bot);
    return member && !member.op && !member.voice ? [member.nick] : [];
  });
}

/** Gives our bots a voice in a channel where nobody else has one. */
export async function voiceBots(
  session: Session,
  { name, modes }: { name: string; modes: string },
  members: Members,
  bots: readonly string[],
): Promise<void> {
  if (!modeFlags(modes).has('m')) return;
  const silenced = voiceless(session, { name, members, bots });
  await Promise.all(silenced.map((bot) => session.ask('SAMODE', name, '+v', bot)));
}
