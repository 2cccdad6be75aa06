import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  closedAt,
  type IrcFact,
  isLine,
  type LineSighting,
  type Sighting,
} from '../../streams/network/index.js';

/** What a batch changes about one channel; null where it says nothing. */
export interface ChannelPatch {
  name: string;
  topic: string | null;
  modes: string | null;
  present: boolean | null;
  /** Whether it is closed to the public; null while no fact of the batch tells. */
  closed: boolean | null;
  /** Each life of the channel in the batch, with the sequence of its first fact there. */
  lives: { life: number; from: number }[];
  /** Whether `members` are all there are, or only those that changed: a nick as shown, or null when gone. */
  whole: boolean;
  members: Map<string, string | null>;
}

/** A line that a batch has, with where it stands in the stream. */
export interface Line {
  channel: string;
  seq: number;
  index: number;
  said: LineSighting;
  /** Null where the channel's modes before the batch decide. */
  isPrivate: boolean | null;
}

/** The changes that a batch of facts makes, one per row. */
export interface Patch {
  channels: Map<string, ChannelPatch>;
  lines: Line[];
}

/** Facts by the day, in UTC, on which they were stored. */
export function days(facts: Recorded<IrcFact>[]): { day: string; facts: Recorded<IrcFact>[] }[] {
  const groups: { day: string; facts: Recorded<IrcFact>[] }[] = [];
  for (const fact of facts) {
    const day = fact.at.toISOString().slice(0, 10);
    if (groups.at(-1)?.day !== day) groups.push({ day, facts: [] });
    groups.at(-1)!.facts.push(fact);
  }
  return groups;
}

/** Works out what facts change, without a look at what is stored. */
export function patchOf(facts: Recorded<IrcFact>[]): Patch {
  const channels = new Map<string, ChannelPatch>();
  const lines: Line[] = [];
  for (const fact of facts) {
    const { seq, data } = fact;
    const channel = casefold(data.channel);
    const patch = channels.get(channel) ?? emptyPatch();
    channels.set(channel, patch);
    patch.name = data.channel;
    const { life } = data;
    if (life !== undefined && patch.lives.at(-1)?.life !== life) patch.lives.push({ life, from: seq });
    const closed = closedAt(fact, patch.closed ?? undefined);
    for (const [index, sighting] of data.seen.entries()) {
      const isPrivate = closed[index] ?? null;
      if (isLine(sighting)) lines.push({ channel, seq, index, said: sighting, isPrivate });
      else {
        change(patch, sighting);
        patch.closed = isPrivate;
      }
    }
    patch.closed = data.closed ?? patch.closed;
  }
  return { channels, lines };
}

const emptyPatch = (): ChannelPatch => ({
  name: '',
  topic: null,
  modes: null,
  present: null,
  closed: null,
  lives: [],
  whole: false,
  members: new Map(),
});

function change(patch: ChannelPatch, sighting: Exclude<Sighting, LineSighting>): void {
  const { members } = patch;
  switch (sighting.is) {
    case 'join':
      members.set(casefold(sighting.nick), sighting.nick);
      break;
    case 'part':
    case 'quit':
      members.set(casefold(sighting.nick), null);
      break;
    case 'kick':
      members.set(casefold(sighting.kicked), null);
      break;
    case 'nick':
      members.set(casefold(sighting.nick), null);
      members.set(casefold(sighting.to), sighting.to);
      break;
    case 'topic':
      patch.topic = sighting.text;
      break;
    case 'mode':
      patch.modes = sighting.modes;
      break;
    case 'snapshot': {
      members.clear();
      for (const member of sighting.members) {
        const nick = member.replace(/^[~&@%+!]+/, '');
        members.set(casefold(nick), nick);
      }
      const { topic, modes } = sighting;
      Object.assign(patch, { topic, modes, present: true, whole: true });
      break;
    }
    case 'left':
      members.clear();
      Object.assign(patch, { present: false, whole: true });
      break;
    case 'gap':
      break;
  }
}
