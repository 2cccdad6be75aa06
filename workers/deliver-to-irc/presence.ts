import { once } from 'node:events';
import type { IrcConnection } from '../irc/connection.js';
import type { JoinOutcome } from '../irc/join.js';
import type { Session } from '../irc/session.js';

/** The answer to "may I speak in this channel now?". */
export type Room =
  /** `wasShown` tells whether a line with this tag stands in the channel's history; only asked of lines in doubt. */
  | { is: 'open'; session: Session; wasShown(tag: string): boolean }
  | { is: 'refused'; error: string }
  | { is: 'stopped' };

interface Waiting {
  channel: string;
  history: boolean;
  resolve(outcome: 'joined' | 'lost' | { error: string }): void;
}

/**
 * Keeps the bot in the channels it speaks in. A channel is joined when the first line for it comes, many in
 * one go when many come together, and again in each new session of the connection.
 */
export class Presence {
  readonly #irc: IrcConnection;
  readonly #stopping: AbortSignal;
  #session: Session | undefined;
  #joined = new Map<string, Set<string> | undefined>();
  #waiting: Waiting[] = [];
  #joining = false;
  /** One wait for all lanes. */
  #nextSession: Promise<unknown> | undefined;

  constructor(irc: IrcConnection, stopping: AbortSignal) {
    this.#irc = irc;
    this.#stopping = stopping;
  }

  /**
   * Waits for a session and enters the channel. `inDoubt` asks for the channel's history on the way in: lines of
   * an earlier session may stand in it although nobody heard of their confirmation.
   */
  async room(channel: string, inDoubt: boolean): Promise<Room> {
    for (;;) {
      const session = await this.#current();
      if (!session) return { is: 'stopped' };
      if (!this.#joined.has(channel)) {
        const outcome = await this.#join(channel, inDoubt);
        if (outcome === 'lost') continue;
        if (outcome !== 'joined') return { is: 'refused', error: outcome.error };
      }
      if (session.lost.aborted) continue;
      const shown = this.#joined.get(channel);
      return { is: 'open', session, wasShown: (tag) => shown?.has(tag) ?? false };
    }
  }

  /** Forgets that we are in a channel: the server answered as if we were not. */
  leave(channel: string): void {
    this.#joined.delete(channel);
  }

  async #current(): Promise<Session | undefined> {
    while (!this.#stopping.aborted) {
      const session = this.#irc.session();
      if (session && !session.lost.aborted) {
        if (session !== this.#session) {
          this.#session = session;
          this.#joined = new Map();
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

  #join(channel: string, history: boolean): Promise<'joined' | 'lost' | { error: string }> {
    return new Promise((resolve) => {
      this.#waiting.push({ channel, history, resolve });
      if (this.#joining) return;
      this.#joining = true;
      setImmediate(() => void this.#joinAll());
    });
  }

  async #joinAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const history = this.#waiting[0]!.history;
      const group = this.#waiting.filter((entry) => entry.history === history);
      this.#waiting = this.#waiting.filter((entry) => entry.history !== history);
      const session = this.#session!;
      const channels = group.map((entry) => entry.channel);
      const outcomes: Map<string, JoinOutcome> = await session.join(channels, { history });
      for (const entry of group) {
        const outcome = outcomes.get(entry.channel);
        if (!outcome || outcome.is === 'lost' || session !== this.#session) entry.resolve('lost');
        else if (outcome.is === 'refused') entry.resolve({ error: `${outcome.code} ${outcome.error}` });
        else {
          const tags = outcome.history?.lines.flatMap((line) => (line.tag ? [line.tag] : []));
          this.#joined.set(entry.channel, tags && new Set(tags));
          entry.resolve('joined');
        }
      }
    }
    this.#joining = false;
  }
}
