import { type Decider, Refusal } from '../core/index.js';
import {
  type Answered,
  type Incident,
  type Level,
  levels,
  type ModerationFact,
  personSubject,
} from './facts.js';
import {
  banMemoryMs,
  judge,
  loopMemoryMs,
  loopSentence,
  sentenceOf,
  type Thresholds,
  usualThresholds,
} from './judgement.js';
import { loopPattern } from './loops.js';
import type { Score } from './score.js';

/** One incident of a person, as far as later decisions need it. */
export interface Entry {
  /** When it was said, in milliseconds. */
  at: number;
  level: Level;
  action: Incident['action'];
  /** It is no attack, and makes none worse. */
  isLoop: boolean;
  /** It only keeps an earlier one in force, and counts no more than that. */
  isEarlier: boolean;
  outcome?: Answered['outcome'];
  /** A quiet or ban that has not been lifted. */
  runs: boolean;
  pardoned: boolean;
  appealed: boolean;
  upheld: boolean;
  told: boolean;
}

/** What one person did, by the reference of each incident. */
export interface PersonState {
  incidents: Map<string, Entry>;
}

type Said = Pick<
  Incident,
  'ref' | 'nick' | 'host' | 'account' | 'channel' | 'private' | 'said_at' | 'text_hash' | 'text'
>;

/** What can be asked about a person. */
export type PersonCommand =
  /** A text of theirs was scored. */
  | {
      is: 'judge';
      person: string;
      said: Said;
      score: Score;
      thresholds: Thresholds;
      spared?: 'late' | undefined;
      /** What the same person did under another name that moderation has for them. */
      elsewhere?: readonly Entry[];
    }
  /** A program of theirs and others answer each other; a mute is for so many minutes the first time. */
  | {
      is: 'loop';
      person: string;
      said: Said;
      level: 'WARN' | 'MUTE';
      minutes: number;
      spared?: 'late' | undefined;
    }
  /** What they did is wanted, and nothing changes. */
  | { is: 'look'; person: string }
  | ({ is: 'answer'; subject: string } & Answered)
  | { is: 'lift'; subject: string; ref: string; outcome: 'done' | 'failed' | 'outlived'; error?: string }
  | { is: 'pardon'; subject: string; ref: string; reason: string }
  /** The person concerned asks for it to be taken back. */
  | { is: 'appeal'; subject: string; ref: string; reason: string }
  /** An operator does not take it back. */
  | { is: 'uphold'; subject: string; ref: string; reason: string }
  | { is: 'tell'; subject: string; ref: string }
  /** Somebody who may be muted or banned under another account, or none, was seen: what runs holds there too, until its end. */
  | {
      is: 'hold';
      subject: string;
      ref: string;
      person: string;
      said: Said;
      seconds: number;
      pattern: HeldPattern;
    };

/**
 * The rules of incidents that only keep an earlier one in force. It holds for a new account, for a host without any, or for
 * the account of whoever was muted or banned at the gateway.
 */
export const heldPatterns = ['new-account', 'no-account', 'same-owner'] as const;
export type HeldPattern = (typeof heldPatterns)[number];

const isHeld = (patterns: string): boolean => heldPatterns.some((one) => one === patterns);

/** What somebody has to answer for: each text once, the next one by what came before it. */
export const personDecider: Decider<PersonState, PersonCommand, ModerationFact> = {
  initial: () => ({ incidents: new Map() }),

  subject: (command) => ('subject' in command ? command.subject : personSubject(command.person)),

  evolve({ incidents }, { type, data }) {
    if (type === 'incident.recorded') {
      const { said_at, level, action, patterns } = data;
      const open = { runs: false, pardoned: false, appealed: false, upheld: false, told: false };
      const kind = { isLoop: patterns === loopPattern, isEarlier: isHeld(patterns) };
      incidents.set(data.ref, { at: Date.parse(said_at), level, action, ...kind, ...open });
      return;
    }
    const entry = incidents.get(data.ref);
    if (!entry) return;
    switch (type) {
      case 'incident.answered':
        entry.outcome = data.outcome;
        entry.runs = data.outcome === 'done' && data.until !== undefined;
        break;
      case 'incident.lifted':
        entry.runs = data.outcome === 'failed';
        break;
      case 'incident.pardoned':
        // a later decision is told of, too
        Object.assign(entry, { pardoned: true, told: false });
        break;
      case 'incident.appealed':
        entry.appealed = true;
        break;
      case 'incident.upheld':
        entry.upheld = true;
        break;
      case 'incident.told':
        entry.told = true;
        break;
    }
  },

  decide(command, { incidents }) {
    if (command.is === 'look') return undefined;
    if (command.is === 'hold') return held(command, incidents);
    if ('person' in command) {
      if (incidents.has(command.said.ref)) return undefined;
      return command.is === 'loop' ? looped(command, incidents) : recorded(command, incidents);
    }
    const entry = incidents.get(command.ref);
    if (!entry) throw new Refusal('moderation_incident_not_found');
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
      case 'appeal': {
        const { ref, reason } = command;
        if (entry.action === 'none' || entry.pardoned) throw new Refusal('nothing_to_appeal');
        return entry.appealed ? undefined : { type: 'incident.appealed', data: { ref, reason } };
      }
      case 'uphold': {
        const { ref, reason } = command;
        if (!entry.appealed || entry.pardoned) throw new Refusal('no_open_appeal');
        return entry.upheld ? undefined : { type: 'incident.upheld', data: { ref, reason } };
      }
      case 'tell': {
        if (entry.told || !(entry.pardoned || entry.upheld)) return undefined;
        const decision = entry.pardoned ? 'pardoned' : 'upheld';
        return { type: 'incident.told', data: { ref: command.ref, decision } };
      }
    }
  },
};

function recorded(
  command: PersonCommand & { is: 'judge' },
  incidents: ReadonlyMap<string, Entry>,
): ModerationFact | undefined {
  const { person, said, score, thresholds, spared, elsewhere = [] } = command;
  const at = Date.parse(said.said_at);
  const earlier = [...incidents.values(), ...elsewhere].filter(
    (one) => one.level !== 'LOG' && !one.isLoop && !one.isEarlier && !one.pardoned,
  );
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

function looped(
  { person, said, level, minutes, spared }: PersonCommand & { is: 'loop' },
  incidents: ReadonlyMap<string, Entry>,
): ModerationFact {
  const at = Date.parse(said.said_at);
  const mutes = [...incidents.values()].filter(
    (one) => one.isLoop && one.level === 'MUTE' && !one.pardoned && Math.abs(at - one.at) < loopMemoryMs,
  );
  const score = usualThresholds[levels.indexOf(level)]!;
  return {
    type: 'incident.recorded',
    data: {
      ...said,
      person,
      level,
      score,
      text_score: 0,
      patterns: loopPattern,
      ...(spared ? { action: 'none', spared } : loopSentence(level, minutes, mutes.length)),
    },
  };
}

function held(
  { ref, person, said, seconds, pattern }: PersonCommand & { is: 'hold' },
  incidents: ReadonlyMap<string, Entry>,
): ModerationFact | undefined {
  const earlier = incidents.get(ref);
  if (!earlier?.runs || earlier.pardoned || incidents.has(said.ref)) return undefined;
  const { level, action } = earlier;
  const score = usualThresholds[levels.indexOf(level)]!;
  return {
    type: 'incident.recorded',
    data: { ...said, person, level, score, text_score: 0, patterns: pattern, action, seconds },
  };
}
