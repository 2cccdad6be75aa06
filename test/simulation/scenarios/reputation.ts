import { leased } from '../../../src/app/bots/leased.js';
import { readConfig } from '../../../src/config/config.js';
import { isExpected, type Log, pause, Unavailable } from '../../../streams/core/index.js';
import { type MarketFact, market, marketSubject } from '../../../streams/events/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { reputation as feedback, feedbackDecider } from '../../../streams/reputation/index.js';
import { RateFromTasks, rateFromTasks } from '../../../workers/reputation/index.js';
import { SimulatedLogServer } from '../log/server.js';
import { end, type Place, Process, type Running, type Surroundings, twoPlaces } from '../process.js';
import type { Random } from '../random.js';
import type { Scenario, Stage } from '../scenario.js';
import { planTrouble } from '../trouble.js';
import { RecordedRatings } from './recorded-ratings.js';

const config = readConfig({});
const streams = [market, feedback, operations];
const nicks = ['alice', 'Bob', 'carol'];
const channels = ['#task-one', '#Task-Two', '#closed'];
const isPrivate = (channel: string) => channel === '#closed';

const busyMs = 60_000;
const faultsPerRun = 20;
const eventsPerRun = 130;
const wordsPerRun = 50;
const calmWithinMs = 120_000;
const calmMs = 15_000;
const eventsInCalm = 20;
/** The world begins at noon, and a rating counts for a day. */
const untilMidnightMs = 12 * 3_600_000;

/** Ratings of the marketplace become feedback, around midnight, while agents rate too. */
export const reputation: Scenario = {
  name: 'reputation',
  says: 'who makes ratings of the marketplace feedback, in two processes, while agents rate and answer',
  kept: [5008, 5052, 5097],
  boundMs: untilMidnightMs + 900_000,
  play: (stage) => new Rating(stage).play(),
};

