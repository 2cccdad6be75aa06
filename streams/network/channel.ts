import { casefold, isPrivate } from '../irc-grammar.js';
import type { IrcFact, LineSighting, Sighting } from './facts.js';

/**
 * Subject of a channel: what was seen there keeps its order. An observer that does not know the last fact of
 * the subject must not add to it. Names that are not plain tokens become `~` and their base64url.
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

/**
 * Whether a channel is closed to the public after something was seen there. `before` says whether it was
 * closed before.
 */
export function closedAfter<Before extends boolean | undefined>(
  sighting: Sighting,
  before: Before,
): Before | boolean {
  return sighting.is === 'mode' || sighting.is === 'snapshot' ? isPrivate(sighting.modes) : before;
}

/**
 * Whether each sighting of a fact was made while the channel was closed to the public. Lines of older facts
 * do not say so: for them, the last modes seen decide, and `before` as long as none were seen.
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

/** The permanent id of a line: the sequence of its fact, and its index in it. */
export function lineId(seq: number, index: number): string {
  return `${seq}-${index}`;
}

/** Splits the id of a line; `undefined` for any other text. */
export function parseLineId(id: string): { seq: number; index: number } | undefined {
  const match = /^(\d{1,15})-(\d{1,6})$/.exec(id);
  return match ? { seq: Number(match[1]), index: Number(match[2]) } : undefined;
}
