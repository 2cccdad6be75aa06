import { LRUCache } from 'lru-cache';

/** The last words of those who speak: an attack may come in pieces. */
export class RecentLines {
  readonly #lines = new LRUCache<string, { at: number; text: string }[]>({ max: mostPersons });

  /** The text with the one or two lines of this person before it; `undefined` when there are none. */
  joined(person: string, at: number, text: string): string | undefined {
    const before = (this.#lines.get(person) ?? []).filter((line) => at - line.at < togetherMs);
    if (before.length === 0) return undefined;
    return [...before.map((line) => line.text), text].join(' ');
  }

  add(person: string, at: number, text: string): void {
    const lines = this.#lines.get(person) ?? [];
    this.#lines.set(person, [...lines, { at, text }].slice(-linesBefore));
  }

  /** What was said so far has been dealt with. */
  forget(person: string): void {
    this.#lines.delete(person);
  }
}

const linesBefore = 2;
const togetherMs = 120_000;
const mostPersons = 10_000;
