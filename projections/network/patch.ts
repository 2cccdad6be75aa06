import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  closedAt,
  type IrcFact,
  isLine,
  type LineSighting,
  type Sighting,
} from '../../streams/network/index.js';

/** The place of something in the stream: the sequence of its fact, and its index there. */
export type Place = readonly [seq: number, index: number];

/** Who a nick is, as the network said it; null where it did not. */
interface Identity {
  /** `user@host`. */
  host: string | null;
  /** Casefolded. */
  account: string | null;
}

/** A member of a channel, since they came or were first seen there. */
export interface Member extends Identity {
  /** The nick as it is written. */
  shown: string;
  since: Place;
  /** Was there before: only if the tables do not know them, they are here since then. */
  stayed: boolean;
}

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
  /** Whether `members` are all there are, or only those that changed; null when gone. */
  whole: boolean;
  members: Map<string, Member | null>;
  /** The last place where something was missed. */
  gap: Place | null;
  /** What lines said in private tell of members that came before the batch. */
  identities: Map<string, Identity>;
  /** Who said that they are away, and null for those who are back. */
  aways: Map<string, { at: Date; message: string } | null>;
}

/** A line that a batch has, with its place in the stream. */
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
      if (isLine(sighting)) {
        lines.push({ channel, seq, index, said: sighting, isPrivate });
        if (sighting.private) identify(patch, sighting);
      } else {
        change(patch, sighting, [seq, index]);
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
  identities: new Map(),
  aways: new Map(),
  gap: null,
});

const identityOf = ({
  host,
  account,
}: {
  host?: string | undefined;
  account?: string | undefined;
}): Identity => ({
  host: host ?? null,
  account: account === undefined ? null : casefold(account),
});
const unknown = identityOf({});

/** A line tells who a member is, where the network did not say so before. */
function identify({ members, identities }: ChannelPatch, said: LineSighting): void {
  const nick = casefold(said.nick);
  const before = members.get(nick);
  if (before === null) return;
  const { host, account } = identityOf(said);
  const known = before && !before.stayed ? before : (identities.get(nick) ?? unknown);
  const now = { host: known.host ?? host, account: known.account ?? account };
  if (before && !before.stayed) members.set(nick, { ...before, ...now });
  else identities.set(nick, now);
}

function change(patch: ChannelPatch, sighting: Exclude<Sighting, LineSighting>, since: Place): void {
  const { members, identities, aways } = patch;
  const came = (shown: string, identity = unknown) => {
    identities.delete(casefold(shown));
    aways.delete(casefold(shown));
    members.set(casefold(shown), { shown, ...identity, since, stayed: false });
  };
  const left = (nick: string) => {
    identities.delete(casefold(nick));
    aways.delete(casefold(nick));
    members.set(casefold(nick), null);
  };
  switch (sighting.is) {
    case 'join':
      came(sighting.nick, identityOf(sighting));
      break;
    case 'part':
    case 'quit':
      left(sighting.nick);
      break;
    case 'kick':
      left(sighting.kicked);
      break;
    case 'nick':
      left(sighting.nick);
      came(sighting.to, identityOf(sighting));
      break;
    case 'away': {
      const { nick, at, message } = sighting;
      aways.set(casefold(nick), message === undefined ? null : { at: new Date(at), message });
      break;
    }
    case 'topic':
      patch.topic = sighting.text;
      break;
    case 'mode':
      patch.modes = sighting.modes;
      break;
    case 'snapshot': {
      const { topic, modes, continues } = sighting;
      const before = new Map(members);
      const { whole } = patch;
      members.clear();
      if (!continues) identities.clear();
      if (!continues) aways.clear();
      for (const member of sighting.members) {
        const shown = member.replace(/^[~&@%+!]+/, '');
        const known = before.get(casefold(shown));
        if (!continues) came(shown);
        else if (known) members.set(casefold(shown), { ...known, shown });
        else {
          const stayed = known === undefined && !whole;
          members.set(casefold(shown), { shown, ...unknown, since, stayed });
        }
      }
      Object.assign(patch, { topic, modes, present: true, whole: true });
      break;
    }
    case 'left':
      members.clear();
      identities.clear();
      aways.clear();
      Object.assign(patch, { present: false, whole: true });
      break;
    case 'gap':
      patch.gap = since;
      break;
  }
}
