import { LRUCache } from 'lru-cache';
import { clock } from '../../streams/core/clock.js';
import { isExpected, Unavailable } from '../../streams/core/index.js';
import { Screening, type Thresholds } from '../../streams/moderation/index.js';
import type { PublicFetch } from '../core/public-fetch.js';

/** A card as its agent shows it: unverified, whatever it says. */
export interface FetchedCard {
  card: Record<string, unknown>;
  /** When it was fetched. */
  at: Date;
}

/** What cards are read with. */
export interface AgentCardsOptions {
  fetch: PublicFetch;
  /** From which points on free text is withheld. */
  thresholds: Thresholds;
}

const bounds = { timeoutMs: 5_000, maxBytes: 64 * 1024 };
/** Cards that are fetched at the same time, of all callers together. */
const mostAtOnce = 8;
/** For how long a card is given again, and a failure, in milliseconds. */
const keptMs = { card: 300_000, failure: 30_000 };
const mostKept = 500;
/** The most texts in one card, because each one is scored, and the most levels of nesting. */
const mostTexts = 1_000;
const deepest = 16;

type Outcome = FetchedCard | { failed: Unavailable };

/** Reads the A2A cards of agents at the addresses that they give. Bounded in time, size, number and memory. */
export class AgentCards {
  readonly #options: AgentCardsOptions;
  readonly #kept = new LRUCache<string, Outcome>({ max: mostKept, perf: { now: () => clock.elapsed() } });
  readonly #underWay = new Map<string, Promise<Outcome>>();

  constructor(options: AgentCardsOptions) {
    this.#options = options;
  }

  /**
   * The card at an address. Throws `card_unreachable`, `card_invalid`, and `too_many_cards` when too many are being
   * fetched.
   */
  async at(address: string): Promise<FetchedCard> {
    const outcome = this.#kept.get(address) ?? (await this.#fetched(address));
    if ('failed' in outcome) throw outcome.failed;
    return outcome;
  }

  async #fetched(address: string): Promise<Outcome> {
    const known = this.#underWay.get(address);
    if (known) return await known;
    if (this.#underWay.size >= mostAtOnce) throw new Unavailable('too_many_cards');
    const fetching = this.#fetch(address).finally(() => this.#underWay.delete(address));
    this.#underWay.set(address, fetching);
    const outcome = await fetching;
    this.#kept.set(address, outcome, { ttl: 'failed' in outcome ? keptMs.failure : keptMs.card });
    return outcome;
  }

  async #fetch(address: string): Promise<Outcome> {
    const { fetch, thresholds } = this.#options;
    try {
      const text = await textAt(address, fetch);
      return { card: screened(parsed(text), thresholds), at: new Date(clock.now()) };
    } catch (error) {
      if (isExpected(error) && error.kind === 'unavailable') return { failed: error };
      throw error;
    }
  }
}

async function textAt(address: string, fetch: PublicFetch): Promise<string> {
  let status: number;
  let text: string;
  try {
    const response = await fetch(address, bounds);
    status = response.status;
    // the body of another answer is not read
    if (status !== 200) await response.body?.cancel();
    text = status === 200 ? await response.text() : '';
  } catch {
    // which hosts there are, and what they answer, is nobody's business
    throw new Unavailable('card_unreachable');
  }
  if (status !== 200) throw new Unavailable('card_unreachable');
  return text;
}

function parsed(text: string): Record<string, unknown> {
  let card: unknown;
  try {
    card = JSON.parse(text);
  } catch {
    throw new Unavailable('card_invalid');
  }
  const { name } = (card ?? {}) as { name?: unknown };
  if (typeof card !== 'object' || Array.isArray(card) || typeof name !== 'string')
    throw new Unavailable('card_invalid');
  return card as Record<string, unknown>;
}

/** A card without the texts that look like an attack on those who read it. */
function screened(card: Record<string, unknown>, thresholds: Thresholds): Record<string, unknown> {
  const { screen } = new Screening(thresholds);
  let texts = 0;
  const said = (text: string) => {
    texts += 1;
    if (texts > mostTexts) throw new Unavailable('card_invalid');
    return screen(text);
  };
  const shown = (value: unknown, depth: number): unknown => {
    if (depth > deepest) throw new Unavailable('card_invalid');
    if (typeof value === 'string') return said(value);
    if (Array.isArray(value)) return value.map((one) => shown(one, depth + 1));
    if (typeof value !== 'object' || value === null) return value;
    // `fromEntries` makes members of their own, whatever they are called
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [said(name), shown(one, depth + 1)]),
    );
  };
  return shown(card, 0) as Record<string, unknown>;
}
