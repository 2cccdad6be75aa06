import type { Recorded } from '../../../streams/core/index.js';
import { type MarketFact, market } from '../../../streams/events/index.js';
import { type FeedbackGiven, type ReputationFact, reputation } from '../../../streams/reputation/index.js';
import type { SimulatedLogServer } from '../log/server.js';
import { StoredFacts } from '../log/stored-facts.js';
import type { Random } from '../random.js';
import type { Stage } from '../scenario.js';

/** A rating as an event has it. */
interface Rating {
  id: string;
  /** The UTC day on which it was told. */
  day: string;
  from: string;
  nick: string;
  channel: string;
  rating: number;
  comment: string;
}

type Feedback = Recorded<FeedbackGiven>;

const placeOf = ({ from, nick, channel }: Pick<Rating, 'from' | 'nick' | 'channel'>): string =>
  `${from} ${nick} ${channel}`.toLowerCase();
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The feedback on record, held against the events of the marketplace. */
export class RecordedRatings {
  readonly #stage: Stage;
  readonly #events: StoredFacts<typeof market>;
  readonly #facts: StoredFacts<typeof reputation>;
  readonly #isPrivate: (channel: string) => boolean;
  readonly #ratings: Rating[] = [];
  readonly #given: Feedback[] = [];

  constructor(stage: Stage, server: SimulatedLogServer, isPrivate: (channel: string) => boolean) {
    this.#stage = stage;
    this.#events = new StoredFacts(server, market);
    this.#facts = new StoredFacts(server, reputation);
    this.#isPrivate = isPrivate;
  }

  /** Some of the last feedback, to answer. */
  anyLast(
    random: Random,
  ): { from: string; nick: string; channel: string; day: string; id: number } | undefined {
    this.#read();
    if (this.#given.length === 0) return undefined;
    const { seq, data } = random.pick(this.#given.slice(-5));
    return { from: data.from, nick: data.nick, channel: data.channel, day: data.day, id: seq };
  }

  judge(): void {
    this.#read();
    const stage = this.#stage;
    stage.count('ratings', stage.counts, this.#ratings.length);
    const byId = new Map(this.#ratings.map((rating) => [rating.id, rating]));
    const ofMarket = this.#given.filter(({ data }) => data.source === 'marketplace');
    for (const fact of ofMarket) this.#judgeFact(fact, byId.get(fact.cause ?? ''));
    for (const place of new Set(this.#ratings.map(placeOf))) {
      const isHere = (one: Rating | Feedback['data']) => placeOf(one) === place;
      const ratings = this.#ratings.filter(isHere);
      this.#judgePlace(
        ratings,
        this.#given.filter(({ data }) => isHere(data)),
      );
    }
  }

  #judgeFact(fact: Feedback, rating: Rating | undefined): void {
    const stage = this.#stage;
    const { data } = fact;
    const told = () => JSON.stringify({ ...data, rating });
    stage.check('only complete ratings become feedback', rating !== undefined, told);
    if (!rating) return;
    const isSame =
      placeOf(data) === placeOf(rating) && data.rating === rating.rating && data.comment === rating.comment;
    stage.check('feedback is as it was told', isSame, told);
    const isMarked = (data.private === true) === this.#isPrivate(rating.channel);
    stage.check('feedback of private channels is marked', isMarked, told);
    const isLater = this.#given.some(
      (other) => other.seq < fact.seq && placeOf(other.data) === placeOf(data) && other.data.day === data.day,
    );
    const isItsDay = data.day === rating.day || (data.day > rating.day && isLater);
    stage.check('feedback counts for the day of its event', isItsDay, told);
  }

  /** What one said of another in a channel. */
  #judgePlace(ratings: readonly Rating[], given: readonly Feedback[]): void {
    const stage = this.#stage;
    let before: { rating: Rating; day: string; seq: number } | undefined;
    /** The last rating of each day, where a day that has a later word of anybody is over. */
    const due = new Map<string, Rating>();
    for (const rating of ratings) {
      const [first, ...more] = given.filter(({ cause }) => cause === rating.id);
      const told = () => `${JSON.stringify(rating)} after ${JSON.stringify(before)}`;
      // after a word of a later day it counts for that day
      const counted = first?.data.day ?? rating.day;
      const isAgain =
        before?.rating.rating === rating.rating &&
        before.rating.comment === rating.comment &&
        before.day >= counted;
      stage.check('each rating is recorded that says something new', (first !== undefined) !== isAgain, told);
      if (!first) continue;
      stage.check('ratings are recorded in order', first.seq > (before?.seq ?? 0), told);
      stage.check('a rating is recorded once', more.length === 0, told);
      const { day } = first.data;
      before = { rating, day, seq: first.seq };
      due.set(day, rating);
    }
    for (const [day, rating] of due) {
      const last = given.findLast(({ data }) => data.day === day);
      const isDue = last?.cause !== undefined && last.data.rating === rating.rating;
      const found = () => JSON.stringify({ rating, last });
      stage.check('the last rating of a day counts', isDue && last.data.comment === rating.comment, found);
    }
  }

  #read(): void {
    for (const event of this.#events.read()) {
      const rating = ratingIn(event);
      if (rating) this.#ratings.push(rating);
    }
    for (const fact of this.#facts.read()) if (isFeedback(fact)) this.#given.push(fact);
  }
}

const isFeedback = (fact: Recorded<ReputationFact>): fact is Feedback => fact.type === 'feedback.given';

/** What the contract says of an event: who rates whose work, and how. */
function ratingIn({ id, at, data }: Recorded<MarketFact>): Rating | undefined {
  const {
    event_type: type,
    payload: of,
    target_channels: [channel],
    test,
  } = data;
  if (test || channel === undefined || !['rating.created', 'reputation.feedback'].includes(type))
    return undefined;
  const [from, nick] = [
    of.from_nick ?? of.rater_nick ?? of.publisher_nick,
    of.to_nick ?? of.rated_nick ?? of.worker_nick,
  ].map((name) => (typeof name === 'string' && /^[a-z]+$/i.test(name) ? name : undefined));
  const rating = Math.round(Number(of.score ?? of.rating));
  if (!from || !nick || from === nick || !(rating >= 1 && rating <= 5)) return undefined;
  return { id, day: dayOf(at), from, nick, channel, rating, comment: `(${of.comment ?? ''})` };
}
