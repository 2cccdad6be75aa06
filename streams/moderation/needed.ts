/** Texts of at least two characters. Every text that a pattern matches contains one of them. */
export type Needed = readonly string[];

/**
 * What a pattern cannot match without: the rarest such texts; `undefined` when it needs nothing. Reads the
 * part of the regular expression language that rules use, and throws on anything else.
 */
export function neededBy({ source }: RegExp): Needed | undefined {
  const reader = new Reader(source);
  const needed = reader.ways();
  if (!reader.isAtEnd) throw new Error(`${source} has one parenthesis too many`);
  return needed;
}

/** How common each letter is in English, in percent, in alphabetical order. */
const letters = [
  8, 1.5, 2.8, 4.3, 13, 2.2, 2, 6, 7, 0.2, 0.8, 4, 2.4, 7, 7.5, 1.9, 0.1, 6, 6, 9, 2.8, 1, 2.4, 0.2, 2, 0.1,
];

/** Words that are in nearly every line of the marketplace. */
const usual =
  '[new] [assigned] [paid] task | $ usdc (base) | photo physical_presence simple_action | claim id job';
/** Longer ones are rare enough. */
const counted = 4;

/** The expected probability of a text, by how common its characters are. */
export function chanceOf(text: string): number {
  if (usual.includes(text)) return 1;
  const chances = Array.from(text.slice(0, counted), (sign) =>
    sign === ' ' ? 18 : (letters[sign.charCodeAt(0) - 97] ?? 0.5),
  );
  return chances.reduce((all, one) => (all * one) / 100, 1);
}

function rarer(a: Needed, b: Needed): Needed {
  const chance = (needed: Needed) => needed.reduce((sum, text) => sum + chanceOf(text), 0);
  return chance(b) < chance(a) ? b : a;
}

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#source.length;
  }

  /** Alternatives separated by `|`, up to the closing parenthesis or the end. */
  ways(): Needed | undefined {
    const ways = [this.#way()];
    while (this.#take('|')) ways.push(this.#way());
    return ways.every((needed) => needed !== undefined) ? [...new Set(ways.flat())] : undefined;
  }

  #way(): Needed | undefined {
    const found: Needed[] = [];
    let run = '';
    const endRun = () => {
      if (run.length > 1) found.push([run]);
      run = '';
    };
    while (!this.isAtEnd && !'|)'.includes(this.#source[this.#at]!)) {
      const part = this.#part();
      const least = this.#least();
      if (typeof part === 'string' && least === undefined) {
        run += part;
        continue;
      }
      endRun();
      if (typeof part === 'object' && least !== 0) found.push(part);
    }
    endRun();
    return found.length === 0 ? undefined : found.reduce(rarer);
  }

  /** The next character, '' for a position between characters, or what the next part needs. */
  #part(): string | Needed | undefined {
    if (this.#take('(?:')) return this.#group();
    if (['(?=', '(?!', '(?<=', '(?<!'].some((look) => this.#take(look))) {
      this.#group();
      return '';
    }
    const [part] = onePart.exec(this.#source.slice(this.#at)) ?? [];
    if (part === undefined) throw new Error(`${this.#source} is not understood at ${this.#at}`);
    this.#at += part.length;
    if (/^(?:\^|\$|\\b)$/.test(part)) return '';
    if (/^(?:\.|\[.*|\\[dswDSW]|\\p.*)$/s.test(part)) return undefined;
    if (/^\\\w/.test(part)) throw new Error(`${this.#source} is not understood at ${part}`);
    return part.replace('\\', '');
  }

  #group(): Needed | undefined {
    const needed = this.ways();
    if (!this.#take(')')) throw new Error(`${this.#source} has one parenthesis too few`);
    return needed;
  }

  /** The least number of repetitions of the last part; `undefined` if it is there once. */
  #least(): number | undefined {
    const [sign, least] = /^(?:[?*+]|\{(\d+)(?:,\d*)?\})\??/.exec(this.#source.slice(this.#at)) ?? [];
    if (sign === undefined) return undefined;
    this.#at += sign.length;
    return sign.startsWith('+') ? 1 : Number(least ?? 0);
  }

  #take(sign: string): boolean {
    if (!this.#source.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }
}

/** A class, an escape or a literal character. */
const onePart = /^(?:\[(?:\\.|[^\]\\])*\]|\\p\{\w+\}|\\.|[^()[\]{}*+?\\])/su;
