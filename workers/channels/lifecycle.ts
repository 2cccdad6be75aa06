import { dueChannels } from '../../projections/channels/queries.js';
import { clock, type Timer } from '../../streams/core/clock.js';
import { codeOf } from '../core/rpc.js';
import type { Commands } from './commands.js';
import type { KeepChannelsOptions } from './options.js';

/** What the lifecycle works with. */
export interface LifecycleOptions
  extends Pick<KeepChannelsOptions, 'log' | 'read' | 'lifetimes' | 'logger' | 'observe'> {
  commands: Commands;
  schedule: NonNullable<KeepChannelsOptions['schedule']>;
}

const by = 'keep-channels';
/** Channels that are dealt with at a time: callers' commands come in between. */
const atATime = 50;
const dayMs = 86_400_000;

/** Closes channels that time has made due. A run that was interrupted is taken up by the next one. */
export class Lifecycle {
  readonly #options: LifecycleOptions;
  #timer: Timer | undefined;
  #running = Promise.resolve();
  #stopped = false;

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  start(): void {
    this.#arrange(this.#options.schedule.firstMs);
  }

  /** Ends after the channels in hand. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clock.clearTimeout(this.#timer);
    await this.#running;
  }

  #arrange(ms: number): void {
    this.#timer = clock.setTimeout(() => {
      this.#running = this.#run().finally(() => {
        if (!this.#stopped) this.#arrange(this.#options.schedule.everyMs);
      });
    }, ms);
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    const { log, read, lifetimes, commands, logger } = this.#options;
    const started = clock.elapsed();
    try {
      const now = log.now();
      const { toDelete, idle, idleCategories, ended } = await read((sql, schema) =>
        dueChannels(sql, schema, now, lifetimes),
      );
      const archive = (reason: string) => async (name: string) => {
        await commands.remove({ name, reason, immediate: false, cause: 'lifecycle' }, { by });
      };
      const idleDays = Math.round(lifetimes.geographicIdleMs / dayMs);
      await this.#each('expire', toDelete, (name) => commands.expire(name, { by }));
      await this.#each('archive', idle, archive(`Nothing was done for ${idleDays} days`));
      await this.#each('archive', ended, archive('Task ended'));
      // nothing of what is said there is on record here: whether somebody is there tells whether it is in use
      const empty = idleCategories.length > 0 ? await commands.emptyAmong(idleCategories) : [];
      await this.#each(
        'archive',
        empty,
        archive(`Nobody was here, and nothing was done for ${idleDays} days`),
      );
      const counts = { deleted: toDelete.length, idle: idle.length + empty.length, ended: ended.length };
      const ms = Math.round(clock.elapsed() - started);
      logger[counts.deleted + counts.idle + counts.ended > 0 ? 'info' : 'debug'](
        { ...counts, ms },
        'channel lifecycle',
      );
    } catch (error) {
      logger.warn({ err: error }, 'channel lifecycle has to wait');
    }
  }

  async #each(
    operation: string,
    names: readonly string[],
    work: (name: string) => Promise<unknown>,
  ): Promise<void> {
    for (let from = 0; from < names.length && !this.#stopped; from += atATime) {
      await Promise.all(names.slice(from, from + atATime).map((name) => this.#try(operation, name, work)));
    }
  }

  /** What is due and was deleted meanwhile needs nothing, nor what is not managed any more; anything else ends the run. */
  async #try(operation: string, name: string, work: (name: string) => Promise<unknown>): Promise<void> {
    const { observe } = this.#options;
    try {
      await work(name);
      observe?.operation(operation, 'done');
    } catch (error) {
      const code = codeOf(error);
      observe?.operation(operation, code);
      if (code !== 'not_found' && code !== 'channel_reserved') throw error;
    }
  }
}
