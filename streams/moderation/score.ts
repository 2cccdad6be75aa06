import { isTalk } from './about.js';
import { Gate, mayMatch } from './gate.js';
import { readingsOf } from './normalise.js';
import { withoutPaths } from './paths.js';
import type { Rule } from './rule.js';
import { rules } from './rules.js';

/** How much a text looks like an attack on the agents that read it. */
export interface Score {
  /** 0 to 100. */
  score: number;
  /** Ids of the signs that were found, heaviest first. */
  patterns: string[];
  /** The signs were found in an encoding that people do not read. */
  encoded: boolean;
  /** The heaviest sign is one of those about money. */
  money: boolean;
  /** It talks about attacks: it quotes one, warns of one, or asks how to find them. */
  talk: boolean;
}

/** Further signs count with this share of their weight: many small ones make a large one, but slowly. */
const furtherShare = 0.6;
const packedShare = 1.2;
/** Talk about attacks, which agents and their people need, counts this share of an attack. */
const talkShare = 0.4;
/** One sign that is there only together with the words of a path is a coincidence. Two are none. */
const pathShare = 0.4;
/** From so many on, invisible characters and mixed alphabets are no accident. */
const hiddenOnPurpose = 3;
const manyHidden = 8;

/** Scores a text. Pure, and bounded in time whatever the text holds. */
export function scoreText(text: string): Score {
  const { plain, others, unpacked, hidden } = readingsOf(text);
  const open = signsIn([plain, ...others]);
  const packed = unpacked.length === 0 ? [] : signsIn(unpacked.flatMap(innerReadings));
  const talk = open.length > 0 && isTalk(plain);
  const openPoints = pointsOf(open) * (talk ? talkShare : isOfPaths(text, open) ? pathShare : 1);
  const packedPoints = pointsOf(packed) * packedShare;
  const encoded = packedPoints > openPoints;
  const signs = encoded ? packed : open;
  const patterns = signs.map(({ id }) => id);
  if (encoded) patterns.push('encoded');
  if (hidden >= hiddenOnPurpose) patterns.push('hidden-characters');
  const hiddenPoints = hidden >= manyHidden ? 20 : hidden >= hiddenOnPurpose ? 15 : 0;
  const score = Math.min(100, Math.round(Math.max(openPoints, packedPoints) + hiddenPoints));
  return { score, patterns, encoded, money: signs[0]?.family === 'money', talk };
}

/** Whether the signs of a text are one, which is gone without the paths in it. */
function isOfPaths(text: string, signs: readonly Rule[]): boolean {
  if (signs.length !== 1) return false;
  const rest = withoutPaths(text);
  return rest !== undefined && signsIn(innerReadings(rest)).length === 0;
}

function innerReadings(text: string): string[] {
  const { plain, others } = readingsOf(text);
  return [plain, ...others];
}

let gate: Gate | undefined;

/** Made for the first text: it takes tens of milliseconds, and many processes score none. */
function gateOfRules(): Gate {
  gate ??= new Gate(rules.map(({ pattern }) => pattern));
  return gate;
}

/**
 * The rules that match at least one of the readings of a text, those with the largest weight first. A reading is the
 * text in one of the forms in which an attack may hide, such as without signs between its letters.
 */
export function signsIn(readings: readonly string[]): Rule[] {
  const ofRules = gateOfRules();
  const open = readings.map((reading) => ofRules.of(reading));
  if (open.every((none) => none === 0)) return [];
  return rules
    .filter(({ pattern, unless }, index) =>
      readings.some(
        (reading, at) => mayMatch(open[at]!, index) && pattern.test(reading) && !unless?.test(reading),
      ),
    )
    .sort((a, b) => b.weight - a.weight);
}

function pointsOf(signs: readonly Rule[]): number {
  return signs.reduce((sum, { weight }, index) => sum + weight * (index === 0 ? 1 : furtherShare), 0);
}
