import type { ConfirmedLine } from '../../streams/delivery/index.js';
import { done, type Verdict } from '../core/keyed-queue.js';
import type { Presence } from './presence.js';
import type { Opening } from './rooms.js';

/** One event's line in one channel. */
export interface Line<Event> {
  event: Event;
  channel: string;
  text: string;
  /** Sent with the line as a client tag, so that it can be recognised in the channel's history. */
  tag: string;
  /** It may have been shown already: its confirmation was lost with a connection or a process. */
  inDoubt: boolean;
  /** The form in which its event opens the channel, if it does. */
  opens: Opening | undefined;
  /** Whether it was sent, and has no answer yet. */
  inFlight: boolean;
  /** No answer came in time: we reconnect, and the channel's history tells whether this was a failure. */
  unconfirmed: boolean;
}

/** What the lines of events need from the owner of the events in hand. */
export interface LinesOwner<Event> {
  presence: Presence;
  stopping: AbortSignal;
  retryMs: number;
  /** Whether the line is still wanted: its event may have expired meanwhile. */
  wanted(line: Line<Event>): boolean;
  /** The limit of rooms is reached, and the room of the line must wait for a free place. */
  waiting(line: Line<Event>): void;
  /** The line is confirmed. `recorded` is called with its channel when that is on the log. */
  confirmed(line: Line<Event>, via: ConfirmedLine['via']): void;
  /** Resolves when the failure is on the log, with whether the line may be tried again. */
  failed(line: Line<Event>, error: string): Promise<boolean>;
}

/**
 * How many confirmed lines of a channel may wait for the log while the next one is sent. If the service and
 * the IRC server crash in the same moment, only these can be shown a second time.
 */
const maxUnrecorded = 16;
/** Pause between two checks for a free place for a room, in milliseconds. */
const placeMs = 2_000;
/** The same for somebody who makes a room private, or lets us in. */
const againMs = 1_000;
const again: Verdict = { is: 'wait', afterMs: 0 };

/**
 * Brings lines to their end, one attempt at a time: shown, given up, or no longer wanted. Each channel has
 * one line in flight. A refused line keeps its place until it is confirmed or given up.
 */
export class Lines<Event> {
  readonly #owner: LinesOwner<Event>;
  /** How many confirmed lines of a channel the log does not have yet. */
  readonly #unrecorded = new Map<string, number>();
  readonly #waiting = new Map<string, () => void>();

  constructor(owner: LinesOwner<Event>) {
    this.#owner = owner;
  }

  /** One try. */
  async deliver(line: Line<Event>): Promise<Verdict> {
    const { presence } = this.#owner;
    const { channel } = line;
    if ((this.#unrecorded.get(channel) ?? 0) >= maxUnrecorded)
      await this.#recordedButFor(channel, maxUnrecorded - 1);
    if (!this.#wanted(line)) return done;
    const { inDoubt, opens } = line;
    const room =
      (opens ? undefined : presence.now(channel, inDoubt)) ?? (await presence.room(channel, inDoubt, opens));
    if (room.is === 'stopped' || !this.#wanted(line)) return done;
    if (room.is === 'refused') return await this.#strike(line, room.error);
    if (room.is === 'full') {
      this.#owner.waiting(line);
      return { is: 'wait', afterMs: placeMs };
    }
    // its event may expire meanwhile, and then others go on
    if (room.is === 'unready') return { is: 'wait', afterMs: againMs };
    if (line.inDoubt && room.shown?.has(line.tag)) return this.#confirm(line, 'history');
    line.inDoubt = false;
    if (line.unconfirmed) {
      line.unconfirmed = false;
      return await this.#strike(line, 'no confirmation in time');
    }
    line.inFlight = true;
    const outcome = await room.session.say(channel, line.text, line.tag);
    line.inFlight = false;
    switch (outcome.is) {
      case 'confirmed':
        return this.#confirm(line, room.session.confirmation === 'labels' ? 'echo' : 'fence');
      case 'refused':
        presence.leave(channel);
        return await this.#strike(line, `${outcome.code} ${outcome.error}`);
      case 'unconfirmed':
        line.inDoubt = true;
        line.unconfirmed = true;
        return again;
      case 'lost':
        line.inDoubt = outcome.written;
        return again;
    }
  }

  /** The confirmation of a line of a channel is on the log. */
  recorded(channel: string): void {
    const left = (this.#unrecorded.get(channel) ?? 1) - 1;
    if (left > 0) this.#unrecorded.set(channel, left);
    else this.#unrecorded.delete(channel);
    this.#waiting.get(channel)?.();
  }

  #wanted(line: Line<Event>): boolean {
    return !this.#owner.stopping.aborted && this.#owner.wanted(line);
  }

  #confirm(line: Line<Event>, via: ConfirmedLine['via']): Verdict {
    this.#unrecorded.set(line.channel, (this.#unrecorded.get(line.channel) ?? 0) + 1);
    this.#owner.confirmed(line, via);
    return done;
  }

  /**
   * Waits until at most `most` confirmations of a channel are missing on the log. One line of a channel waits
   * at a time.
   */
  async #recordedButFor(channel: string, most: number): Promise<void> {
    while ((this.#unrecorded.get(channel) ?? 0) > most) {
      await new Promise<void>((resolve) => this.#waiting.set(channel, resolve));
    }
    this.#waiting.delete(channel);
  }

  /** Records the failure. The line is tried again after a while, if allowed. */
  async #strike(line: Line<Event>, error: string): Promise<Verdict> {
    // facts of one event stay in the order in which things happened
    await this.#recordedButFor(line.channel, 0);
    if (!(await this.#owner.failed(line, error))) return done;
    return { is: 'retry', afterMs: this.#owner.retryMs };
  }
}
