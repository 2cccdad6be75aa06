import { randomFrom } from '../../faults/fault.js';

/** Choices that a seed repeats. */
export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  /** A whole number from 0 up to, and without, `count`. */
  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  /** Whether something of a probability happens. */
  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  one<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** So many throws of the same, at most `most`. */
  some<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }
}
