import { casefold } from '../../../streams/irc-grammar.js';
import type { Sighting } from '../../../streams/network/index.js';

/** How long a turn lasts after the last line of its holder, and at most; and how long somebody leads who asks nothing. */
const silenceMs = 120_000;
const longestMs = 600_000;
const leadMs = 1_800_000;
/** So many of one person have a place. */
const ofPerson = 3;
/** So many may wait. */
const mayWait = 20;

interface Place {
  nick: string;
  person: string;
  /** Since when they have the floor, and when they said something last; of the first place alone. */
  since: number;
  heard: number;
}

/** What came of something that was asked. */
export interface Asked {
  by: string;
  is: Outcome;
}

type Outcome =
  | 'got it'
  | 'has it'
  | 'waits'
  | 'full'
  | 'passed on'
  | 'gave up'
  | 'no place'
  | 'leads'
  | 'closed'
  | 'may not'
  | 'status'
  | 'unknown';

/**
 * The floor of a channel by the words of the guide (`docs/guides/take-turns.md`), to judge the product by. It shares no
 * rule with the product.
 */
export class ExpectedFloor {
  /** Who has it, and after them those who wait. */
  places: Place[] = [];
  lead: { nick: string; at: number } | undefined;
  operators = new Set<string>();

  copy(): ExpectedFloor {
    const copy = new ExpectedFloor();
    copy.places = this.places.map((place) => ({ ...place }));
    copy.lead = this.lead && { ...this.lead };
    copy.operators = new Set(this.operators);
    return copy;
  }

  /** When the turn ends if its holder says no more; for ever where it is free. */
  get until(): number {
    const [first] = this.places;
    return first ? Math.min(first.heard + silenceMs, first.since + longestMs) : Number.POSITIVE_INFINITY;
  }

  /** Casefolded; `undefined` where it is free. */
  get holder(): string | undefined {
    const [first] = this.places;
    return first && casefold(first.nick);
  }

  /** Whose turn it is, and since when. */
  get turn(): string {
    const [first] = this.places;
    return first ? `${first.since} ${casefold(first.nick)}` : 'free';
  }

  /** All that an answer depends on. */
  get told(): string {
    return [this.turn, ...this.places.slice(1).map(({ nick }) => nick), 'led by', this.lead?.nick].join(' ');
  }

  /** The line that a channel is told. */
  get words(): string {
    const [first, ...waiting] = this.places;
    if (!first) return 'The floor is free: /floor asks for it';
    return `${first.nick} has the floor until ${clockOf(this.until)}${waiting.length > 0 ? `; ${waiting.length} wait` : ''}`;
  }

  /** Time passes until then. */
  wait(at: number): this {
    while (this.until <= at) this.#pass(this.until);
    if (this.lead && this.lead.at + leadMs <= at) this.lead = undefined;
    return this;
  }

  see(seen: Sighting): Asked | undefined {
    this.wait(seen.at);
    if (seen.is === 'part' || seen.is === 'quit') this.#leave(seen.nick, seen.at);
    else if (seen.is === 'kick') this.#leave(seen.kicked, seen.at);
    else if (seen.is === 'nick') this.#rename(seen.nick, seen.to);
    else if (seen.is === 'mode') this.#promote(seen.change);
    else if (seen.is === 'snapshot') this.#count(seen.members, seen.at);
    else if (seen.is === 'message' || seen.is === 'action' || seen.is === 'notice') return this.#hear(seen);
    return undefined;
  }

  #hear(line: Extract<Sighting, { text: string; host?: string | undefined }>): Asked | undefined {
    const { nick, at, text } = line;
    const [first] = this.places;
    if (first && same(first.nick, nick)) first.heard = Math.max(at, first.heard);
    const [word = '', command = ''] = text.toLowerCase().split(' ');
    if (line.is !== 'message' || (word !== '/floor' && word !== '!floor')) return undefined;
    if (this.lead && same(this.lead.nick, nick)) this.lead.at = at;
    const person = line.account ? `account ${casefold(line.account)}` : `host ${line.host!.split('@')[1]}`;
    return { by: nick, is: this.#ask(command, nick, person, at) };
  }

  #ask(command: string, nick: string, person: string, at: number): Outcome {
    const place = this.places.findIndex((one) => same(one.nick, nick));
    const isLed = this.lead !== undefined;
    const mayLead = (isLed && same(this.lead!.nick, nick)) || this.operators.has(casefold(nick));
    if (command === '') {
      if (place >= 0) return place === 0 ? 'has it' : 'waits';
      const own = this.places.filter((one) => one.person === person).length;
      if (own >= ofPerson || this.places.length > mayWait) return 'full';
      this.places.push({ nick, person, since: at, heard: at });
      return this.places.length === 1 ? 'got it' : 'waits';
    }
    if (command === 'done') {
      if (place < 0) return 'no place';
      if (place === 0) this.#pass(at);
      else this.places.splice(place, 1);
      return place === 0 ? 'passed on' : 'gave up';
    }
    if (command === 'status') return 'status';
    if (command === 'open') {
      if (isLed && !mayLead) return 'may not';
      this.lead = { nick, at };
      return 'leads';
    }
    if (command !== 'next' && command !== 'close') return 'unknown';
    if (!mayLead) return 'may not';
    if (command === 'next') {
      this.#pass(at);
      return 'passed on';
    }
    this.places = [];
    this.lead = undefined;
    return 'closed';
  }

  #pass(at: number): void {
    this.places.shift();
    const [first] = this.places;
    if (first) Object.assign(first, { since: at, heard: at });
  }

  #leave(nick: string, at: number): void {
    this.#keep((other) => !same(other, nick), at);
    this.operators.delete(casefold(nick));
  }

  /** All others have no place any more. */
  #keep(isHere: (nick: string) => boolean, at: number): void {
    const [first] = this.places;
    this.places = this.places.filter(({ nick }) => isHere(nick));
    const [now] = this.places;
    if (now && now !== first) Object.assign(now, { since: at, heard: at });
    if (this.lead && !isHere(this.lead.nick)) this.lead = undefined;
  }

  #rename(from: string, to: string): void {
    for (const one of [this.lead, ...this.places]) if (one && same(one.nick, from)) one.nick = to;
    if (this.operators.delete(casefold(from))) this.operators.add(casefold(to));
  }

  #count(members: readonly string[], at: number): void {
    const nickOf = (member: string) => casefold(member.replace(/^[@+]+/, ''));
    const here = new Set(members.map(nickOf));
    this.operators = new Set(members.filter((member) => member.startsWith('@')).map(nickOf));
    this.#keep((nick) => here.has(casefold(nick)), at);
  }

  /** `+o alice`; of all letters that are set here only those of members have a name. */
  #promote(change: string): void {
    const [letters = '', ...names] = change.split(' ');
    let sign = '+';
    for (const letter of letters) {
      if (letter === '+' || letter === '-') sign = letter;
      if (letter !== 'o' && letter !== 'v') continue;
      const nick = casefold(names.shift() ?? '');
      if (letter === 'o' && sign === '+') this.operators.add(nick);
      if (letter === 'o' && sign === '-') this.operators.delete(nick);
    }
  }
}

const same = (one: string, other: string): boolean => casefold(one) === casefold(other);

export const clockOf = (at: number): string => `${new Date(at).toISOString().slice(11, 19)} UTC`;
