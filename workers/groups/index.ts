import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Log, Recorded } from '../../streams/core/index.js';
import { isReservedAbility } from '../../streams/directory/index.js';
import {
  addressLine,
  type Group,
  GroupWatch,
  groupsIn,
  type Limited,
  nameOf,
  readAddressLine,
} from '../../streams/groups/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { personOf, scoreText, type Thresholds } from '../../streams/moderation/index.js';
import {
  type IrcFact,
  irc,
  ircSubject,
  isLine,
  type LineSighting,
  lineId,
} from '../../streams/network/index.js';
import { Reactor, type Task, type Verdict } from '../core/reactor.js';
import type { IrcConnection, IrcLine, Session } from '../irc/index.js';

/** The channels that a bot records, as those who answer in them need them. */
export interface RecordedRooms {
  /** The nicks in a channel; `undefined` while it is not recorded. */
  nicksIn(channel: string): string[] | undefined;
  hasNick(channel: string, nick: string): boolean;
  /** Records a line that we have said. */
  hear(line: IrcLine): void;
  /** Waits until all that was seen in a channel is on the log; false while it is not recorded. */
  isWhole(channel: string): Promise<boolean>;
}

/** What groups are addressed with. */
export interface AddressGroupsOptions {
  log: Log;
  logger: Logger;
  /** The bot that says who is meant. */
  irc: IrcConnection;
  rooms: RecordedRooms;
  /** Nicks of our own bots: they address nobody, and nobody addresses them. */
  bots: readonly string[];
  thresholds: Thresholds;
  /** Which of some nicks (casefolded) are of a group, by the directory. */
  among(nicks: readonly string[], group: Group): Promise<string[]>;
  /** Whether somebody who said a line is muted or banned somewhere. */
  isSilenced(line: Pick<LineSighting, 'nick' | 'host' | 'account'>): Promise<boolean>;
}

/** A line that addresses groups. */
interface Call {
  id: string;
  seq: number;
  channel: string;
  line: LineSighting;
  person: string;
  groups: Group[];
  asks: boolean;
  /** They are not resolved: the speaker is told why. */
  limit: Limited['limit'] | undefined;
  /** The bot may have answered it. */
  inDoubt: boolean;
  /** How often others had had the calls when it was last known whether it is in doubt. */
  term: number;
}

/** An older line is not answered any more, in milliseconds. */
const lateMs = 5 * 60_000;
const awayMs = 500;
const maxInHand = 1_024;
const atOnce = 16;
const done: Verdict = { is: 'done' };
const later: Verdict = { is: 'wait', afterMs: awayMs };

/**
 * Resolves groups that lines of recorded channels address: one line of the bot names those of the channel who are meant.
 * That line is recorded as an answer to the other, so a process that takes over knows what was answered before.
 */
export class AddressGroups {
  readonly #options: AddressGroupsOptions;
  readonly #bots: ReadonlySet<string>;
  readonly #watch = new GroupWatch();
  readonly #reactor: Reactor<typeof irc, Call>;
  /** Sequence of the last fact that was seen: one that is handed out again is not counted again. */
  #seq = 0;
  /** What others may have answered. */
  #doubtful = 0;
  /** Counts up when others may have had the calls. */
  #term = 0;

