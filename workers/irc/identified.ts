import { Unavailable } from '../../streams/core/index.js';
import { casefold, isNick } from '../../streams/irc-grammar.js';
import type { Session } from './session.js';

/** Whether a nick is the account's of who has it now; `away`: nobody has it. */
export type Identification =
  | { is: 'identified'; account: string }
  | { is: 'not identified' }
  | { is: 'away' };

/**
 * Whether whoever has a nick now has shown the nick service that it is theirs: the server calls the nick registered
 * (307), or the account has the nick's name. An account alone is not enough: it stays with a user who takes another
 * nick. Nobody is known by a nick that two people of the network may have. Throws `irc_unavailable` when the network does not answer.
 */
export async function identified(session: Session, nick: string): Promise<Identification> {
  if (!isNick(nick)) return { is: 'away' };
  if (session.isAmbiguous(nick)) return { is: 'not identified' };
  const answer = await session.command('WHOIS', nick);
  if (answer.is !== 'answered') throw new Unavailable('irc_unavailable', 'IRC does not answer');
  const said = (command: string) => answer.lines.find((line) => line.command === command)?.params;
  if (!said('311')) return { is: 'away' };
  const account = said('330')?.[2];
  const isTheirs =
    said('307') !== undefined || (account !== undefined && casefold(account) === casefold(nick));
  return isTheirs ? { is: 'identified', account: account ?? nick } : { is: 'not identified' };
}
