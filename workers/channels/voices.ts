import { modeFlags } from '../../streams/channels/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { IrcLine } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import type { Members } from './lookups.js';

/** The channels where nobody without a voice speaks (+m). */
const silent = new WeakMap<Session, Set<string>>();

/**
 * Notes whether a channel should be silent (+m): each of our bots gets voice there when it comes in. Note
 * this before you read the members: a bot that comes in between would stay without voice.
 */
export function noteSilence(session: Session, channel: string, isSilent: boolean): void {
  const names = silent.get(session) ?? new Set();
  silent.set(session, names);
  if (isSilent) names.add(casefold(channel));
  else names.delete(casefold(channel));
}

/** Whether a channel is silent, as far as is noted now. */
export function isSilent(session: Session, channel: string): boolean {
  return silent.get(session)?.has(casefold(channel)) ?? false;
}

/** Reads a line from the server: one of our bots may have come into a silent channel. */
export function voiceWhoCame(session: Session, line: IrcLine, bots: readonly string[]): void {
  const { command, nick, params } = line;
  const [channel = ''] = params;
  if (command !== 'JOIN' || !isSilent(session, channel)) return;
  if (!bots.some((bot) => casefold(bot) === casefold(nick))) return;
  session.ask('SAMODE', channel, '+v', nick).catch(() => undefined); // the next session begins again
}

/** Our bots in a channel that +m would silence. */
export function voiceless(members: Members, bots: readonly string[]): string[] {
  return bots.flatMap((bot) => {
    const member = members.get(casefold(bot));
    return member && !member.op && !member.voice ? [member.nick] : [];
  });
}

/** Gives our bots voice in a channel that is +m for all others. */
export async function voiceBots(
  session: Session,
  { name, modes }: { name: string; modes: string },
  members: Members,
  bots: readonly string[],
): Promise<void> {
  if (!modeFlags(modes).has('m')) return;
  await Promise.all(voiceless(members, bots).map((bot) => session.ask('SAMODE', name, '+v', bot)));
}
