import type { IrcLine } from '../irc/index.js';
import type { Track } from './journal.js';
import type { Room } from './room.js';

const firstPauseMs = 5_000;
const longestPauseMs = 300_000;

/** A channel that is wanted: how it is recorded, the room while we are in it, and when to enter it while we are not. */
export class Place {
  readonly name: string;
  track: Track | undefined;
  room: Room | undefined;
  /** Lines that came while it is being entered. */
  early: { line: IrcLine; at: number }[] | undefined;
  /** When it was last recorded as a whole. */
  wholeAt = 0;
  #dueAt: number;
  #pauseMs = firstPauseMs;

  /** To be entered after a while. */
  constructor(name: string, waitMs: number) {
    this.name = name;
    this.#dueAt = Date.now() + waitMs;
  }

  /** Whether it is time to enter it. */
  isDue(now: number): boolean {
    return !this.room && this.#dueAt <= now;
  }

  /** Out of the room, which is entered again after a while. */
  leave(waitMs: number): void {
    this.room = undefined;
    this.#dueAt = Date.now() + waitMs;
  }

  /** It could not be entered, or somebody else records it: each time the pause is twice as long. Whether it was the first time. */
  giveWay(): boolean {
    const isFirst = this.#pauseMs === firstPauseMs;
    this.leave(this.#pauseMs * (1 + Math.random()));
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    return isFirst;
  }

  /** The session is over, and whatever happened in it. */
  lost(): void {
    this.early = undefined;
    this.#pauseMs = firstPauseMs;
    this.leave(0);
  }
}
