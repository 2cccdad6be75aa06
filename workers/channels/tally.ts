import type { Logger } from 'pino';
import { activeChannels, limitedOperations } from '../../projections/channels/queries.js';
import type { Read } from '../../projections/core/projection.js';
import { type ChannelFact, type ChannelType, channels } from '../../streams/channels/index.js';
import { type Log, Refusal } from '../../streams/core/index.js';
import { HourlyLimit, type Hours } from './hourly-limit.js';
import type { HourlyLimits } from './options.js';
import type { OwnFacts } from './own-facts.js';
import { Places } from './places.js';

/** What a tally is taken of. */
export interface TallyOptions {
  log: Log;
  /** Reads the read model of the channel directory. */
  read: Read;
  limits: HourlyLimits;
  hours: Hours;
  /** What this process records counts when it is taken, and not again when it is seen. */
  own: OwnFacts;
  logger: Logger;
  /** Ends the following of the log. */
  signal: AbortSignal;
}

/** How many channels of a type there may be; archived ones do not count. */
export const mostOfType: Partial<Record<ChannelType, number>> = {
  task: 5_000,
  geographic: 500,
  category: 100,
};

const hourMs = 3_600_000;

/** What there is and what was done lately. */
export class Tally {
  readonly creations: HourlyLimit;
  readonly deletions: HourlyLimit;
  readonly memberOperations: HourlyLimit;
  readonly #places: Places;

  private constructor(
    { limits, hours }: Pick<TallyOptions, 'limits' | 'hours'>,
    places: Places,
    done: Awaited<ReturnType<typeof limitedOperations>>,
  ) {
    this.#places = places;
    this.creations = new HourlyLimit('channel creations', limits.creations, hours, done.creations);
    this.deletions = new HourlyLimit('channel deletions', limits.deletions, hours, done.deletions);
    this.memberOperations = new HourlyLimit(
      'member operations',
      limits.memberOperations,
      hours,
      done.memberOperations,
    );
  }

  /** Takes stock of everything that is recorded by now, and follows the channels from there. */
  static async take({ log, read, limits, hours, own, logger, signal }: TallyOptions): Promise<Tally> {
    const after = { stream: channels.name, seq: await log.head(channels) };
    const now = log.now();
    const active = await read(activeChannels, after);
    const since = new Date(now.getTime() - hourMs);
    const done = await read((sql, schema) => limitedOperations(sql, schema, since));
    const places = new Places(mostOfType, active);
    const tally = new Tally({ limits, hours }, places, done);
    places.follow({
      log,
      logger,
      after: after.seq,
      signal,
      observe: (fact, { seq, at }) => {
        if (!own.has(fact.data.name, seq)) tally.#count(fact, at);
      },
    });
    return tally;
  }

  /** Counts what another process has done for a caller: it may hold the channel bot too, for a while. */
  #count({ type, data }: ChannelFact, at: Date): void {
    if (type === 'channel.created' && data.cause === 'request') this.creations.add(1, at);
    if (type === 'channel.deleted' && data.cause === 'request') this.deletions.add(1, at);
    if (type === 'members.changed' && data.cause === undefined)
      this.memberOperations.add(data.nicks.length, at);
  }

  /**
   * Keeps a place for a new channel, until the answer is called. Throws a 429 when there may be no more channels of the
   * type.
   */
  async reserve(type: ChannelType, name: string): Promise<() => void> {
    const kept = await this.#places.reserve(type, name);
    if (!kept) throw full(type);
    return kept;
  }

  /**
   * Throws the same if a channel is one too many: another process may hold the channel bot too, and was faster. `after`: the
   * sequence of its creation, or of a later fact about it.
   */
  async requireWithin(type: ChannelType, name: string, after: number): Promise<void> {
    if (await this.#places.isBeyond(type, name, after)) throw full(type);
  }

  /** Something was recorded, up to this sequence: what is asked from now on takes it into account. */
  wrote(seq: number): void {
    this.#places.wrote(seq);
  }
}

function full(type: ChannelType): Refusal {
  return new Refusal(
    'type_limit_reached',
    `There are ${mostOfType[type]} ${type} channels, which is the limit`,
  );
}
