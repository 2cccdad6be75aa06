import { boundedCache } from '../core/index.js';
import type { Thresholds } from './judgement.js';
import { longestRead } from './normalise.js';
import { type Score, scoreText } from './score.js';

/** Shown in a line where somebody's text was left out. */
export const withheldMark = '[withheld: guardian]';

/**
 * Names of networks and categories come with every event, and titles in both its topic and its line: each is
 * scored once. An entry may keep alive the long text that it was cut from.
 */
const scores = boundedCache<string, Score>(200);

function scoreOf(text: string): Score {
  // what lies beyond is not read
  const read = text.slice(0, longestRead);
  let score = scores.get(read);
  if (!score) {
    score = scoreText(read);
    scores.set(read, score);
  }
  return score;
}

/** What was left out of an event's line. */
export interface Withheld {
  /** The score of its worst text, from 0 to 100. */
  score: number;
  /** Ids of rules, comma-separated, heaviest first. */
  patterns: string;
}

/**
 * Checks the free text of one event before agents see it as a trusted bot's line. Text that scores a WARN or
 * worse is left out.
 */
export class Screening {
  readonly #from: number;
  #worst: Score | undefined;

  constructor([, warn]: Thresholds) {
    this.#from = warn;
  }

  /** What to show of a text: itself, or that it was withheld. */
  readonly screen = (text: string): string => {
    return this.#isHarmless(text) ? text : withheldMark;
  };

  /**
   * Builds something to show from texts that `screen` checks, and checks the result too: an attack may be
   * spread over several texts. If it is, all of them are left out.
   */
  screened<Shown>(
    make: (screen: (text: string) => string) => Shown,
    lineOf: (shown: Shown) => string,
  ): Shown {
    const texts: string[] = [];
    const shown = make((text) => {
      texts.push(this.screen(text));
      return texts.at(-1)!;
    });
    const together = [lineOf(shown), ...(texts.length > 1 ? [texts.join(' ')] : [])];
    if (texts.length === 0 || together.every((text) => this.#isHarmless(text))) return shown;
    return make(() => withheldMark);
  }

  #isHarmless(text: string): boolean {
    const score = scoreOf(text);
    if (score.score < this.#from) return true;
    if (score.score > (this.#worst?.score ?? 0)) this.#worst = score;
    return false;
  }

  /** What was left out so far; `undefined` if nothing was. */
  get withheld(): Withheld | undefined {
    return this.#worst && { score: this.#worst.score, patterns: this.#worst.patterns.join(',') };
  }
}