class Rating {
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #logServer: SimulatedLogServer;
  readonly #around: Surroundings;
  readonly #places: Place<Running>[];
  readonly #outside: Process;
  readonly #recorded: RecordedRatings;
  readonly #underWay = new Set<Promise<void>>();
  #awayUntil = 0;
  #count = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#random = stage.fork();
    this.#logServer = new SimulatedLogServer(stage.world, { isNew: this.#random.chance(0.5) });
    this.#recorded = new RecordedRatings(stage, this.#logServer, isPrivate);
    this.#around = { stage, logServer: this.#logServer };
    this.#places = twoPlaces(this.#around, (process) => this.#begin(process));
    this.#outside = new Process('outside', this.#around);
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    await stage.pass(untilMidnightMs - this.#random.int(0, busyMs));
    const log = await this.#outside.openLog(streams);
    const starting = this.#places.map((place) => place.start());
    const from = stage.world.elapsed;
    const at = () => from + this.#random.int(500, busyMs);
    for (let n = 0; n < faultsPerRun; n++) this.#planFault(at());
    for (let n = 0; n < eventsPerRun; n++) stage.plan(at(), 'an event', (random) => this.#event(log, random));
    for (let n = 0; n < wordsPerRun; n++)
      stage.plan(at(), 'an agent rates or answers', (random) => this.#say(log, random));
    await stage.pass(busyMs);
    this.#logServer.heal();
    this.#awayUntil = 0;
    await Promise.all([...starting, ...this.#underWay]);
    await this.#becomeWell();
    for (let n = 0; n < eventsInCalm; n++)
      stage.plan(stage.world.elapsed + this.#random.int(0, calmMs), 'an event', (random) =>
        this.#event(log, random),
      );
    await stage.pass(calmMs + 1_000);
    await Promise.all(this.#underWay);
    await this.#becomeWell();
    this.#recorded.judge();
    await end(this.#around, this.#places);
    await log.close();
    await stage.pass(20_000);
    this.#logServer.close();
  }

  async #begin(process: Process): Promise<Running> {
    const { logger, name: holder } = process;
    const log = await process.openLog(streams);
    const isPrivateNow = async (channel: string) => {
      await pause(this.#stage.world.random.int(0, 20));
      if (this.#stage.world.now < this.#awayUntil) throw new Unavailable('read_model_building');
      return isPrivate(channel);
    };
    const work = () =>
      new RateFromTasks({ log, logger, screen: (text) => `(${text})`, isPrivate: isPrivateNow });
    const lease = leased(config, { log, logger, holder }, rateFromTasks, work);
    lease.start();
    return {
      stop: async () => {
        await lease.stop();
        await log.close();
      },
    };
  }

  #planFault(at: number): void {
    if (this.#random.chance(0.1))
      this.#stage.planFault(at, 'read models away', (random) => {
        this.#awayUntil = this.#stage.world.now + random.int(500, 10_000);
      });
    else {
      const log = { server: this.#logServer, ofTen: 7 };
      planTrouble({ stage: this.#stage, log, places: this.#places }, at, this.#random);
    }
  }

  /** A producer tells of a rating, of one that is not complete, or of something else. */
  #event(log: Log, random: Random): void {
    const id = `event-${++this.#count}`;
    const of = random.pick([
      ['from_nick', 'to_nick', 'score'],
      ['rater_nick', 'rated_nick', 'rating'],
      ['publisher_nick', 'worker_nick', 'score'],
    ]);
    const values: unknown[] = [random.pick(nicks), random.pick(nicks), random.pick([1, 2, 4.6, '5'])];
    if (random.chance(0.15)) values[random.int(0, 2)] = random.pick([undefined, 'no nick', 7, '']);
    const payload: Record<string, unknown> = Object.fromEntries(of.map((name, n) => [name, values[n]]));
    if (random.chance(0.5)) payload.comment = random.pick(['well done', 'late']);
    const data: MarketFact['data'] = {
      event_id: id,
      event_type: random.pick(['rating.created', 'reputation.feedback', 'rating.created', 'task.completed']),
      source: 'marketplace',
      payload,
      target_channels: random.chance(0.05) ? [] : [random.pick(channels)],
      formatted_message: 'a rating',
      ...(random.chance(0.1) ? { test: true as const } : {}),
    };
    const fact = { type: 'event.received', data } as const;
    const tell = () => log.appendOnce(market, marketSubject(id), fact, { by: 'marketplace' });
    this.#follow(this.#insist(tell, random));
  }

  /** An agent rates another one, or answers what was said last. */
  #say(log: Log, random: Random): void {
    const [from, nick] = random.shuffled(nicks) as [string, string];
    const channel = random.pick(channels);
    const by = { by: `agent ${from}` };
    const last = this.#recorded.anyLast(random);
    const command =
      last && random.chance(0.5)
        ? { ...last, text: 'that is how it was' }
        : { from, nick, channel, rating: random.int(1, 5), comment: 'own', source: 'agent' as const };
    this.#follow(this.#insist(() => log.handle(feedback, feedbackDecider, command, by), random));
  }

  /** Somebody asks until they are answered. */
  async #insist(ask: () => Promise<unknown>, random: Random): Promise<void> {
    for (let tries = 0; tries < 8; tries++) {
      try {
        await ask();
        return;
      } catch (error) {
        const isKnown = isExpected(error);
        this.#stage.check('commands are refused in known ways', isKnown, () =>
          String((error as Error).stack),
        );
        if (isKnown && error.kind === 'refusal') return;
      }
      await pause(random.int(500, 4_000));
    }
  }

  #follow(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  /** All events are dealt with. */
  async #becomeWell(): Promise<void> {
    const open = () => {
      const head = this.#logServer.streams.get(market.name)?.stream.lastSeq ?? 0;
      const position = this.#logServer.positionOf(market.name, rateFromTasks);
      return position < head ? `${position} of ${head}` : '';
    };
    await this.#stage.within(calmWithinMs, 'every event is dealt with', () => open() === '', open);
  }
}
