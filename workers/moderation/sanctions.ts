import {
  dueLifts,
  isOutlived,
  masksInForce,
  type RunningIncident,
  unansweredIncidents,
} from '../../projections/moderation/running.js';
import { type Position, retry, Sleeper } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  type Action,
  type Enforcement,
  lateAfterMs,
  loopPattern,
  moderation,
  personDecider,
} from '../../streams/moderation/index.js';
import { answer, carryOut } from './carry-out.js';
import type { InHand } from './in-hand.js';
import { type GuardOptions, guard } from './options.js';

const retryMs = 2_000;
/** A lift that the network refuses is tried again after this time, in milliseconds. */
const refusedMs = 10 * 60_000;
const longestMs = 60_000;
const atOnce = 200;
/** What takes an action back that lasts. */
const undone: Partial<Record<Action, Enforcement['act']>> = { ban: 'unban', quiet: 'unquiet' };
/** What is not up yet and comes by itself. */
export const isComing = new Set<unknown>(['irc_unavailable', 'read_model_building', 'read_model_behind']);

/**
 * Handles actions that last. It lifts mutes and bans when their time is up or they were pardoned. It finishes
 * actions that a crash or an outage interrupted. All of it is read from the record.
 */
export class Sanctions {
  readonly #options: GuardOptions;
  readonly #inHand: InHand;
  readonly #stop = new AbortController();
  readonly #refused = new Map<string, number>();
  #seen: Position | undefined;
  /** Called when something was recorded. */
  readonly #sleeper = new Sleeper();
  #running: Promise<unknown> | undefined;
  /** Whether the last look failed: then the next one comes soon anyway. */
  #isFailing = false;

  /** Others who look at what is recorded, each time that this does. */
  readonly #others: readonly { look(after: Position | undefined): Promise<void> }[];

  constructor(
    options: GuardOptions,
    inHand: InHand,
    others: readonly { look(after: Position | undefined): Promise<void> }[],
  ) {
    this.#options = options;
    this.#others = others;
    this.#inHand = inHand;
  }

  start(): void {
    this.#running = Promise.all([this.#follow(), this.#run()]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Every fact may be a reason to look: an action that was taken, a pardon. */
  async #follow(): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#stop;
    const pauses = { first: retryMs, longest: retryMs };
    const after = await retry(() => log.head(moderation), { pauses, failed: () => {}, signal });
    if (after === undefined) return;
    for await (const entries of log.follow(moderation, { after, batch: 100, signal })) {
      const last = entries.at(-1);
      if (!last) continue;
      this.#sawUpTo(last.seq);
      this.#sleeper.wake();
    }
  }

