import { activeChannels, limitedOperations } from '../../projections/channels/queries.js';
import type { Read } from '../../projections/core/projection.js';
import { type ChannelType, channels } from '../../streams/channels/index.js';
import { type Log, Refusal } from '../../streams/core/index.js';
import type { HourlyLimits } from './options.js';

/** How many channels of a type there may be; archived ones do not count. */
const mostOfType: Partial<Record<ChannelType, number>> = { task: 5_000, geographic: 500, category: 100 };

const hourMs = 3_600_000;

/** What there is and what was done lately, kept by the only one who does it. */
export class Tally {
  readonly creations: HourlyLimit;
  readonly deletions: HourlyLimit;
  readonly memberOperations: HourlyLimit;
  readonly #channels: Record<ChannelType, number>;

  private constructor(
    limits: HourlyLimits,
    counts: Record<ChannelType, number>,
    done: Awaited<ReturnType<typeof limitedOperations>>,
  ) {
    this.#channels = counts;
    this.creations = new HourlyLimit('channel creations', limits.creations, done.creations);
    this.deletions = new HourlyLimit('channel deletions', limits.deletions, done.deletions);
    this.memberOperations = new HourlyLimit(
      'member operations',
      limits.memberOperations,
      done.memberOperations,
    );
  }

  /** Takes stock of everything that is recorded by now. */
  static async take(log: Log, read: Read, limits: HourlyLimits): Promise<Tally> {
    const after = { stream: channels.name, seq: await log.head(channels) };
    const now = log.now();
    const active = await read(activeChannels, after);
    const since = new Date(now.getTime() - hourMs);
    const done = await read((sql, schema) => limitedOperations(sql, schema, since));
    return new Tally(limits, active, done);
  }

  /** Throws a 429 when there may be no more channels of a type. */
  requireRoom(type: ChannelType): void {
    const most = mostOfType[type];
    if (most === undefined || this.#channels[type] < most) return;
    throw new Refusal('type_limit_reached', `There are ${most} ${type} channels, which is the limit`);
  }

  /** Counts a channel that was created (1), or archived or deleted while it was not archived (-1). */
  count(type: ChannelType, step: 1 | -1): void {
    this.#channels[type] += step;
  }
}

/** How much of something may be done in any hour; 0 lifts the limit. */
export class HourlyLimit {
  readonly #what: string;
  readonly #most: number;
  /** When it was done, oldest first, in milliseconds. */
  #times: number[];

  /** `what` is a plural for the refusal's text; `times` is what was done before. */
  constructor(what: string, most: number, times: readonly Date[] = []) {
    this.#what = what;
    this.#most = most;
    this.#times = times.map((time) => time.getTime());
  }

  /** Takes `count` of them. Throws a 429 that says when there will be room, and takes none. */
  take(count: number, now: Date): void {
    if (this.#most === 0) return;
    this.#times = this.#times.filter((time) => time > now.getTime() - hourMs);
    const over = this.#times.length + count - this.#most;
    if (over > 0) {
      const free = (this.#times[over - 1] ?? now.getTime()) + hourMs;
      const retryAfter = Math.max(1, Math.ceil((free - now.getTime()) / 1_000));
      const text = `Too many ${this.#what}: at most ${this.#most} an hour`;
      throw new Refusal('rate_limited', text, { retryAfter });
    }
    for (let n = 0; n < count; n++) this.#times.push(now.getTime());
  }

  /** Gives back what was taken last and was not done. */
  giveBack(count: number): void {
    this.#times.splice(Math.max(0, this.#times.length - count));
  }
}
