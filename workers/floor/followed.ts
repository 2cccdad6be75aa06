import { dayOf } from '../../projections/core/days.js';
import { forgottenBefore, seeAll } from '../../projections/floor/fold.js';
import type { StoredFloor } from '../../projections/floor/queries.js';
import type { Recorded } from '../../streams/core/index.js';
import { type FloorAnswer, type FloorState, floorCommandIn, freeFloor } from '../../streams/floor/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { IrcFact } from '../../streams/network/index.js';

/** A floor as it is followed. */
export interface Followed {
  /** Name as the network spells it. */
  name: string;
  seq: number;
  state: FloorState;
  /** The day, in UTC, of the last fact of the channel. */
  day: string;
  /** The turn that was announced last. */
  told: string;
  /** When that was, on the clock of `clock.elapsed()`. */
  toldAt: number;
}

/** What is told where nobody has the floor. */
export const free = 'free';

const untold = { told: free, toldAt: Number.NEGATIVE_INFINITY };

/** The floors that are followed: what the read model holds, and what each later fact changes. It forgets as the read model does. */
export class FollowedFloors {
  readonly #floors = new Map<string, Followed>();
  #day = '';

  /** All of them. */
  get all(): Iterable<Followed> {
    return this.#floors.values();
  }

  /** Takes over a floor of the read model. */
  know({ channel, seq, state, day }: StoredFloor): void {
    const known = this.#floors.get(channel);
    // facts that change nothing are missed for days at times
    if (known && known.seq >= seq) known.day = known.day > day ? known.day : day;
    else this.#floors.set(channel, { name: channel, seq, state, day, ...untold });
  }

  /** The floor after a fact, and what came of what was asked; `undefined` if it is not followed, or the fact is in it already. */
  see(fact: Recorded<IrcFact>): { floor: Followed; answers: FloorAnswer[] } | undefined {
    const day = dayOf(fact);
    if (day > this.#day) this.#begin(day);
    const { channel, seen } = fact.data;
    const key = casefold(channel);
    const known = this.#floors.get(key);
    if (known && fact.seq <= known.seq) return undefined;
    const asks = seen.some((one) => one.is === 'message' && floorCommandIn(one.text) !== undefined);
    // a channel where nobody has asked for it needs no memory, but for its operators
    const state = known?.state ?? freeFloor();
    const answers = seeAll(state, fact);
    if (!known && !asks && state.operators.length === 0) return undefined;
    const floor = known ?? { name: channel, seq: fact.seq, state, day, ...untold };
    Object.assign(floor, { name: channel, seq: fact.seq, day });
    this.#floors.set(key, floor);
    return { floor, answers };
  }

  #begin(day: string): void {
    this.#day = day;
    const since = forgottenBefore(day);
    for (const [key, floor] of this.#floors) if (floor.day < since) this.#floors.delete(key);
  }
}
