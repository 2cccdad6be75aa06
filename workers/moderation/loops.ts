import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { LoopWatch, personOf } from '../../streams/moderation/index.js';
import { type IrcFact, type LineSighting, lineId } from '../../streams/network/index.js';
import type { GuardOptions } from './options.js';

/** Somebody whose program is in a loop with others. */
export interface LoopSuspect {
  ref: string;
  person: string;
  /** Their last line. */
  line: LineSighting;
  channel: string;
  isPrivate: boolean;
  level: 'WARN' | 'MUTE';
  factId: string;
}

type Followed = LineSighting & { id: string };

/**
 * Looks for programs that answer each other, in lines in the order of the log. Lines of our own bots do not
 * count.
 */
export class GuardLoops {
  readonly #watch = new LoopWatch<Followed>();
  readonly #bots: ReadonlySet<string>;
  readonly #isOn: boolean;
  /** Sequence of the last fact that was seen: a fact that is handed out again is not counted again. */
  #seq = 0;

  constructor({ bots, loopMinutes }: Pick<GuardOptions, 'bots' | 'loopMinutes'>) {
    this.#bots = new Set(bots.map(casefold));
    this.#isOn = loopMinutes > 0;
  }

  /** The speakers of a fact's lines who must answer for a loop; `lines` have their index in the fact. */
  see(
    { id, seq, data: { channel } }: Recorded<IrcFact>,
    lines: readonly { index: number; line: LineSighting; isPrivate: boolean }[],
  ): LoopSuspect[] {
    if (!this.#isOn || seq <= this.#seq) return [];
    this.#seq = seq;
    return lines.flatMap(({ index, line, isPrivate }) => {
      if (this.#bots.has(casefold(line.nick))) return [];
      const found = this.#watch.see(channel, { ...line, id: lineId(seq, index) });
      return (found?.last ?? []).map((last) => ({
        ref: `loop-${found!.level.toLowerCase()}:${last.id}`,
        person: personOf(last),
        line: last,
        channel,
        isPrivate,
        level: found!.level,
        factId: id,
      }));
    });
  }
}
