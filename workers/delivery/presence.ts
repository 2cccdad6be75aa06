import { once } from 'node:events';
import { clock } from '../../streams/core/clock.js';
import { roomTypeOf } from '../../streams/events/index.js';
import type { IrcConnection } from '../irc/connection.js';
import type { Session } from '../irc/session.js';
import type { Obstacle, Opening, Rooms } from './rooms.js';

/** A channel that we are in; `shown` has the tags of our lines in its history, if they were asked for. */
interface OpenRoom {
  is: 'open';
  session: Session;
  shown: ReadonlySet<string> | undefined;
}

/** The answer to "may I speak in this channel now?". */
export type Room = OpenRoom | Obstacle | { is: 'stopped' };

/** Whether the work is still ours: a worker that was cut off may have been replaced meanwhile. */
export interface Permit {
  readonly given: boolean;
  /** Resolves when it may be given again, or when the worker stops. */
  wait(): Promise<void>;
}

/** How entering a channel ended. `waiting`: who can let us in, or has to open it, cannot be asked now. */
type Entered = 'joined' | 'lost' | 'waiting' | { error: string };

interface Waiting {
  channel: string;
  history: boolean;
  resolve(outcome: Entered): void;
}

/**
 * Keeps the bot in the channels it speaks in. A channel is joined when the first line for it comes, many in
 * one go when many come together, and again in each new session of the connection.
 */
export class Presence {
  readonly #irc: IrcConnection;
  readonly #permit: Permit;
  readonly #stopping: AbortSignal;
  readonly #managed: Pick<Rooms, 'obstacle'> | undefined;
  #session: Session | undefined;
  #rooms = new Map<string, OpenRoom>();
  #waiting: Waiting[] = [];
  #joining = false;
  /** One wait for all channels. */
  #nextSession: Promise<unknown> | undefined;

  constructor(irc: IrcConnection, permit: Permit, stopping: AbortSignal, managed?: Pick<Rooms, 'obstacle'>) {
    this.#irc = irc;
    this.#permit = permit;
    this.#stopping = stopping;
    this.#managed = managed;
  }

  /** The channel, when we can speak in it without waiting for anything. */
  now(channel: string, inDoubt: boolean): Room | undefined {
    const session = this.#session;
    if (!session || session.lost.aborted || !this.#permit.given) return undefined;
    return this.#entered(session, channel, inDoubt);
  }

  /**
   * Waits for a session and enters the channel. `inDoubt` asks for the channel's history on the way in: lines of
   * an earlier session may be in it although nobody heard of their confirmation. `opens`: how the
   * line's event has the channel opened, if it does: what that changes comes before the line, also where we are in it.
   */
  async room(channel: string, inDoubt: boolean, opens?: Opening): Promise<Room> {
    for (;;) {
      const session = await this.#current();
      if (!session) return { is: 'stopped' };
      if (opens || !this.#entered(session, channel, inDoubt)) {
        const obstacle = await this.#managed?.obstacle(channel, opens);
        // where nobody can be forced into a channel, the service makes no rooms, and lines are shown without
        if (obstacle && (obstacle.is !== 'unready' || session.forces)) return obstacle;
        if (session.lost.aborted) continue;
      }
      if (!this.#entered(session, channel, inDoubt)) {
        const outcome = await this.#join(channel, inDoubt);
        if (outcome === 'waiting') return { is: 'unready' };
        if (outcome === 'lost') continue;
        if (outcome !== 'joined') return { is: 'refused', error: outcome.error };
      }
      const room = this.#rooms.get(channel);
      if (room && !session.lost.aborted && this.#permit.given) return room;
    }
  }

  /** Forgets that we are in a channel: the server answered as if we were not. */
  leave(channel: string): void {
    this.#rooms.delete(channel);
  }

  /** What was read of histories until now is not enough any more. */
  forgetHistories(): void {
    for (const room of this.#rooms.values()) room.shown = undefined;
  }

  /** The channel if we are in it as far as anybody has told us, and know its history if that is needed. */
  #entered(session: Session, channel: string, inDoubt: boolean): OpenRoom | undefined {
    const room = this.#rooms.get(channel);
    return room && !(inDoubt && !room.shown) && session.isIn(channel) ? room : undefined;
  }

  async #current(): Promise<Session | undefined> {
    while (!this.#stopping.aborted) {
      if (!this.#permit.given) {
        await this.#permit.wait();
        continue;
      }
      const session = this.#irc.session();
      if (session && !session.lost.aborted) {
        if (session !== this.#session) {
          this.#session = session;
          this.#rooms = new Map();
        }
        return session;
      }
      this.#nextSession ??= once(this.#irc, 'session', { signal: this.#stopping })
        .catch(() => undefined)
        .finally(() => {
          this.#nextSession = undefined;
        });
      await this.#nextSession;
    }
    return undefined;
  }

  #join(channel: string, history: boolean): Promise<Entered> {
    return new Promise((resolve) => {
      this.#waiting.push({ channel, history, resolve });
      if (this.#joining) return;
      this.#joining = true;
      clock.setImmediate(() => void this.#joinAll());
    });
  }

  async #joinAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const history = this.#waiting[0]!.history;
      const group = this.#waiting.filter((entry) => entry.history === history);
      this.#waiting = this.#waiting.filter((entry) => entry.history !== history);
      try {
        await this.#joinGroup(this.#session!, group, history);
      } catch (error) {
        for (const entry of group) entry.resolve({ error: (error as Error).message });
      }
    }
    this.#joining = false;
  }

  async #joinGroup(session: Session, group: Waiting[], history: boolean): Promise<void> {
    const channels = group.map((entry) => entry.channel);
    // only the channel service makes the room of a task: it makes it private
    const mayMake = (channel: string) => !(session.forces && this.#managed && roomTypeOf(channel) === 'task');
    const outcomes = await session.join(channels, { history, mayMake });
    for (const { channel, resolve } of group) {
      const outcome = outcomes.get(channel);
      if (!outcome || outcome.is === 'lost' || session !== this.#session) resolve('lost');
      else if (outcome.is === 'waiting') resolve('waiting');
      else if (outcome.is === 'refused') resolve({ error: `${outcome.code} ${outcome.error}` });
      else {
        const tags = outcome.history?.lines.flatMap((line) => line.tag ?? []);
        this.#rooms.set(channel, { is: 'open', session, shown: history ? new Set(tags) : undefined });
        resolve('joined');
      }
    }
  }
}