  /** Somebody could not be seen to: looks at once, and then again and again until it can be done. */
  soon(): void {
    if (!this.#isFailing) this.#sleeper.wake();
  }

  #sawUpTo(seq: number): void {
    if (seq > (this.#seen?.seq ?? 0)) this.#seen = { stream: moderation.name, seq };
  }

  async #run(): Promise<void> {
    const { log, logger } = this.#options;
    while (!this.#stop.signal.aborted) {
      let pauseMs = retryMs;
      try {
        pauseMs = await this.#look();
        this.#isFailing = false;
      } catch (error) {
        this.#isFailing = true;
        const { code } = error as { code?: unknown };
        if (!isComing.has(code) && log.connected)
          logger.warn({ err: error }, 'sanctions cannot be seen to now');
      }
      await this.#sleeper.sleep(pauseMs, this.#stop.signal);
    }
  }

  /** Does what is due now. Answers after how many milliseconds to look again. */
  async #look(): Promise<number> {
    const { log, read } = this.#options;
    const now = log.now();
    const unanswered = (
      await read((sql, schema) => unansweredIncidents(sql, schema, atOnce), this.#seen)
    ).filter(({ ref }) => !this.#inHand.has(ref));
    await this.#each(unanswered, (incident) => this.#finish(incident, now));
    const { due, next } = await read((sql, schema) => dueLifts(sql, schema, now));
    await this.#each(due, (incident) => this.#lift(incident, now));
    for (const other of this.#others) await other.look(this.#seen);
    if (unanswered.length > 0 || due.length > 0) return retryMs;
    return next ? Math.min(longestMs, Math.max(10, next.getTime() - log.now().getTime())) : longestMs;
  }

  /** A failure must not hold up the others. Without the network all of them wait. */
  async #each(
    incidents: RunningIncident[],
    work: (incident: RunningIncident) => Promise<void>,
  ): Promise<void> {
    for (const incident of incidents) {
      if (this.#stop.signal.aborted) return;
      try {
        await work(incident);
      } catch (error) {
        if ((error as { code?: unknown }).code === 'irc_unavailable') throw error;
        this.#options.logger.warn({ id: incident.id, err: error }, 'incident cannot be seen to now');
      }
    }
  }

  async #finish(incident: RunningIncident, now: Date): Promise<void> {
    if (now.getTime() - incident.saidAt.getTime() <= lateAfterMs && !incident.pardoned) {
      await carryOut(this.#options, incident);
      return;
    }
    // it may have been done, by somebody who could not record it
    if (!(await this.#takeBack(incident, now))) return;
    const error = incident.pardoned ? 'Pardoned before it was done' : 'Too late: the network was away';
    await answer(this.#options, incident, { is: 'failed', error });
  }

  /** Lifts what may have been set. Answers whether it could be told what else is in force. */
  async #takeBack(incident: RunningIncident, now: Date): Promise<boolean> {
    const { enforce, read, bots, logger } = this.#options;
    const { nick, host, account, channel, action, patterns } = incident;
    const act = undone[action];
    if (!act) return true;
    const outlived = await read((sql, schema) => isOutlived(sql, schema, incident, now), this.#seen);
    if (outlived === 'perhaps') return false;
    const unless = await read((sql, schema) => masksInForce(sql, schema, casefold(channel)), this.#seen);
    const lifted = await enforce({
      act,
      channel,
      nick,
      host: host ?? undefined,
      account: account ?? undefined,
      sparing: bots,
      ...(patterns === loopPattern ? { thisUser: true as const } : {}),
      unless,
      text: '',
    });
    if (lifted.is === 'failed')
      logger.warn({ channel, nick, action, error: lifted.error }, 'sanction cannot be lifted');
    return true;
  }

  async #lift(incident: RunningIncident, now: Date): Promise<void> {
    const { log, logger, enforce, read } = this.#options;
    const { ref, subject, nick, host, account, channel, action, mask, voice } = incident;
    if ((this.#refused.get(ref) ?? 0) > now.getTime()) return;
    const record = async (ended: { outcome: 'done' | 'failed' | 'outlived'; error?: string }) => {
      const lift = { is: 'lift', subject, ref, ...ended } as const;
      const { position } = await log.handle(moderation, personDecider, lift, { by: guard });
      this.#sawUpTo(position.seq);
    };
    // several may end at once under one mask: of these, each must see that those before it are lifted
    const outlived = await read((sql, schema) => isOutlived(sql, schema, incident, now), this.#seen);
    // one that is set now finds the mask there, and would lose it
    if (outlived === 'perhaps') return;
    if (outlived === 'yes') {
      await record({ outcome: 'outlived' });
      return;
    }
    const lifted = await enforce({
      act: undone[action] ?? 'unquiet',
      channel,
      nick,
      host: host ?? undefined,
      account: account ?? undefined,
      text: '',
      ...(mask === null ? {} : { mask, voice }),
    });
    if (lifted.is === 'failed') {
      this.#refused.set(ref, now.getTime() + refusedMs);
      logger.warn({ channel, nick, action, error: lifted.error }, 'sanction cannot be lifted');
      await record({ outcome: 'failed', error: lifted.error });
      return;
    }
    this.#refused.delete(ref);
    logger.info({ channel, nick, action }, 'sanction lifted');
    await record({ outcome: 'done' });
  }
}
