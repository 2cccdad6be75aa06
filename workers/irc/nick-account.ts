import { casefold } from '../../streams/irc-grammar.js';
import { identified } from './identified.js';
import type { IrcLine } from './line.js';
import type { Session } from './session.js';

/** The answer to somebody who is not known to `isIdentified`. */
export const notIdentified =
  'The nick service does not know you by this nick: identify with it first, for the account of this name';

/**
 * Whether the sender of a message was identified with the nick service for the very nick that the message
 * came from. That is so if the account on the message has the name of the nick.
 *
 * A server may call a nick registered (307), but next to an account of another name that is not enough.
 * Services give the mark to a user and not to a nick. So somebody who logs in and takes another nick before
 * the mark arrives keeps it there (Anope 2.0 on InspIRCd 3). Therefore a nick that is grouped under an
 * account counts only if it is the account's own name. Servers that put no accounts on messages are asked.
 */
export async function isIdentified(session: Session, { nick, tags }: IrcLine): Promise<boolean> {
  const isNick = (account: string | undefined) =>
    account !== undefined && casefold(account) === casefold(nick);
  if (session.tagsAccounts) return !session.isAmbiguous(nick) && isNick(tags.account);
  const answer = await identified(session, nick);
  return answer.is === 'identified' && isNick(answer.account);
}
