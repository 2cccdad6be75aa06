import { clock, type Timer } from '../../streams/core/clock.js';
import { casefold, isManagedChannel } from '../../streams/irc-grammar.js';
import type { IrcLine } from '../irc/line.js';

/** From a sign to the look; what servers tell each other comes in one burst. Looks within `calmMs` of another wait longer each time. */
const usualPauses = { firstMs: 500, longestMs: 300_000, calmMs: 60_000 };
const growth = 4;

/**
 * Whether a line tells that servers of the network were joined. Each side has then taken over what the other did
 * to the channels, and a channel that is older over there has lost all that was set here. Servers say so to
 * operators, and the changes come from them and from no person.
 */
export function tellsOfRelink({ command, nick, params }: IrcLine): boolean {
  if (nick !== '') return false;
  if (command === 'NOTICE') return /\bend of netburst\b/i.test(params.at(-1) ?? '');
  return (command === 'MODE' || command === 'TOPIC') && isManagedChannel(casefold(params[0] ?? ''));
}

/** When to look at the whole network again: soon after servers were joined, ever later while that goes on. */
export class Relinks {
  readonly #look: () => Promise<void>;
  #timer: Timer | undefined;
  readonly #pauses: typeof usualPauses;
  #waitMs = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(look: () => Promise<void>, pauses = usualPauses) {
    this.#look = look;
    this.#pauses = pauses;
  }

  see(line: IrcLine): void {
    if (this.#timer || !tellsOfRelink(line)) return;
    const { firstMs, longestMs, calmMs } = this.#pauses;
    const isCalm = clock.elapsed() - this.#lookedAt > calmMs;
    this.#waitMs = isCalm ? firstMs : Math.min(this.#waitMs * growth, longestMs);
    this.#timer = clock.setTimeout(() => void this.#now(), this.#waitMs);
    this.#timer.unref();
  }

  stop(): void {
    clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #now(): Promise<void> {
    await this.#look();
    this.#lookedAt = clock.elapsed();
    this.#timer = undefined;
  }
}
