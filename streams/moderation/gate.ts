import { chanceOf, neededBy } from './needed.js';

/** A text that patterns need, to be looked for where two of its characters are. */
interface Sought {
  text: string;
  /** Where the two are in it. */
  at: number;
  /** The patterns. */
  bits: number;
}

/**
 * Says which of many patterns may match a text, for much less than it costs to try them: it looks for what a match could
 * not do without. It may name one that does not match, but never leaves out one that does.
 */
export class Gate {
  readonly #sought: Sought[][] = [[]];
  /** For each two characters which of the lists has the texts to look for there; the first one has none. */
  readonly #lists = new Uint8Array(1 << 14);
  /** Patterns that need nothing. */
  readonly #always: number;

  constructor(patterns: readonly RegExp[]) {
    let always = 0;
    const bitsOf = new Map<string, number>();
    for (const [index, pattern] of patterns.entries()) {
      const needed = neededBy(pattern);
      if (!needed) always |= bitOf(index);
      for (const text of needed ?? []) bitsOf.set(text, (bitsOf.get(text) ?? 0) | bitOf(index));
    }
    for (const [text, bits] of bitsOf) this.#seek(text, bits);
    this.#always = always;
  }

  /** The patterns that may match, as bits for `mayMatch`; 0 when none can. */
  of(text: string): number {
    let open = this.#always;
    let last = 0;
    for (let end = 0; end < text.length; end++) {
      last = next(last, text.charCodeAt(end));
      const list = this.#lists[last]!;
      if (list === 0) continue;
      for (const { text: one, at, bits } of this.#sought[list]!)
        if ((open & bits) !== bits && text.startsWith(one, end - 1 - at)) open |= bits;
    }
    return open;
  }

  #seek(text: string, bits: number): void {
    const pairs = Array.from({ length: text.length - 1 }, (_, at) => ({
      at,
      chance: chanceOf(text.slice(at, at + 2)),
    }));
    const { at } = pairs.reduce((a, b) => (b.chance < a.chance ? b : a));
    const pair = next(next(0, text.charCodeAt(at)), text.charCodeAt(at + 1));
    // those that find no list of their own share the last one
    this.#lists[pair] ||= Math.min(this.#sought.length, 255);
    const list = this.#lists[pair]!;
    this.#sought[list] = [...(this.#sought[list] ?? []), { text, at, bits }];
  }
}

/** The last two characters, when one more comes. */
function next(last: number, character: number): number {
  return ((last & 0x7f) << 7) | (character & 0x7f);
}

/** Patterns share the bits where they are more than there are. */
function bitOf(index: number): number {
  return 1 << (index & 31);
}

/** Whether the pattern at an index is among those that a gate has named. */
export function mayMatch(open: number, index: number): boolean {
  return (open & bitOf(index)) !== 0;
}
