import { type IrcLine, textOf } from './line.js';
import type { Session } from './session.js';

/** How many users and channels a network has, those that nobody is shown with them. */
export interface NetworkSize {
  users: number;
  channels: number;
  /** Servers, with those of services; `undefined` where it does not tell. */
  servers: number | undefined;
}

/** The size of the whole network by the server's own word (LUSERS); `undefined` where it does not tell. */
export async function networkSize(session: Session): Promise<NetworkSize | undefined> {
  const answer = await session.command('LUSERS');
  if (answer.is !== 'answered') return undefined;
  const told = (numeric: string) => answer.lines.find(({ command }) => command === numeric);
  // 266 has the present number in front of the highest one; 251 those that are seen and those that are not
  const [now] = numbersIn(told('266'));
  const [seen = 0, unseen = 0, servers] = numbersIn(told('251'));
  const users = now ?? seen + unseen;
  // no channels are not told of, and whoever asks is a user
  return users > 0 ? { users, channels: Number(told('254')?.params[1] ?? 0), servers } : undefined;
}

function numbersIn(line: IrcLine | undefined): number[] {
  return line ? [...textOf(line).matchAll(/\d+/g)].map(Number) : [];
}
