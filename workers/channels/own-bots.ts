import type { MemberAction } from '../../streams/channels/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { Session } from '../irc/session.js';

/** What would leave a bot without a channel, or without its voice there. */
const harmful: readonly MemberAction[] = ['sapart', 'devoice', 'deop'];

/** Says why an action is not for a nick because that is one of our own bots; `undefined` where it may be done. */
export function botGuard(
  session: Pick<Session, 'nick'>,
  bots: readonly string[],
): (action: MemberAction, nick: string) => string | undefined {
  const ours = new Set([session.nick, ...bots].map(casefold));
  return (action, nick) =>
    harmful.includes(action) && ours.has(casefold(nick))
      ? 'A bot of this service, without which nothing is shown or recorded there: it stays as it is'
      : undefined;
}
