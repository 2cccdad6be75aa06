import { type ChannelState, channelSubject, channels } from '../../streams/channels/index.js';
import { clock, type Timer } from '../../streams/core/clock.js';
import { isManagedChannel } from '../../streams/irc-grammar.js';
import { permanentMode } from '../irc/join.js';
import type { Session } from '../irc/session.js';
import { removeForeignMasks } from './bans.js';
import { type Commands, isUnavailable } from './commands.js';
import { type Door, isClosed } from './door.js';
import { modesOf } from './lookups.js';
import type { KeepChannelsOptions } from './options.js';
import type { PendingInvites } from './pending-invites.js';
import type { Reserved } from './reserved.js';
import { closeRoom, openRoom, refusedByNetwork, repairRoom } from './room.js';
import type { Tally } from './tally.js';

/** What repairs are made with. */
export interface RepairsOptions
  extends Pick<KeepChannelsOptions, 'log' | 'irc' | 'bots' | 'masksIn' | 'logger' | 'observe'> {
  commands: Commands;
  pending: PendingInvites;
  door: Door;
  reserved: Reserved;
  /** As for commands. */
  tally(): Promise<Tally>;
}

const by = 'keep-channels';

/** How long after a kick one of our bots is brought back to a channel, and how often that may happen. */
const usual = { afterMs: 2_000, everyMs: 60_000 };
/** The same where somebody was given an operator's rights, or a channel is not opened yet. */
const urgent = { afterMs: 0, everyMs: 5_000 };
/** The same where it could not be read which masks moderation has set. */
const later = { afterMs: 5_000, everyMs: 5_000 };

/** Brings single channels back to their recorded state, after a while. */
export class Repairs {
  readonly #options: RepairsOptions;
  readonly #waiting = new Map<string, { timer: Timer; at: number }>();
  /** Channels in which somebody was given rights that the service did not give. */
  readonly #ruled = new Set<string>();
  /** Channels in whose lists something may have stayed that does not belong there. */
  readonly #doubtful = new Set<string>();
  readonly #doneAt = new Map<string, number>();
  #stopped = false;

  constructor(options: RepairsOptions) {
    this.#options = options;
  }

  /** Begins no more. */
  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#waiting.values()) clock.clearTimeout(timer);
  }

  /** Not at once and not often: a bot may be about to come back by itself, and nobody wins a war of kicks. */
  soon(name: string): void {
    this.#plan(name, usual);
  }

  /** A channel may not be opened yet: at once. */
  unopened(name: string): void {
    this.#plan(name, urgent);
  }

  /** Somebody was given rights in a channel: at once, but a war with a service that gives them is not won either. */
  ruled(name: string): void {
    if (isManagedChannel(name)) this.#ruled.add(name);
    this.#plan(name, urgent);
  }

  /** It could not be read which masks of a channel moderation has set: its lists are looked through again. */
  inDoubt(name: string): void {
    if (isManagedChannel(name)) this.#doubtful.add(name);
    this.#plan(name, later);
  }

  #plan(name: string, { afterMs, everyMs }: typeof usual): void {
    if (!isManagedChannel(name) || this.#stopped) return;
    const now = clock.elapsed();
    const at = Math.max(now + afterMs, (this.#doneAt.get(name) ?? Number.NEGATIVE_INFINITY) + everyMs);
    const waiting = this.#waiting.get(name);
    if (waiting && waiting.at <= at) return;
    if (waiting) clock.clearTimeout(waiting.timer);
    const timer = clock.setTimeout(() => {
      this.#waiting.delete(name);
      for (const [other, at] of this.#doneAt)
        if (at + usual.everyMs <= clock.elapsed()) this.#doneAt.delete(other);
      this.#doneAt.set(name, clock.elapsed());
      void this.#repair(name);
    }, at - now);
    timer.unref();
    this.#waiting.set(name, { timer, at });
  }

  async #repair(name: string): Promise<void> {
    const { logger } = this.#options;
    const isRuled = this.#ruled.delete(name);
    const isDoubtful = this.#doubtful.delete(name);
    try {
      const changed = await this.#bringBack(name, { isRuled, isDoubtful });
      if (changed.length > 0) this.#options.observe?.repaired('changed', 1);
      logger.info({ channel: name, changed }, 'channel looked after');
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === 'channel_reserved') return;
      if (isRuled) this.#ruled.add(name);
      if (isDoubtful) this.#doubtful.add(name);
      if (isUnavailable(error)) this.#doneAt.delete(name);
      else logger.warn({ channel: name, err: error }, 'channel cannot be repaired yet');
      // without a session, the next one repairs it
      if (code !== 'irc_unavailable' || this.#options.irc.session()) this.soon(name);
    }
  }

  /** Brings one channel to its recorded state, and our bots into it. Answers what was different. */
  async #bringBack(
    name: string,
    { isRuled, isDoubtful }: { isRuled: boolean; isDoubtful: boolean },
  ): Promise<string[]> {
    const { commands, pending, door } = this.#options;
    const session = commands.session();
    return await commands.alone(name, {}, async () => {
      if (!(await commands.exists(name))) return await this.#removeLeftover(session, name);
      const { state, seq } = await commands.look(name, { by });
      if (!commands.unopened.has(name)) {
        const { changed, out } = await repairRoom(session, { ...state, name, isRuled }, this.#options);
        pending.add(name, out, isClosed(state.modes));
        const removed = isDoubtful ? await removeForeignMasks(session, name, this.#options) : 0;
        return removed > 0 ? [...changed, `${removed} masks of another server removed`] : changed;
      }
      if (await this.#isTakenBack(name, state, seq)) return await this.#removeLeftover(session, name);
      const { invited, refused } = await openRoom(session, { ...state, name }, this.#options, door);
      commands.unopened.delete(name);
      if (refused) throw refusedByNetwork(refused, 'The network refuses the channel');
      pending.add(
        name,
        state.invited.filter((nick) => !invited.includes(nick)),
        isClosed(state.modes),
      );
      return ['opened'];
    });
  }

  /**
   * Takes back a channel that is one too many: its maker could not tell. Throws `Unavailable` while that still cannot be
   * told.
   */
  async #isTakenBack(name: string, { type, life }: ChannelState, seq: number): Promise<boolean> {
    const { commands, logger } = this.#options;
    const tally = await this.#options.tally();
    try {
      await tally.requireWithin(type, name, seq);
      return false;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      tally.wrote((await commands.takeBack(name, life, { by })) ?? 0);
      logger.warn({ type, channel: name }, 'channel beyond the limit is taken back');
      return true;
    }
  }

  /** Closes a channel of ours that was deleted and still exists. */
  async #removeLeftover(session: Session, name: string): Promise<string[]> {
    const { log, commands, pending, reserved } = this.#options;
    commands.unopened.delete(name);
    pending.remove(name);
    reserved.refuse(name);
    if ((await log.last(channels, channelSubject(name)))?.type !== 'channel.deleted') return [];
    // without +P it is somebody else's by now: the name is free again
    if (!(await modesOf(session, name)).has(permanentMode)) return [];
    await closeRoom(session, name, 'Channel deleted');
    return ['removed'];
  }
}
