import { type Decider, Refusal } from '../core/index.js';
import { type Answered, type Incident, type Level, type ModerationFact, personSubject } from './facts.js';
import { banMemoryMs, judge, sentenceOf, type Thresholds } from './judgement.js';
import type { Score } from './score.js';

/** One incident of a person, as far as later decisions need it. */
interface Entry {
  /** When it was said, in milliseconds. */
  at: number;
  level: Level;
  action: Incident['action'];
  outcome?: Answered['outcome'];
  /** A quiet or ban that has not been lifted. */
  runs: boolean;
  pardoned: boolean;
}

/** What one person did, by the reference of each incident. */
export interface PersonState {
  incidents: Map<string, Entry>;
}

/** What can be asked about a person. */
export type PersonCommand =
  /** A text of theirs was scored. */
  | {
      is: 'judge';
      person: string;
      said: Pick<
        Incident,
        'ref' | 'nick' | 'host' | 'account' | 'channel' | 'private' | 'said_at' | 'text_hash' | 'text'
      >;
      score: Score;
      thresholds: Thresholds;
      spared?: 'late' | undefined;
    }
  | ({ is: 'answer'; subject: string } & Answered)
  | { is: 'lift'; subject: string; ref: string; outcome: 'done' | 'failed' | 'outlived'; error?: string }
  | { is: 'pardon'; subject: string; ref: string; reason: string };

/** What somebody has to answer for: each text once, the next one by what came before it. */
export const personDecider: Decider<PersonState, PersonCommand, ModerationFact> = {
  initial: () => ({ incidents: new Map() }),

  subject: (command) => (command.is === 'judge' ? personSubject(command.person) : command.subject),

  evolve({ incidents }, { type, data }) {
    if (type === 'incident.recorded') {
      const { said_at, level, action } = data;
      incidents.set(data.ref, { at: Date.parse(said_at), level, action, runs: false, pardoned: false });
      return;
    }
    const entry = incidents.get(data.ref);
    if (!entry) return;
    if (type === 'incident.pardoned') entry.pardoned = true;
    else if (type === 'incident.lifted') entry.runs = data.outcome === 'failed';
    else {
      entry.outcome = data.outcome;
      entry.runs = data.outcome === 'done' && data.until !== undefined;
    }
  },

  decide(command, { incidents }) {
    if (command.is === 'judge')
      return incidents.has(command.said.ref) ? undefined : recorded(command, incidents);
    const entry = incidents.get(command.ref);
    if (!entry) throw new Refusal('not_found', 'There is no such incident');
    switch (command.is) {
      case 'answer': {
        const { is: _, subject: __, ...data } = command;
        return entry.outcome === undefined ? { type: 'incident.answered', data } : undefined;
      }
      case 'lift': {
        const { is: _, subject: __, ...data } = command;
        return entry.runs ? { type: 'incident.lifted', data } : undefined;
      }
      case 'pardon': {
        const { ref, reason } = command;
        return entry.pardoned ? undefined : { type: 'incident.pardoned', data: { ref, reason } };
      }
    }
  },
};

function recorded(
  command: PersonCommand & { is: 'judge' },
  incidents: ReadonlyMap<string, Entry>,
): ModerationFact | undefined {
  const { person, said, score, thresholds, spared } = command;
  const at = Date.parse(said.said_at);
  const earlier = [...incidents.values()].filter((one) => one.level !== 'LOG' && !one.pardoned);
  const judged = judge(score, earlier, at, thresholds);
  if (!judged) return undefined;
  const bans = earlier.filter(
    (one) => one.level === 'BAN' && one.outcome === 'done' && Math.abs(at - one.at) < banMemoryMs,
  );
  const sentence = sentenceOf(judged.level, bans.length);
  return {
    type: 'incident.recorded',
    data: {
      ...said,
      person,
      ...judged,
      text_score: score.score,
      patterns: score.patterns.join(','),
      ...(spared && sentence.action !== 'none' ? { action: 'none', spared } : sentence),
    },
  };
}
