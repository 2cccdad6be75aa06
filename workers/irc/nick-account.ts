import { casefold } from '../../streams/irc-grammar.js';
import { identified } from './identified.js';
import type { IrcLine } from './line.js';
import type { Session } from './session.js';

/**
 * Whether the sender of a message was identified with the nick service for the very nick the message came from: whether
 * the account that the server put on the message has the nick's name. That a server calls a nick registered (307) is not
 * enough beside an account of another name: services give the mark to a user and not to a nick, so whoever logs in
 * and takes another nick before the mark arrives keeps it there (Anope 2.0 on InspIRCd 3). Nicks that are grouped under
 * an account therefore count with none but the account's own. Servers that put no accounts on messages are asked.
 */
export async function isIdentified(session: Session, { nick, tags }: IrcLine): Promise<boolean> {
  const isNick = (account: string | undefined) =>
    account !== undefined && casefold(account) === casefold(nick);
  if (session.tagsAccounts) return isNick(tags.account);
  const answer = await identified(session, nick);
  return answer.is === 'identified' && isNick(answer.account);
}
