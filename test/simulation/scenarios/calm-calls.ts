import { casefold } from '../../../streams/irc-grammar.js';
import type { Person } from '../irc/person.js';
import type { Stage } from '../scenario.js';
import { type Call, nameOf, type Record } from './calls.js';
import type { GroupMembers, Meant } from './group-members.js';
import type { RoomStates } from './room-states.js';

/** What the judge looks at while all is well. */
interface Calm {
  /** Milliseconds since 1970. */
  calmFrom: number;
  members: GroupMembers;
  rooms: RoomStates;
  people: ReadonlyMap<string, Person>;
  bot: string;
}

/** What a call must come to: groups that are resolved, a limit that its speaker is told of, or nothing. */
type Due = { groups: readonly Meant[] } | { limit: 'group' | 'person' | 'channel' | 'addressed' } | undefined;

const minuteMs = 60_000;
const answeredWithinMs = 5_000;
const words = {
  group: /less than a minute ago/,
  person: /Five lines of yours/,
  channel: /Ten lines in/,
  addressed: /You were named/,
  nobody: /^Nobody else in/,
};

/** While all is well each call comes to what the rule says, neither more nor less. */
export function judgeCalm(stage: Stage, record: Record, calm: Calm): void {
  const { calmFrom, members, rooms, people, bot } = calm;
  const limits = new Limits(calm);
  const due = new Map<string, string[]>();
  const tell = ({ line }: Call, notice: keyof typeof words) =>
    due.set(casefold(line.nick), [...(due.get(casefold(line.nick)) ?? []), notice]);
  const lines = [...record.calls, ...record.named].sort((one, other) => one.order - other.order);
  for (const line of lines) {
    if (line.at < calmFrom) continue;
    if ('nicks' in line) {
      limits.named(line);
      continue;
    }
    const { channel, at, answers } = line;
    const comesTo = limits.take(line);
    if (comesTo && 'limit' in comesTo) tell(line, comesTo.limit);
    const groups = comesTo && 'groups' in comesTo ? comesTo.groups : [];
    const [state] = rooms.during(channel, at, at).slice(-1);
    const meant = [...state!.members].filter((nick) => {
      const isOther = nick !== casefold(line.line.nick) && nick !== bot;
      return isOther && groups.some((group) => members.wasOf(nick, group, at, at));
    });
    if (groups.length > 0 && meant.length === 0 && line.asks) tell(line, 'nobody');
    const names = meant.length > 0 ? groups.map(nameOf).join(' ') : '';
    const inTime = answers.filter((answer) => answer.at < at + answeredWithinMs);
    const found = inTime.map((answer) => answer.groups.join(' ')).join(' and ');
    stage.count(`calm calls: ${!comesTo ? 'nothing' : 'limit' in comesTo ? comesTo.limit : 'answer'}`);
    stage.check(
      'a call in calm comes to what is due',
      found === names && answers.length === inTime.length,
      () => `${channel}: ${line.line.text} of ${line.line.nick} at ${at}: ${found}, not ${names}`,
    );
  }
  for (const [nick, person] of people) {
    const notices = person.heard.filter(
      ({ command, from }) => command === 'NOTICE' && from.startsWith(`${bot}!`),
    );
    if (!nick.startsWith('late-')) continue;
    const kinds = notices
      .map(({ parameters }) => kindOf(parameters[1]!))
      .sort()
      .join(', ');
    const expected = (due.get(nick) ?? []).sort().join(', ');
    stage.check('who asks is told', kinds === expected, () => `${nick}: ${kinds}, not ${expected}`);
  }
}

const kindOf = (text: string): string =>
  Object.entries(words).find(([, pattern]) => pattern.test(text))?.[0] ?? text;

/** The limits of groups by their description, counted from the beginning of the calm. */
class Limits {
  readonly #calm: Calm;
  readonly #counted: { at: number; host: string; channel: string; groups: readonly string[] }[] = [];
  readonly #named: { at: number; place: string }[] = [];
  readonly #told = new Map<string, number>();

  constructor(calm: Calm) {
    this.#calm = calm;
  }

  named({ at, channel, nicks }: Record['named'][number]): void {
    for (const nick of nicks) this.#named.push({ at, place: `${channel} ${casefold(nick)}` });
  }

  take(call: Call): Due {
    const { members, rooms } = this.#calm;
    const { channel, host, asks, at } = call;
    if (members.wasSilenced(host, at, at)) return undefined;
    const isNick = (word: string) => rooms.during(channel, at, at).some((state) => state.members.has(word));
    const groups = call.groups.filter(({ ability }) => !isNick(ability));
    if (groups.length === 0) return undefined;
    const last = this.#counted.filter((one) => one.channel === channel && at - one.at < minuteMs);
    const fresh = groups.filter((group) => !last.some((one) => one.groups.includes(nameOf(group))));
    const place = `${channel} ${casefold(call.line.nick)}`;
    const ofPerson = this.#counted.filter((one) => one.host === host);
    const limit =
      fresh.length === 0
        ? 'group'
        : this.#named.some((one) => one.place === place)
          ? 'addressed'
          : ofPerson.length >= 5
            ? 'person'
            : last.length >= 10
              ? 'channel'
              : undefined;
    if (limit === undefined) {
      this.#counted.push({ at, host, channel, groups: fresh.map(nameOf) });
      return { groups: fresh };
    }
    if (!asks || at - (this.#told.get(host) ?? 0) < minuteMs) return undefined;
    this.#told.set(host, at);
    return { limit };
  }
}
