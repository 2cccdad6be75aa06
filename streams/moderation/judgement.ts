import { type Action, type Level, levels } from './facts.js';
import type { Score } from './score.js';

/** From how many points on each level holds, in the order of the levels. */
export type Thresholds = readonly [log: number, warn: number, mute: number, kick: number, ban: number];

/** The contract's thresholds. */
export const usualThresholds: Thresholds = [20, 40, 60, 80, 95];

/** An earlier incident of the same person, WARN or worse and not pardoned; `at` is when it was said, in milliseconds. */
export interface Earlier {
  at: number;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** For each earlier incident of a day a text counts that much more, up to a bound. */
const raise = { each: 10, most: 50 };
const quietSeconds = 600;
const firstBanSeconds = 3_600;
const longestBanSeconds = 30 * 24 * 3_600;
/** Bans that are older make the next one no longer. */
export const banMemoryMs = 30 * day;

/** How people are judged, for texts that tell them. */
export const judgementTerms = {
  raise,
  /** Something before within this time may lead to a kick. */
  kickMs: 10 * minute,
  /** Two within this time may lead to a ban. */
  banMs: day,
  quietSeconds,
  firstBanSeconds,
  banMemoryMs,
} as const;

/** Mutes of loops that are older make the next one no longer. */
export const loopMemoryMs = day;
const longestLoopSeconds = 24 * 3_600;

/** The level of a number of points; `undefined` below all of them. */
export function levelOf(score: number, thresholds: Thresholds): Level | undefined {
  return levels[thresholds.findLastIndex((threshold) => score >= threshold)];
}

/**
 * Points and level of a text, given what its author did before; `undefined` when it is no incident. A single line is
 * at most a MUTE, or a KICK where it was encoded or is about money. A second incident within ten minutes may be a KICK,
 * a third one within a day a BAN.
 */
export function judge(
  { score, encoded, money }: Score,
  earlier: readonly Earlier[],
  at: number,
  thresholds: Thresholds,
): { score: number; level: Level } | undefined {
  const inDay = earlier.filter((one) => Math.abs(at - one.at) < judgementTerms.banMs).length;
  const inMinutes = earlier.filter((one) => Math.abs(at - one.at) < judgementTerms.kickMs).length;
  const raised =
    score >= thresholds[1] ? Math.min(100, score + Math.min(raise.most, raise.each * inDay)) : score;
  const level = levelOf(raised, thresholds);
  if (level === undefined) return undefined;
  const highest: Level = inDay >= 2 ? 'BAN' : inMinutes >= 1 || encoded || money ? 'KICK' : 'MUTE';
  return { score: raised, level: levels[Math.min(levels.indexOf(level), levels.indexOf(highest))]! };
}

/** What a level asks for on the network, and for how many seconds; `bans` is how many there were of late. */
export function sentenceOf(level: Level, bans: number): { action: Action; seconds?: number } {
  switch (level) {
    case 'LOG':
      return { action: 'none' };
    case 'WARN':
      return { action: 'notice' };
    case 'MUTE':
      return { action: 'quiet', seconds: quietSeconds };
    case 'KICK':
      return { action: 'kick' };
    case 'BAN':
      return { action: 'ban', seconds: Math.min(longestBanSeconds, firstBanSeconds * 2 ** bans) };
  }
}

/** What a loop asks for; a mute lasts so many minutes, twice as long for each of a number of earlier ones. */
export function loopSentence(
  level: 'WARN' | 'MUTE',
  minutes: number,
  mutes: number,
): { action: Action; seconds?: number } {
  if (level === 'WARN') return { action: 'notice' };
  return { action: 'quiet', seconds: Math.min(longestLoopSeconds, minutes * 60 * 2 ** mutes) };
}
