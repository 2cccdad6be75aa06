import { cleanText, cutToCharacters } from '../irc-grammar.js';
import { latinOf } from '../lookalikes.js';
import type { MarketPayload } from './event.js';

/** Looks at free text before it is shown and answers what to show instead of it; the text itself when harmless. */
export type Screen = (text: string) => string;

// No IRC line holds more than 512 bytes, so what lies beyond as many characters could never be seen.
const lineCharacters = 512;
const jsonCharacters = 300;
const asIs: Screen = (text) => text;

/** A string, or a number as text; undefined for all else, objects with a hostile `toString` among them. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

/** The first 8 characters of a task or relay id as sent, '' without one. */
export function shortId(id: unknown): string {
  return cutToCharacters(textOf(id) ?? '', 8);
}

/** A wallet address as its first 6 and last 4 characters. */
function shortWallet(address: string): string {
  const characters = Array.from(address);
  if (characters.length <= 13) return address;
  return `${characters.slice(0, 6).join('')}...${characters.slice(-4).join('')}`;
}

// A transaction hash as its first 10 characters.
function shortHash(hash: string): string {
  return cutToCharacters(hash, 10);
}

const addressOrHash = /0x(?:[\da-f]{64}|[\da-f]{40})(?![\da-f])/gi;

function withoutAddresses(text: string): string {
  if (!/0x/i.test(text)) return text;
  return text.replace(addressOrHash, (hex) =>
    hex.length === 42 ? shortWallet(hex) : `${shortHash(hex)}...`,
  );
}

// The look at the beginning only keeps a 64 KB title as cheap as a short one.
function clean(value: unknown, max: number): string {
  const beginning = (textOf(value) ?? '').slice(0, max * 4);
  return cutToCharacters(withoutAddresses(cleanText(beginning)), max).trimEnd();
}

function finite(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.length > 40 || !/^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(value))
    return undefined;
  return Number(value);
}

/** The first of `values` that is a number or a decimal string, in dollars. */
function dollars(...values: unknown[]): string | undefined {
  const number = values.map(finite).find((one) => one !== undefined);
  return number === undefined ? undefined : inDollars(number);
}

/**
 * An amount as lines show it: with two decimals, and `.00` cut. Less than a cent has the six decimals of USDC: `$0` would say
 * that nothing is paid.
 */
export function inDollars(amount: number): string {
  const isLessThanACent = Math.abs(amount) < 0.01;
  const text = isLessThanACent
    ? amount.toFixed(6).replace(/\.?0+$/, '')
    : amount.toFixed(2).replace(/\.00$/, '');
  return `$${text.startsWith('-') && Number(text) === 0 ? text.slice(1) : text}`;
}

/**
 * The beginning of `JSON.stringify(value)`, at least `room` characters of it where there are as many. Unlike
 * the original it costs no more for a large value, and no nesting is too deep for it.
 */
function jsonBeginning(value: unknown, room: number): string {
  let json = '';
  const write = (node: unknown): void => {
    if (json.length >= room) return;
    if (typeof node === 'string') {
      json += JSON.stringify(node.slice(0, room));
    } else if (Array.isArray(node)) {
      json += '[';
      for (let i = 0; i < node.length && json.length < room; i++) {
        if (i > 0) json += ',';
        write(node[i]);
      }
      json += ']';
    } else if (typeof node === 'object' && node !== null) {
      let separator = '{';
      for (const [key, child] of Object.entries(node)) {
        if (json.length >= room) return;
        if (child === undefined) continue;
        json += `${separator}${JSON.stringify(key.slice(0, room))}:`;
        separator = ',';
        write(child);
      }
      json += separator === '{' ? '{}' : '}';
    } else {
      json += typeof node === 'number' || typeof node === 'boolean' ? JSON.stringify(node) : 'null';
    }
  };
  write(value);
  return json;
}

/**
 * What a line shows of a task or relay id. `undefined` without a letter, digit or picture, since it names nothing then, and for one
 * that readers take for another: in letters and digits that look like those of ASCII.
 */
export function shownId(id: unknown): string | undefined {
  const shown = cleanText(shortId(id));
  return /[\p{L}\p{N}\p{ExtPict}]/u.test(shown) && !looksPlain(shown) ? shown : undefined;
}

const ascii = /^[ -~]*$/;

/** Whether a text is not in ASCII, and looks as if it was. */
function looksPlain(text: string): boolean {
  return !ascii.test(text) && ascii.test(Array.from(text.normalize('NFKC'), latinOf).join(''));
}

