import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { type FeedbackGiven, feedbackDecider, type GiveFeedback } from '../../streams/reputation/index.js';

const dayMs = 86_400_000;

/** Numbers that look random and are the same each time; each call gives one from 0 to `below` - 1. */
export function randomNumbers(seed = 1): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/**
 * Made-up feedback over two years, as the log would have it. Some nicks have several spellings, and some rate
 * each other several times a day.
 */
export function feedbackHistory(commands: number, random = randomNumbers()): Recorded<FeedbackGiven>[] {
  const facts: Recorded<FeedbackGiven>[] = [];
  const states = new Map<string, ReturnType<typeof feedbackDecider.initial>>();
  const nicks = ['ann', 'Bob', 'carol[1]', 'dave', 'eve', 'Frank', 'grace'];
  const channels = ['#lobby', '#Task-1', '#bounties', '#a.b'];
  // only agents speak of them, and they speak with keys of their own
  const words = ['dave', 'eve', 'frank'];
  const spelled = (name: string) => (random(4) === 0 ? name.toUpperCase() : name);
  for (let n = 0; n < commands; n++) {
    const at = new Date(Date.UTC(2025, 0, 1) + n * ((730 * dayMs) / commands) + random(3_600_000));
    const command: GiveFeedback = {
      from: spelled(nicks[random(nicks.length)]!),
      nick: spelled(nicks[random(nicks.length)]!),
      channel: spelled(channels[random(random(3) === 0 ? channels.length : 2)]!),
      rating: 1 + random(5),
      comment: '',
    };
    const isWord = [command.from, command.nick].some((nick) => words.includes(casefold(nick)));
    if (isWord) command.source = 'agent';
    if (casefold(command.channel) === '#lobby') command.isPrivate = n % 5 < 2;
    if (casefold(command.from) === casefold(command.nick)) continue;
    const subject = feedbackDecider.subject(command);
    const state = states.get(subject) ?? feedbackDecider.initial();
    states.set(subject, state);
    const fact = feedbackDecider.decide(command, state, at) as FeedbackGiven | undefined;
    if (!fact) continue;
    feedbackDecider.evolve(state, fact);
    const seq = facts.length + 1;
    facts.push({ ...fact, id: `f${seq}`, stream: 'REPUTATION', subject, seq, at, by: 'test', cause: null });
  }
  return facts;
}

/** What can be said of a nick or a channel. */
export interface Judgement {
  name: string;
  total: number;
  avg: number | null;
  score: number;
  given: number;
  first: string | null;
  last: string | null;
  active: number;
}

/**
 * Everything there is to say at a time, computed from all the facts, the slow way. `open` has the channels as the public
 * knows them.
 */
export function judge(
  facts: Recorded<FeedbackGiven>[],
  now: Date,
): { agents: Judgement[]; channels: Judgement[]; open: Judgement[] } {
  const counting = new Map<string, Recorded<FeedbackGiven>>();
  for (const fact of facts) {
    const { from, nick, channel, day } = fact.data;
    counting.set([from, nick, channel].map(casefold).join(' ') + day, fact);
  }
  const effective = [...counting.values()];
  const voices = voicesOf(facts);
  const first = new Date(now.getTime() - 89 * dayMs).toISOString().slice(0, 10);
  const about = (name: string, isAbout: (fact: Recorded<FeedbackGiven>) => boolean): Judgement => {
    const told = facts.filter(isAbout);
    const mine = effective.filter(isAbout);
    const ageOf = ({ at }: Recorded<FeedbackGiven>) => 0.5 ** ((now.getTime() - at.getTime()) / (90 * dayMs));
    // feedback of operators and the marketplace counts one by one; an agent's counts as one, as fresh as the
    // last of it
    const firm = mine.filter((fact) => voices.get(fact) === undefined);
    const sums = firm.map((fact) => ({
      weight: (fact.data.source === 'marketplace' ? 3 : 1) * ageOf(fact),
      mean: fact.data.rating,
    }));
    for (const voice of new Set(mine.flatMap((fact) => voices.get(fact) ?? []))) {
      const words = mine.filter((fact) => voices.get(fact) === voice);
      const last = told.filter((fact) => voices.get(fact) === voice).at(-1)!;
      const all = words.reduce((sum, fact) => sum + ageOf(fact), 0);
      const rated = words.reduce((sum, fact) => sum + fact.data.rating * ageOf(fact), 0);
      sums.push({ weight: ageOf(last), mean: rated / all });
    }
    const weight = sums.reduce((sum, one) => sum + one.weight, 0);
    const mean = sums.reduce((sum, one) => sum + one.mean * one.weight, 0) / weight;
    const times = told.map(({ at }) => at.toISOString());
    const active = told.filter((fact) => fact.data.day >= first);
    return {
      name,
      total: mine.length,
      avg: mine.length > 0 ? Math.round(mean * 100) / 100 : null,
      score: mine.length > 0 ? Math.round((100 * (mean - 1) * weight) / 4 / (weight + 3)) : 0,
      given: effective.filter(({ data }) => casefold(data.from) === name).length,
      first: times[0] ?? null,
      last: times.at(-1) ?? null,
      active: new Set(active.flatMap(({ data }) => [casefold(data.from), casefold(data.nick)])).size,
    };
  };
  const names = (pick: (data: FeedbackGiven['data']) => string[]) => [
    ...new Set(facts.flatMap(({ data }) => pick(data).map(casefold))),
  ];
  const sorted = (all: Judgement[]) =>
    all.sort((a, b) => b.score - a.score || b.total - a.total || (a.name < b.name ? -1 : 1));
  return {
    agents: sorted(
      names(({ nick, from }) => [nick, from]).map((name) =>
        about(name, ({ data }) => casefold(data.nick) === name),
      ),
    ),
    channels: sorted(
      names(({ channel }) => [channel]).map((name) =>
        about(name, ({ data }) => casefold(data.channel) === name),
      ),
    ),
    open: sorted(
      names(({ channel }) => [channel]).map((name) =>
        about(name, ({ data }) => casefold(data.channel) === name && !data.private),
      ),
    ).filter(({ total }) => total > 0),
  };
}

const nobodyStands = 'those for whom nobody stands';

/**
 * The voice of each word of an agent: shared with others until an operator or the marketplace has vouched for
 * it.
 */
function voicesOf(facts: Recorded<FeedbackGiven>[]): Map<Recorded<FeedbackGiven>, string> {
  const stand = new Set<string>();
  const voices = new Map<Recorded<FeedbackGiven>, string>();
  for (const fact of facts) {
    const { from, nick, rating, source } = fact.data;
    if (source === 'agent') {
      voices.set(fact, stand.has(casefold(from)) ? casefold(from) : nobodyStands);
      continue;
    }
    stand.add(casefold(from));
    if (rating >= 3) stand.add(casefold(nick));
  }
  return voices;
}
