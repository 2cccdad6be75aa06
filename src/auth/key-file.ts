import { readFileSync, statSync } from 'node:fs';

/** A named key; its name is the author in the facts that the caller causes. */
export interface ApiKey {
  name: string;
  key: string;
}

/** How long a look at the file holds, in milliseconds: a key that is taken out works no longer than this. */
const lookMs = 1_000;

/** Keys in a file, one name:key pair a line with # before comments, as they are there now. */
export class KeyFile {
  readonly #path: string;
  readonly #trouble: (error: Error) => void;
  readonly #now: () => number;
  #keys: ApiKey[];
  #state: string;
  #looked: number;

  /** `now` in milliseconds. Throws when the file cannot be used now; later `trouble` is told once, and the last good keys hold. */
  constructor(path: string, trouble: (error: Error) => void, now: () => number = () => performance.now()) {
    this.#path = path;
    this.#trouble = trouble;
    this.#now = now;
    this.#looked = now();
    this.#state = this.#stateOfFile();
    this.#keys = readKeys(path);
  }

  /** The keys; the same list as long as the file is. */
  keys(): ApiKey[] {
    if (this.#now() - this.#looked < lookMs) return this.#keys;
    this.#looked = this.#now();
    const state = this.#stateOfFile();
    if (state === this.#state) return this.#keys;
    this.#state = state;
    try {
      this.#keys = readKeys(this.#path);
    } catch (error) {
      // half written, or gone for a moment: who had a key is not shut out by that
      this.#trouble(error as Error);
    }
    return this.#keys;
  }

  /** What changes with the file, also where it is a link to another one that is changed over. */
  #stateOfFile(): string {
    const stats = statSync(this.#path, { throwIfNoEntry: false });
    return stats ? `${stats.ino} ${stats.mtimeMs} ${stats.size}` : 'gone';
  }
}

/** The keys that a file has now. Throws an error that says what is wrong with it; no key is in the text. */
export function readKeys(path: string): ApiKey[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`The API keys of ${path} cannot be read (${code ?? message})`);
  }
  return text.split('\n').flatMap((line, index) => {
    const pair = line.trim();
    if (pair === '' || pair.startsWith('#')) return [];
    const colon = pair.indexOf(':');
    // the pair itself is a secret: name its place only
    if (colon < 1 || colon === pair.length - 1)
      throw new Error(`Line ${index + 1} of ${path} is not a name:key pair`);
    return [{ name: pair.slice(0, colon), key: pair.slice(colon + 1) }];
  });
}