  constructor(options: AddressGroupsOptions) {
    this.#options = options;
    this.#bots = new Set(options.bots.map(casefold));
    const { log, logger } = options;
    this.#reactor = new Reactor<typeof irc, Call>({
      log,
      logger,
      maxInHand,
      atOnce,
      stream: irc,
      durable: 'address-groups',
      takeOver: async ({ ours, doubtful }) => {
        this.#doubtful = doubtful;
        if (!ours) this.#term += 1;
      },
      plan: (fact) => this.#calls(fact),
      handle: (call) => this.#answer(call),
    });
  }

  start(): void {
    this.#reactor.start();
  }

  /** Answers no more lines; those in hand are left to whoever has the work next. Bounded. */
  readonly stop = (): Promise<void> => this.#reactor.stop();

  async #calls(fact: Recorded<IrcFact>): Promise<Task<Call>[]> {
    const { seq, data } = fact;
    if (seq <= this.#seq) return [];
    const silenced = await this.#silencedIn(data);
    // from here on nothing fails: what is counted is counted once
    this.#seq = seq;
    const { channel, seen } = data;
    const calls: Task<Call>[] = [];
    for (const [index, line] of seen.entries()) {
      if (!isLine(line) || line.is === 'notice' || !line.text.includes('@')) continue;
      if (this.#bots.has(casefold(line.nick))) {
        const said = readAddressLine(line.text);
        if (said) this.#watch.addressed(channel, said.nicks, line.at);
        continue;
      }
      const person = personOf(line);
      if (!this.#mayCall(line) || silenced.has(person)) continue;
      const found = this.#watch.see(channel, { ...line, person }, this.#isNickIn(channel));
      if (!found) continue;
      const inDoubt = seq <= this.#doubtful;
      const what = { asks: true, limit: undefined, ...found };
      calls.push({
        key: casefold(channel),
        item: { id: lineId(seq, index), seq, channel, line, person, ...what, inDoubt, term: this.#term },
      });
    }
    return calls;
  }

  /** Those whose lines of a fact would be counted, and who are muted or banned: they use up no limit of others. */
  async #silencedIn({ channel, seen }: IrcFact['data']): Promise<Set<string>> {
    const { log, isSilenced } = this.#options;
    const now = log.now().getTime();
    const persons = new Map<string, LineSighting>();
    for (const line of seen) {
      // a late line is not answered
      if (!isLine(line) || now - line.at > lateMs || !this.#mayCall(line)) continue;
      const person = personOf(line);
      if (this.#watch.look(channel, { ...line, person }, this.#isNickIn(channel))) persons.set(person, line);
    }
    const silenced = new Set<string>();
    for (const [person, line] of persons) if (await isSilenced(line)) silenced.add(person);
    return silenced;
  }

  /** Whether a line may address groups. Nobody is brought to read what looks like an attack. */
  #mayCall(line: LineSighting): boolean {
    return (
      line.is !== 'notice' &&
      line.text.includes('@') &&
      !this.#bots.has(casefold(line.nick)) &&
      groupsIn(line.text).groups.length > 0 &&
      scoreText(line.text).score < this.#options.thresholds[1]
    );
  }

  /** Whether a word is no group in a channel: somebody there has it as a nick, or nobody may have it as an ability. */
  #isNickIn(channel: string): (word: string) => boolean {
    return (word) => isReservedAbility(word, this.#bots) || this.#options.rooms.hasNick(channel, word);
  }

  async #answer(call: Call): Promise<Verdict> {
    const { log, irc, rooms, isSilenced } = this.#options;
    const { channel, line, groups, asks } = call;
    if (log.now().getTime() - line.at > lateMs) return done;
    const session = irc.session();
    const here = rooms.nicksIn(channel);
    if (!session?.isIn(channel) || !here) return later;
    this.#doubt(call);
    if (call.inDoubt) {
      // they may have been told
      if (call.limit) return done;
      if (!(await rooms.isWhole(channel))) return later;
      if (await this.#isAnswered(call, session.nick)) return done;
      call.inDoubt = false;
    }
    if (await isSilenced(call.line)) return done;
    if (call.limit) {
      await session.command('NOTICE', line.nick, limitText(call.limit, call)).catch(() => undefined);
      return done;
    }
    const nicks = await this.#meant(call, here);
    if (nicks.length > 0) return await this.#name(call, session, nicks);
    if (asks) {
      const text = `Nobody else in ${channel} has said in the directory: ${groups.map(nameOf).join(', ')}`;
      // who asked may have left
      await session.command('NOTICE', line.nick, text).catch(() => undefined);
    }
    return done;
  }

  /** A call that was in hand here while others had the calls may have been answered by them. */
  #doubt(call: Call): void {
    if (call.term === this.#term) return;
    call.term = this.#term;
    if (call.seq <= this.#doubtful) call.inDoubt = true;
  }

  /** Those of a channel who are meant, as their nicks are written; in another order for each line. */
  async #meant({ id, line, groups }: Call, here: readonly string[]): Promise<string[]> {
    const shown = new Map(here.map((nick) => [casefold(nick), nick]));
    for (const nick of [casefold(line.nick), ...this.#bots]) shown.delete(nick);
    const nicks = [...shown.keys()];
    const found = await Promise.all(groups.map((group) => this.#options.among(nicks, group)));
    const placeOf = (nick: string) => createHash('sha256').update(`${id} ${nick}`).digest('hex');
    return [...new Set(found.flat())]
      .map((nick) => ({ nick, place: placeOf(nick) }))
      .sort((one, other) => (one.place < other.place ? -1 : 1))
      .flatMap(({ nick }) => shown.get(nick) ?? []);
  }

  async #name(call: Call, session: Session, nicks: readonly string[]): Promise<Verdict> {
    const { logger, rooms } = this.#options;
    const { id, channel, line, groups } = call;
    // somebody else may have the work, and the network, or may have had them meanwhile
    if (!this.#reactor.reading || call.term !== this.#term) return later;
    const outcome = await session.announce(channel, addressLine(groups, nicks), {
      event: `group-${id}`,
      reply: line.msgid,
      heard: (said) => rooms.hear(said),
    });
    logger.info(
      { channel, nick: line.nick, groups: groups.map(nameOf), of: nicks.length, ...outcome },
      'group',
    );
    if (outcome.is !== 'lost') return done;
    call.inDoubt = outcome.written;
    return later;
  }

  /** Whether the record has our answer. Where no line of the network has an id, nothing tells: it counts as answered. */
  async #isAnswered({ seq, channel, line: { msgid } }: Call, own: string): Promise<boolean> {
    if (msgid === undefined) return true;
    for await (const { data } of this.#options.log.subject(irc, ircSubject(channel), seq))
      for (const line of data.seen)
        if (isLine(line) && line.reply_to === msgid && casefold(line.nick) === casefold(own)) return true;
    return false;
  }
}

/** What a speaker is told whose line is not resolved. */
function limitText(limit: Limited['limit'], { channel, groups }: Pick<Call, 'channel' | 'groups'>): string {
  const names = groups.map(nameOf).join(', ');
  switch (limit) {
    case 'group':
      return `${names}: addressed in ${channel} less than a minute ago. Ask again in a minute`;
    case 'person':
      return `${names}: not addressed. Five lines of yours have addressed groups in ten minutes: ask again later`;
    case 'channel':
      return `${names}: not addressed. Ten lines in ${channel} have addressed groups in a minute: ask again in a minute`;
    case 'addressed':
      return `${names}: not addressed. You were named as one of a group in ${channel} less than ten minutes ago`;
  }
}
