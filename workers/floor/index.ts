import type { Logger } from 'pino';
import type { StoredFloor } from '../../projections/floor/queries.js';
import { clock, pause } from '../../streams/core/clock.js';
import { boundedCache, type Log, type Position, type Recorded } from '../../streams/core/index.js';
import { type FloorAnswer, type FloorState, floorAt } from '../../streams/floor/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { type IrcFact, irc } from '../../streams/network/index.js';
import { ReadModelReactor } from '../core/read-model-reactor.js';
import { RateLimit } from '../irc/command-rate.js';
import type { IrcConnection, IrcLine, Session } from '../irc/index.js';
import { type Followed, FollowedFloors, free } from './followed.js';
import { announcement, answerOf } from './words.js';

/** What the floors of channels are told with. */
export interface TellFloorsOptions {
  log: Log;
  logger: Logger;
  /** The bot that tells. */
  irc: IrcConnection;
  /** Records a line that we have said. */
  rooms: { hear(line: IrcLine): void };
  /** All floors, once the record is folded up to a position. */
  floors(after: Position): Promise<StoredFloor[]>;
}

const lookMs = 500;
/** Announcements of one channel are at least so far apart: of several turns the last one is told. */
const apartMs = 3_000;
/** The record lags a little: a line may come after the moment at which its speaker had to speak. */
const lagMs = 1_000;
/** The same answer to the same question of somebody comes once in this time. So many answers are remembered. */
const onceMs = 10_000;
const mostRemembered = 10_000;
/** An older line is not answered any more. */
const lateMs = 5 * 60_000;
/** The last line may not have been shown. */
const untold = '';

/**
 * Tells channels whose turn it is, and those who ask for the floor what came of it. It decides nothing: floors follow from
 * the record by the rule of `streams/floor`.
 */
export class TellFloors {
  readonly #options: TellFloorsOptions;
  readonly #floors = new FollowedFloors();
  readonly #reactor: ReadModelReactor<typeof irc, StoredFloor, never>;
  readonly #rate = new RateLimit();
  /** What was answered last, and when (on the clock of `clock.elapsed()`), by who asked, where and what. */
  readonly #answered = boundedCache<string, { told: string; at: number }>(mostRemembered);

  constructor(options: TellFloorsOptions) {
    this.#options = options;
    const { log, logger, floors } = options;
    this.#reactor = new ReadModelReactor<typeof irc, StoredFloor, never>({
      log,
      logger,
      stream: irc,
      read: async (after) => ({ rows: await floors(after), seq: after.seq }),
      // whoever has the floor may not have heard of it from the process before this one: that is told again
      known: (row) => this.#floors.know(row),
      seen: (fact) => this.#see(fact),
      handle: async () => ({ is: 'done' }),
    });
  }

  start(): void {
    this.#reactor.start(this.#watch());
  }

  async stop(): Promise<void> {
    await this.#reactor.stop();
  }

  #see(fact: Recorded<IrcFact>): void {
    const seen = this.#floors.see(fact);
    if (!seen) return;
    const { floor, answers } = seen;
    const isLate = this.#options.log.now().getTime() - fact.at.getTime() > lateMs;
    const session = this.#options.irc.session();
    if (isLate || !session) return;
    for (const answer of answers) this.#answer(session, floor, answer);
    this.#announce(session, floor);
  }

  #answer(session: Session, { name, state }: Followed, answer: FloorAnswer): void {
    const text = answerOf(answer, name, floorAt(state, this.#now()));
    // a holder who asks has the turn for longer each time, which makes it no other answer
    const { holder, queue, opener } = state;
    const told = JSON.stringify([holder && turnOf(state), queue.map(({ nick }) => nick), opener?.nick]);
    const question = [casefold(name), casefold(answer.to), answer.is].join(' ');
    if (text === undefined || this.#wasAnswered(question, told)) return;
    if (this.#rate.take(casefold(answer.to)) !== 'go') return;
    // who asked may have left
    session.command('NOTICE', answer.to, text).catch(() => undefined);
  }

  #wasAnswered(question: string, told: string): boolean {
    const at = clock.elapsed();
    const last = this.#answered.get(question);
    if (last?.told === told && at - last.at < onceMs) return true;
    this.#answered.set(question, { told, at });
    return false;
  }

  /** Time passes: turns end without a line. */
  async #watch(): Promise<void> {
    const { stopping } = this.#reactor;
    while (!stopping.aborted) {
      const session = this.#options.irc.session();
      if (session) for (const floor of this.#floors.all) this.#announce(session, floor);
      await pause(lookMs, stopping);
    }
  }

  #announce(session: Session, floor: Followed): void {
    if (!floor.state.holder && floor.told === free) return;
    const state = floorAt(floor.state, this.#now());
    const turn = turnOf(state);
    const now = clock.elapsed();
    if (turn === floor.told || now - floor.toldAt < apartMs || !session.isIn(floor.name)) return;
    Object.assign(floor, { told: turn, toldAt: now });
    const { logger, rooms } = this.#options;
    session
      .announce(floor.name, announcement(state), { heard: (line) => rooms.hear(line) })
      .then((outcome) => {
        logger.info({ channel: floor.name, turn, ...outcome }, 'floor');
        // whoever has the floor has to hear of it; that it is free may go unsaid where the bridge must be silent
        const isUntold = outcome.is === 'refused' ? turn !== free : outcome.is !== 'confirmed';
        if (isUntold && floor.told === turn) floor.told = untold;
      })
      .catch((err: unknown) => logger.warn({ channel: floor.name, err }, 'a turn was not announced'));
  }

  #now(): number {
    return this.#options.log.now().getTime() - lagMs;
  }
}

const turnOf = ({ holder }: FloorState): string =>
  holder ? `${holder.since} ${casefold(holder.nick)}` : free;
