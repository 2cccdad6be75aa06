import { type FloorAnswer, type FloorState, lapsesAt } from '../../streams/floor/index.js';
import { casefold } from '../../streams/irc-grammar.js';

/** What a channel is told when the floor has passed to somebody, or is free. */
export function announcement({ holder, queue }: FloorState): string {
  if (!holder) return 'The floor is free: /floor asks for it';
  const waiting = queue.length > 0 ? `; ${queue.length} wait` : '';
  return `${holder.nick} has the floor until ${timeOf(lapsesAt(holder))}${waiting}`;
}

/** So many of those who wait are named; the route of the floor has all. */
const mostNamed = 5;

/**
 * What who asked something of a floor is told in private. Several lines may be recorded at once: what is not so any more
 * after them is not told. `undefined` then, and where the channel is told.
 */
export function answerOf({ to, is }: FloorAnswer, channel: string, state: FloorState): string | undefined {
  const { holder, queue, opener } = state;
  const isTheirs = ({ nick }: { nick: string }) => casefold(nick) === casefold(to);
  const place = queue.findIndex(isTheirs) + 1;
  const held = holder && isTheirs(holder) ? holder : undefined;
  switch (is) {
    case 'got it':
      return held
        ? `You have the floor of ${channel} until ${timeOf(lapsesAt(held))}. A line of yours makes it last. /floor done passes it on`
        : undefined;
    case 'has it':
      return held ? `You have the floor of ${channel}. /floor done passes it on` : undefined;
    case 'waits':
      return place > 0
        ? `You are number ${place} of ${queue.length} who wait for the floor of ${channel}. /floor done gives the place up`
        : undefined;
    case 'full':
      return `Too many wait for the floor of ${channel}, of all or of you: ask again later`;
    case 'passed on':
      return undefined;
    case 'left the queue':
      return `You wait for the floor of ${channel} no more`;
    case 'no place':
      return `You neither have the floor of ${channel} nor wait for it`;
    case 'opened':
      return `You have opened the floor of ${channel}: /floor next passes it on, /floor close ends it`;
    case 'closed':
      return `The floor of ${channel} is closed: nobody has it, and nobody waits`;
    case 'not theirs':
      return `Only ${opener ? `${opener.nick}, who opened the floor,` : 'who opened the floor'} and operators of ${channel} may do that`;
    case 'status':
      return `${channel}: ${announcement(state)}${holder && queue.length > 0 ? `: ${namesOf(queue)}` : ''}`;
    case 'unknown':
      return '/floor asks for the floor. /floor done | status | open | close | next';
  }
}

function namesOf(queue: FloorState['queue']): string {
  const named = queue.slice(0, mostNamed).map(({ nick }) => nick);
  const more = queue.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `12:00:30 UTC` */
const timeOf = (at: number): string => `${new Date(at).toISOString().slice(11, 19)} UTC`;
