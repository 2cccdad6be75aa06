import { clock } from '../../streams/core/clock.js';
import { backoff } from '../../streams/core/index.js';
import type { IrcLine } from '../irc/index.js';
import type { Recording } from './journal.js';
import type { Room } from './room.js';

/** Between tries to enter. */
const pauses = { first: 10_000, longest: 600_000 };

/** A line that came while its channel was being entered, and when. */
export interface EarlyLine {
  line: IrcLine;
  at: number;
}

/** A channel that is wanted: how it is recorded, the room while we are in it, and when to enter it while we are not. */
export class WatchedChannel {
  readonly name: string;
  recording: Recording | undefined;
  room: Room | undefined;
  /** Lines that came while it is being entered. */
  early: EarlyLine[] | undefined;
  /** When it was last recorded as a whole. */
  wholeAt = 0;
  /** Until when everything was seen of it; `undefined` where nobody knows. */
  seenUntil: number | undefined;
  /** Whether this recorder has seen it, not one before it. */
  isSure = false;
  /** By `clock.elapsed`: the time of day may be set back. */
  #dueAt: number;
  /** How often it could not be entered in this session. */
  #refusals = 0;

  /** To be entered after a while. `seenUntil` is what a recorder before this one leaves. */
  constructor(name: string, waitMs: number, seenUntil: number | undefined) {
    this.name = name;
    this.seenUntil = seenUntil;
    this.#dueAt = clock.elapsed() + waitMs;
  }

  /** Whether it is time to enter it, by `clock.elapsed`. */
  isDue(now: number): boolean {
    return !this.room && this.#dueAt <= now;
  }

  /** Out of the room, which is entered again after a while. */
  leave(waitMs: number): void {
    this.room = undefined;
    this.#dueAt = clock.elapsed() + waitMs;
  }

  /** It could not be entered, or somebody else records it: it is left alone for longer each time. Whether it was the first time. */
  backOff(): boolean {
    this.#refusals += 1;
    this.leave(backoff(this.#refusals, pauses));
    return this.#refusals === 1;
  }

  /** The session is over, in which the last thing of all was seen then. */
  lost(seenAt: number | undefined): void {
    if (this.room) {
      this.seenUntil = seenAt;
      this.isSure = true;
    }
    this.early = undefined;
    this.#refusals = 0;
    this.leave(0);
  }
}
