import type { LineSighting, Sighting } from '../../streams/network/index.js';
import { isKept } from './room.js';

/** What is known when a channel is entered again; times in milliseconds since 1970. */
export interface CatchUp {
  /** The last recorded line, of those that a history keeps. */
  known: { at: number; msgid?: string | undefined } | undefined;
  /** Time of the last recorded sighting; `undefined` if the channel was never recorded before. */
  recordedUntil: number | undefined;
  /** Until when everything was seen. */
  seenUntil: number;
  /** Whether this recorder saw it: an earlier one may have ended before all that it saw was on the log. */
  isSure: boolean;
  /** Since when the server has been running, and with it its histories; `undefined` if it does not tell. */
  upSince: number | undefined;
  /** The channel's history; null without one. */
  history: { lines: LineSighting[]; reachesBack: number } | null;
  now: number;
}

/** Histories and the server's uptime have whole seconds. */
const second = 1_000;
const uptimeSlackMs = 2 * second;

/**
 * What was missed, as far as the channel's history tells. If it does not tell everything, a gap comes first.
 * If the history holds the last recorded line, it is whole. Otherwise it must reach back far enough.
 */
export function catchUp(of: CatchUp): Sighting[] {
  const { known, recordedUntil, seenUntil, isSure, upSince, history, now } = of;
  if (recordedUntil === undefined) return history?.lines ?? [];
  const gapUpTo = (to: number, isSeen: boolean): Sighting[] => {
    const isDue = to > (isSeen ? seenUntil : recordedUntil);
    return isDue ? [{ is: 'gap', at: now, from: isSeen && isSure ? seenUntil : recordedUntil, to }] : [];
  };
  if (!history) return gapUpTo(now, true);
  const { lines, reachesBack } = history;
  const index = known?.msgid ? lines.findLastIndex(({ msgid }) => msgid === known.msgid) : -1;
  if (index >= 0) return lines.slice(index + 1);
  const from = known ? Math.floor(known.at / second) * second : Number.NEGATIVE_INFINITY;
  const missed = lines.filter(({ at }) => at >= from);
  const whole = Math.max(reachesBack, upSince === undefined ? now : upSince + uptimeSlackMs);
  // an older line that is not recorded shows that not everything was seen until then
  const isSeen = missed.every(({ at }) => at + second > seenUntil);
  return [...gapUpTo(Math.min(whole, now), isSeen), ...missed];
}

/**
 * How far a history reaches back: to its oldest line if it is full, else for as long as it keeps lines. A
 * line dropped from a full history may have been said in the very second of its oldest line. `bounds` is the parameter
 * of the history's mode, `<lines>:<time>`.
 */
export function reachOf(bounds: string | undefined, oldestOfFull: Date | null, now: number): number {
  const [, time = ''] = bounds?.split(':') ?? [];
  const units: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800, y: 31_536_000 };
  let seconds = 0;
  for (const [, count, unit = 's'] of time.matchAll(/(\d+)([a-z]?)/g)) {
    seconds += Number(count) * (units[unit || 's'] ?? 1);
  }
  // a time of 0, or none, is no bound
  const kept = seconds > 0 ? now - seconds * second : 0;
  return Math.max(kept, oldestOfFull ? oldestOfFull.getTime() + second : 0);
}

/** The last of these lines that a history keeps. */
export function lastKept(seen: readonly Sighting[]): LineSighting | undefined {
  return seen.findLast((sighting): sighting is LineSighting => 'msgid' in sighting && isKept(sighting));
}