/**
 * The fields of a normalised payload in the form in which a line shows them: clean, limited, wallets and
 * hashes shortened, `undefined` where there is nothing to show. Reading a field never throws. All free text has
 * passed the screen.
 */
export class ShownFields {
  readonly #payload: MarketPayload;
  readonly #screen: Screen;

  constructor(payload: MarketPayload, screen: Screen = asIs) {
    this.#payload = payload;
    this.#screen = screen;
  }

  get id(): string | undefined {
    return shownId(this.#payload.id);
  }

  get title(): string | undefined {
    return this.freeText(this.#payload.title);
  }

  get bounty(): string | undefined {
    return dollars(this.#payload.bounty_usdc);
  }

  /** What is locked: the escrow's amount, else the bounty. */
  get escrow(): string | undefined {
    return dollars(this.#payload.escrow_amount, this.#payload.bounty_usdc);
  }

  /** What is paid out: the bounty, else what was locked for it. */
  get payout(): string | undefined {
    return dollars(this.#payload.bounty_usdc, this.#payload.escrow_amount);
  }

  get totalBounty(): string | undefined {
    return dollars(this.#payload.total_bounty);
  }

  get network(): string | undefined {
    return this.#name(this.#payload.network);
  }

  get category(): string | undefined {
    return this.#name(this.#payload.category);
  }

  get worker(): string | undefined {
    return this.#worker(this.#payload.worker_nick) ?? this.#worker(this.#payload.worker_wallet);
  }

  get tx(): string | undefined {
    return shortHash(clean(this.#payload.tx_hash, lineCharacters)) || undefined;
  }

  get reason(): string | undefined {
    return this.freeText(this.#payload.reason, 200);
  }

  get cancellationReason(): string | undefined {
    return this.freeText(this.#payload.cancellation_reason) ?? this.freeText(this.#payload.reason);
  }

  get disputeCase(): string | undefined {
    return this.#name(this.#payload.dispute_case_id);
  }

  /** A rating, with at most two decimals. */
  get score(): string | undefined {
    const score = finite(this.#payload.score);
    return score === undefined ? undefined : String(Number(score.toFixed(2)));
  }

  get comment(): string | undefined {
    return this.freeText(this.#payload.comment, 100);
  }

  /** The task's id, else the relay's: a relay as a whole may have no task of its own. */
  get idOrRelay(): string | undefined {
    return this.id ?? shownId(this.#payload.relay_id);
  }

  get leg(): string | undefined {
    return this.#name(this.#payload.leg_number);
  }

  get legs(): string | undefined {
    return this.#name(this.#payload.total_legs);
  }

  get origin(): string | undefined {
    return this.freeText(this.#payload.origin);
  }

  get destination(): string | undefined {
    return this.freeText(this.#payload.destination);
  }

  get fromWorker(): string | undefined {
    return this.#worker(this.#payload.from_worker);
  }

  get toWorker(): string | undefined {
    return this.#worker(this.#payload.to_worker);
  }

  /** Any text that somebody wrote, in at most `max` characters. */
  freeText(value: unknown, max = lineCharacters): string | undefined {
    const text = clean(value, max);
    return text === '' ? undefined : this.#screen(text) || undefined;
  }

  /** A name is one short word. What else comes in its place is somebody's free text. */
  #name(value: unknown): string | undefined {
    const text = textOf(value);
    if (text === undefined || !/^[\w.:#@/+-]{1,64}$/.test(text)) return this.freeText(value);
    return screenedWord(withoutAddresses(text), this.#screen) || undefined;
  }

  /** Nobody's nick is longer than 30 characters: what is, is an address of some chain. */
  #worker(value: unknown): string | undefined {
    const name = this.#name(value);
    return name !== undefined && name.length > 30 ? shortWallet(name) : name;
  }
}

/** Joins parts of a line with `between`. Parts that are `undefined`, because the event does not say them, are left out. */
export function joined(between: string, ...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(between);
}

/** A part of a line: the value with a text before and after it. `undefined` where the value is not known. */
export function around(before: string, value: string | undefined, behind = ''): string | undefined {
  return value === undefined ? undefined : `${before}${value}${behind}`;
}

/** The line of an event that has no format of its own: its type and the beginning of its payload, screened. */
export function anyEventLine(eventType: string, payload: MarketPayload, screen: Screen = asIs): string {
  const json = clean(jsonBeginning(payload, 4 * jsonCharacters), jsonCharacters);
  return `[${screenedWord(eventType, screen)}] ${screen(json)}`;
}

/** A word as it may be shown: only one that is made of several can say anything. */
function screenedWord(word: string, screen: Screen): string {
  return /^[a-z\d:]{1,12}$/.test(word) ? word : screen(word);
}
