import { boundedCache } from '../../streams/core/index.js';

/** The last words of those who speak: an attack may come in pieces. */
export class RecentLines {
  readonly #lines = boundedCache<string, { at: number; text: string }[]>(mostSpeakers);

  /** The text with the one or two lines of this speaker before it; `undefined` when there are none. */
  joined(speaker: string, at: number, text: string): string | undefined {
    const before = (this.#lines.get(speaker) ?? []).filter((line) => at - line.at < togetherMs);
    if (before.length === 0) return undefined;
    return [...before.map((line) => line.text), text].join(' ');
  }

  add(speaker: string, at: number, text: string): void {
    const lines = this.#lines.get(speaker) ?? [];
    this.#lines.set(speaker, [...lines, { at, text }].slice(-linesBefore));
  }

  /** What was said so far has been dealt with. */
  forget(speaker: string): void {
    this.#lines.delete(speaker);
  }
}

const linesBefore = 2;
const togetherMs = 120_000;
const mostSpeakers = 10_000;
