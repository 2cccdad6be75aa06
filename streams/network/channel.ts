import { casefold, isPrivate } from '../irc-grammar.js';
import type { IrcFact, LineSighting, Sighting } from './facts.js';

/**
 * Subject of a channel: what was seen there keeps its order, and an observer that does not know the last fact
 * of the subject is not the one to add to it. Names that are no plain token become `~` and their base64url.
 */
export function ircSubject(channel: string): string {
  const name = casefold(channel).slice(1);
  const token = /^[a-z0-9_-]{1,64}$/.test(name) ? name : `~${Buffer.from(name).toString('base64url')}`;
  return `irc.${token}`;
}

/** Whether something that was seen is a line of text. */
export function isLine(sighting: Sighting): sighting is LineSighting {
  return sighting.is === 'message' || sighting.is === 'action' || sighting.is === 'notice';
}

/** How many lines a fact holds. */
export function linesOf({ data }: IrcFact): number {
  return data.seen.reduce((sum, sighting) => sum + (isLine(sighting) ? 1 : 0), 0);
}

/** Whether a channel is closed to the public after something was seen there, if it was, or was not, before. */
export function closedAfter<Before extends boolean | undefined>(
  sighting: Sighting,
  before: Before,
): Before | boolean {
  return sighting.is === 'mode' || sighting.is === 'snapshot' ? isPrivate(sighting.modes) : before;
}

/**
 * Whether each thing of a fact was seen while the channel was closed to the public. Older facts do not say so of
 * their lines: there the modes that were seen last count, and `before` as long as none were seen.
 */
export function closedAt<Before extends boolean | undefined>(
  { data: { closed, seen } }: IrcFact,
  before: Before,
): (Before | boolean)[] {
  let now: Before | boolean = before;
  return seen.map((sighting) => {
    now = closedAfter(sighting, now);
    return closed !== undefined && isLine(sighting) ? sighting.private === true : now;
  });
}

/** The id of a line for ever: the sequence of its fact, and its place in it. */
export function lineId(seq: number, index: number): string {
  return `${seq}-${index}`;
}

/** Takes an id of a line apart; `undefined` when it is none. */
export function parseLineId(id: string): { seq: number; index: number } | undefined {
  const match = /^(\d{1,15})-(\d{1,6})$/.exec(id);
  return match ? { seq: Number(match[1]), index: Number(match[2]) } : undefined;
}
