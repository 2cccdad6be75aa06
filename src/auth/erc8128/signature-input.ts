/** A signature as `Signature-Input` describes it. */
export interface DescribedSignature {
  /** Its name. */
  label: string;
  /** What it covers. */
  components: string[];
  /** Its parameters by name. */
  parameters: Map<string, string>;
}

/** The tokens of the text, matched at one position. Each looks at a character once, whatever the input. */
const name = /[a-z*][a-z0-9_.*-]*/y;
const quoted = /"((?:[^"\\]|\\.)*)"/y;
const word = /[^\s;,"()]+/y;
const spaces = /[ \t]*/y;

/** Reads a text from its beginning to its end, and never goes back. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  /** The match of a pattern here, or its group if it has one. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (!found) return undefined;
    this.#at = pattern.lastIndex;
    return found[1] ?? found[0];
  }

  skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }
}

/**
 * The signature that a `Signature-Input` header describes; `undefined` if it cannot be read, or describes
 * several.
 */
export function signatureOf(header: string): DescribedSignature | undefined {
  const reader = new Reader(header.trim());
  const label = reader.take(name);
  if (label === undefined || !reader.skip('=') || !reader.skip('(')) return undefined;
  const components: string[] = [];
  for (reader.take(spaces); !reader.skip(')'); reader.take(spaces)) {
    const component = reader.take(quoted);
    if (component === undefined || !readParameters(reader)) return undefined;
    components.push(component);
  }
  const parameters = readParameters(reader);
  return parameters && reader.isAtEnd ? { label, components, parameters } : undefined;
}

/** The parameters after a value: `;name="text"`, `;name=word`, or `;name` alone. */
function readParameters(reader: Reader): Map<string, string> | undefined {
  const parameters = new Map<string, string>();
  for (reader.take(spaces); reader.skip(';'); reader.take(spaces)) {
    reader.take(spaces);
    const key = reader.take(name);
    if (key === undefined) return undefined;
    const value = reader.skip('=') ? (reader.take(quoted) ?? reader.take(word)) : '?1';
    if (value === undefined) return undefined;
    parameters.set(key, value);
  }
  return parameters;
}
