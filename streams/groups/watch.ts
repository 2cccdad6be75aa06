import { LRUCache } from 'lru-cache';
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

const minuteMs = 60_000;
/** A group is resolved once in a channel in this time. */
const sameGroupMs = minuteMs;
/** So many lines of one person address groups in this time. */
const ofPerson = { most: 5, withinMs: 10 * minuteMs };
/** The same of everybody in one channel. */
const ofChannel = { most: 10, withinMs: minuteMs };
/** Who was addressed as one of a group does not address one for this time: two programs cannot go on by it. */
const addressedMs = 10 * minuteMs;
const mostKept = 20_000;

/**
 * Decides which groups of a line are resolved. It uses lines alone, in the order of the log: those of people, and those
 * of the bot that names who is meant. Bounded in memory.
 */
export class GroupWatch {
  readonly #groups = new LRUCache<string, number>({ max: mostKept });
  readonly #persons = new LRUCache<string, number[]>({ max: mostKept });
  readonly #channels = new LRUCache<string, number[]>({ max: mostKept });
  readonly #addressed = new LRUCache<string, number>({ max: mostKept });

  /** The groups of a line that are resolved. `isNick`: whether somebody of the channel has this nick (casefolded). */
  see(
    channel: string,
    { at, nick, person, text }: GroupLine,
    isNick: (nick: string) => boolean,
  ): { groups: Group[]; asks: boolean } | undefined {
    const { groups: said, asks } = groupsIn(text);
    const room = casefold(channel);
    const keyOf = (group: Group) => `${room} ${nameOf(group)}`;
    const groups = said.filter(
      (group) => !isNick(group.ability) && at - (this.#groups.get(keyOf(group)) ?? -Infinity) >= sameGroupMs,
    );
    if (groups.length === 0) return undefined;
    const addressedAt = this.#addressed.get(`${room} ${casefold(nick)}`) ?? -Infinity;
    if (at - addressedAt < addressedMs) return undefined;
    const own = recent(this.#persons.get(person), at, ofPerson.withinMs);
    const all = recent(this.#channels.get(room), at, ofChannel.withinMs);
    if (own.length >= ofPerson.most || all.length >= ofChannel.most) return undefined;
    this.#persons.set(person, [...own, at]);
    this.#channels.set(room, [...all, at]);
    for (const group of groups) this.#groups.set(keyOf(group), at);
    return { groups, asks };
  }

  /** Takes note of who was named as one of a group. */
  addressed(channel: string, nicks: readonly string[], at: number): void {
    for (const nick of nicks) this.#addressed.set(`${casefold(channel)} ${casefold(nick)}`, at);
  }
}

const recent = (times: readonly number[] | undefined, at: number, withinMs: number): number[] =>
  (times ?? []).filter((time) => at - time < withinMs);
