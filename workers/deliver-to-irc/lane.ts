import type { ConfirmedLine } from '../../streams/delivery/index.js';
import type { Presence } from './presence.js';

/** One event's line in one channel. */
export interface Line<Event> {
  event: Event;
  channel: string;
  text: string;
  /** Travels with the line as a client tag, so that it can be recognised in the channel's history. */
  tag: string;
  /** It may have been shown already: its confirmation was lost with a connection or a process. */
  inDoubt: boolean;
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
  /** Resolves when the confirmation is on the log. */
  confirmed(line: Line<Event>, via: ConfirmedLine['via']): Promise<void>;
  /** Resolves when the failure is on the log, with whether the line may be tried again. */
  failed(line: Line<Event>, error: string): Promise<boolean>;
  idle(channel: string): void;
}

/**
 * How many confirmed lines of a channel may wait for the log while the next one is sent. When service and
 * IRC server die in the same moment, only these can be shown a second time.
 */
const maxUnrecorded = 16;

/**
 * The lines of one channel, one after the other in the order of the stream: one is in flight at a time, and a
 * refused line keeps its place until it is confirmed or given up.
 */
export class Lane<Event> {
  readonly #owner: LaneOwner<Event>;
  readonly #channel: string;
  readonly #queue: Line<Event>[] = [];
  readonly #unrecorded = new Set<Promise<void>>();
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

  async #run(): Promise<void> {
    // a queue of a hundred thousand lines is consumed from its front by index, and compacted now and then
    let front = 0;
    while (front < this.#queue.length && !this.#owner.stopping.aborted) {
      if (this.#unrecorded.size >= maxUnrecorded) await Promise.race(this.#unrecorded);
      await this.#deliver(this.#queue[front]!);
      front++;
      if (front === 1_000) {
        this.#queue.splice(0, front);
        front = 0;
      }
    }
    this.#queue.splice(0, front);
    await Promise.all(this.#unrecorded);
    this.#running = false;
    if (this.#owner.stopping.aborted) return;
    if (this.#queue.length > 0) {
      this.#running = true;
      this.done = this.#run();
    } else this.#owner.idle(this.#channel);
  }

  /** Brings one line to its end: shown, given up, or no longer wanted. */
  async #deliver(line: Line<Event>): Promise<void> {
    const { presence, stopping } = this.#owner;
    let unconfirmed = false;
    while (!stopping.aborted && this.#owner.wanted(line)) {
      const room = await presence.room(line.channel, line.inDoubt);
      if (room.is === 'stopped') return;
      if (room.is === 'refused') {
        if (!(await this.#strike(line, room.error))) return;
        continue;
      }
      if (line.inDoubt && room.wasShown(line.tag)) {
        this.#confirm(line, 'history');
        return;
      }
      if (unconfirmed) {
        unconfirmed = false;
        if (!(await this.#strike(line, 'no confirmation in time'))) return;
        continue;
      }
      if (!this.#owner.wanted(line)) return;
      line.inFlight = true;
      const outcome = await room.session.say(line.channel, line.text, line.tag);
      line.inFlight = false;
      switch (outcome.is) {
        case 'confirmed':
          this.#confirm(line, room.session.confirmation === 'labels' ? 'echo' : 'fence');
          return;
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
          line.inDoubt ||= outcome.written;
          break;
      }
    }
  }

  #confirm(line: Line<Event>, via: ConfirmedLine['via']): void {
    const recorded = this.#owner.confirmed(line, via).finally(() => this.#unrecorded.delete(recorded));
    this.#unrecorded.add(recorded);
  }

  /** Records the failure and waits until the line may be tried again; false when it may not. */
  async #strike(line: Line<Event>, error: string): Promise<boolean> {
    // facts of one event stay in the order in which things happened
    await Promise.all(this.#unrecorded);
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
