import type { Session } from '../irc/session.js';

/** A session that nobody hears of any more: the nick that it has, and the host that it comes from. */
export interface Superseded {
  nick: string;
  host: string;
}

/** Ends the session that has a nick, if it comes from this host; whether it did. */
export async function supersede(session: Session, { nick, host }: Superseded): Promise<boolean> {
  const { lines } = await session.ask('WHOIS', nick);
  const shown = lines.find(({ command }) => command === '311');
  if (shown?.params[3] !== host) return false;
  return (await session.ask('KILL', nick, 'Superseded by a newer session')).error === null;
}
