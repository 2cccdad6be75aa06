import type { ConfirmedLine } from '../../streams/delivery/index.js';
import type { Presence } from './presence.js';
import type { Opening } from './rooms.js';

/** One event's line in one channel. */
export interface Line<Event> {
  event: Event;
  channel: string;
  text: string;
  /** Travels with the line as a client tag, so that it can be recognised in the channel's history. */
  tag: string;
  /** It may have been shown already: its confirmation was lost with a connection or a process. */
  inDoubt: boolean;
  /** How its event has the channel opened, if it does. */
  opens: Opening | undefined;
  /** On the wire now, without an answer yet. */
  inFlight: boolean;
}

/** What a lane needs from its worker. */
export interface LaneOwner<Event> {
  presence: Presence;
  stopping: AbortSignal;
  retryMs: number;
  /** Whether the line is still wanted: its event may have expired meanwhile. */
  wanted(line: Line<Event>): boolean;
  /** Calls `recorded` when the confirmation is on the log. */
  confirmed(line: Line<Event>, via: ConfirmedLine['via'], recorded: () => void): void;
  /** Resolves when the failure is on the log, with whether the line may be tried again. */
  failed(line: Line<Event>, error: string): Promise<boolean>;
  idle(channel: string): void;
}

/**
 * How many confirmed lines of a channel may wait for the log while the next one is sent. When service and
 * IRC server die in the same moment, only these can be shown a second time.
 */
const maxUnrecorded = 16;
const compactFrom = 32;

/**
 * The lines of one channel, one after the other in the order of the stream: one is in flight at a time, and a
 * refused line keeps its place until it is confirmed or given up.
 */
export class Lane<Event> {
  readonly #owner: LaneOwner<Event>;
  readonly #channel: string;
  #queue: Line<Event>[] = [];
  /** Where in the queue the line stands that is being delivered. */
  #front = 0;
  #unrecorded = 0;
  #wake = () => {};
  #running = false;
  /** Settles when the lane has come to rest. */
  done = Promise.resolve();

  constructor(channel: string, owner: LaneOwner<Event>) {
    this.#channel = channel;
    this.#owner = owner;
  }

  push(line: Line<Event>): void {
    this.#queue.push(line);
    if (this.#running) return;
    this.#running = true;
    this.done = this.#run();
  }

  /** Lets go of lines that are not wanted any more: their turn may be hours away. */
  prune(): void {
    const { wanted } = this.#owner;
    const rest = this.#queue.slice(this.#front);
    this.#queue = rest.filter((line, place) => place === 0 || wanted(line));
    this.#front = 0;
  }

  async #run(): Promise<void> {
    const { stopping } = this.#owner;
    while (!stopping.aborted) {
      const line = this.#queue[this.#front];
      if (line) {
        if (this.#unrecorded >= maxUnrecorded) await this.#recordedButFor(maxUnrecorded - 1);
        await this.#deliver(line);
        this.#advance();
      } else {
        await this.#recordedButFor(0);
        if (this.#queue.length === 0) break;
      }
    }
    this.#running = false;
    if (!stopping.aborted) this.#owner.idle(this.#channel);
  }

  #advance(): void {
    this.#front += 1;
    if (this.#front < this.#queue.length && this.#front < Math.max(compactFrom, this.#queue.length / 2))
      return;
    this.#queue.splice(0, this.#front);
    this.#front = 0;
  }

  /** Brings one line to its end: shown, given up, or no longer wanted. */
  async #deliver(line: Line<Event>): Promise<void> {
    const { presence } = this.#owner;
    let unconfirmed = false;
    while (this.#wanted(line)) {
      const room =
        presence.now(line.channel, line.inDoubt) ??
        (await presence.room(line.channel, line.inDoubt, line.opens));
      if (room.is === 'stopped' || !this.#wanted(line)) return;
      if (room.is === 'refused') {
        if (!(await this.#strike(line, room.error))) return;
        continue;
      }
      if (line.inDoubt && room.shown?.has(line.tag)) return this.#confirm(line, 'history');
      line.inDoubt = false;
      if (unconfirmed) {
        unconfirmed = false;
        if (!(await this.#strike(line, 'no confirmation in time'))) return;
        continue;
      }
      line.inFlight = true;
      const outcome = await room.session.say(line.channel, line.text, line.tag);
      line.inFlight = false;
      switch (outcome.is) {
        case 'confirmed':
          return this.#confirm(line, room.session.confirmation === 'labels' ? 'echo' : 'fence');
        case 'refused':
          presence.leave(line.channel);
          if (!(await this.#strike(line, `${outcome.code} ${outcome.error}`))) return;
          break;
        case 'unconfirmed':
          // the connection is made anew: its history tells whether this was a failure
          line.inDoubt = true;
          unconfirmed = true;
          break;
        case 'lost':
          line.inDoubt = outcome.written;
          break;
      }
    }
  }

  #wanted(line: Line<Event>): boolean {
    return !this.#owner.stopping.aborted && this.#owner.wanted(line);
  }

  #confirm(line: Line<Event>, via: ConfirmedLine['via']): void {
    this.#unrecorded += 1;
    this.#owner.confirmed(line, via, this.#recorded);
  }

  readonly #recorded = (): void => {
    this.#unrecorded -= 1;
    this.#wake();
  };

  /** Waits until the log has all confirmations but so many. */
  async #recordedButFor(most: number): Promise<void> {
    while (this.#unrecorded > most) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Records the failure and waits until the line may be tried again; false when it may not. */
  async #strike(line: Line<Event>, error: string): Promise<boolean> {
    // facts of one event stay in the order in which things happened
    await this.#recordedButFor(0);
    if (!(await this.#owner.failed(line, error))) return false;
    const { stopping, retryMs } = this.#owner;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        stopping.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, retryMs);
      stopping.addEventListener('abort', end);
    });
    return true;
  }
}
