import { casefold } from '../../streams/irc-grammar.js';
import type { Session } from '../irc/session.js';
import type { Holder } from './requests.js';

/** Who has a nick on the network now; `undefined` if nobody has it. */
export async function holderOf(session: Session, nick: string): Promise<Holder | undefined> {
  const { lines } = await session.ask('WHOIS', nick);
  const said = (command: string) => lines.find((line) => line.command === command)?.params;
  const shown = said('311');
  if (!shown) return undefined;
  return { account: said('330')?.[2] ?? null, host: `${shown[2] ?? ''}@${shown[3] ?? ''}` };
}

/**
 * Whether somebody is the person who is meant: of the same account, or from the same host if that one was not
 * identified. Somebody who was not identified may be so by now.
 */
export function isHolder(meant: Holder, one: Holder): boolean {
  if (meant.account === null) return casefold(meant.host) === casefold(one.host);
  return one.account !== null && casefold(meant.account) === casefold(one.account);
}
