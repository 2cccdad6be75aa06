import { boundedCache } from '../core/index.js';
import { casefold } from '../irc-grammar.js';
import { type Group, groupsIn, nameOf } from './group.js';

/** A line as it is looked at for groups. */
export interface GroupLine {
  /** Milliseconds since 1970. */
  at: number;
  nick: string;
  /** Who is held responsible for it, whatever nick they take. */
  person: string;
  text: string;
}

/** Groups of a line that are resolved. */
export interface Resolved {
  groups: Group[];
  asks: boolean;
}

/** Why groups of a line are not resolved, for a speaker who asks whether anybody is meant. */
export interface Limited {
  groups: Group[];
  limit: 'group' | 'person' | 'channel' | 'addressed';
}

const minuteMs = 60_000;

/** How often groups are resolved, with times in milliseconds. */
export const groupLimits = {
  /** A group is resolved once in a channel in this time. */
  sameGroupMs: minuteMs,
  /** So many lines of one person address groups in this time. */
  ofPerson: { most: 5, withinMs: 10 * minuteMs },
  /** The same of everybody in one channel. */
  ofChannel: { most: 10, withinMs: minuteMs },
  /** Somebody who was addressed as one of a group addresses none for this time: two programs cannot go on by it. */
  addressedMs: 10 * minuteMs,
} as const;
const { sameGroupMs, ofPerson, ofChannel, addressedMs } = groupLimits;
/** A person is told of a limit once in this time. */
const tellMs = minuteMs;
const mostKept = 20_000;

/**
 * Decides which groups of a line are resolved. It uses lines alone, in the order of the log: those of people, and those
 * of the bot that names who is meant. Bounded in memory.
 */
export class GroupWatch {
  readonly #groups = boundedCache<string, number>(mostKept);
  readonly #persons = boundedCache<string, number[]>(mostKept);
  readonly #channels = boundedCache<string, number[]>(mostKept);
  readonly #addressed = boundedCache<string, number>(mostKept);
  readonly #told = boundedCache<string, number>(mostKept);

  /**
   * What `see` would make of a line; counts nothing. `isNick`: whether somebody of the channel has this nick (casefolded),
   * so that it is no group.
   */
  look(channel: string, line: GroupLine, isNick: (nick: string) => boolean): Resolved | Limited | undefined {
    const { at, person, text } = line;
    const { groups: said, asks } = groupsIn(text);
    const room = casefold(channel);
    const meant = said.filter(({ ability }) => !isNick(ability));
    if (meant.length === 0) return undefined;
    const groups = meant.filter((group) => !isWithin(this.#groups.get(keyOf(room, group)), at, sameGroupMs));
    const limit = groups.length === 0 ? 'group' : this.#limitOf(room, line);
    if (limit === undefined) return { groups, asks };
    return asks && !isWithin(this.#told.get(person), at, tellMs) ? { groups: meant, limit } : undefined;
  }

  /** The groups of a line that are resolved, or the limit that its speaker is told of. Counts the line for what comes after. */
  see(channel: string, line: GroupLine, isNick: (nick: string) => boolean): Resolved | Limited | undefined {
    const found = this.look(channel, line, isNick);
    if (!found) return undefined;
    const { at, person } = line;
    if ('limit' in found) {
      this.#told.set(person, at);
      return found;
    }
    const room = casefold(channel);
    this.#persons.set(person, [...recent(this.#persons.get(person), at, ofPerson.withinMs), at]);
    this.#channels.set(room, [...recent(this.#channels.get(room), at, ofChannel.withinMs), at]);
    for (const group of found.groups) this.#groups.set(keyOf(room, group), at);
    return found;
  }

  #limitOf(room: string, { at, nick, person }: GroupLine): Limited['limit'] | undefined {
    if (isWithin(this.#addressed.get(`${room} ${casefold(nick)}`), at, addressedMs)) return 'addressed';
    if (recent(this.#persons.get(person), at, ofPerson.withinMs).length >= ofPerson.most) return 'person';
    if (recent(this.#channels.get(room), at, ofChannel.withinMs).length >= ofChannel.most) return 'channel';
    return undefined;
  }

  /** Takes note of who was named as one of a group. */
  addressed(channel: string, nicks: readonly string[], at: number): void {
    for (const nick of nicks) this.#addressed.set(`${casefold(channel)} ${casefold(nick)}`, at);
  }
}

const keyOf = (room: string, group: Group): string => `${room} ${nameOf(group)}`;

const isWithin = (time: number | undefined, at: number, withinMs: number): boolean =>
  at - (time ?? -Infinity) < withinMs;

const recent = (times: readonly number[] | undefined, at: number, withinMs: number): number[] =>
  (times ?? []).filter((time) => at - time < withinMs);
