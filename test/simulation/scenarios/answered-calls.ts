import { casefold } from '../../../streams/irc-grammar.js';
import { irc } from '../../../streams/network/index.js';
import type { IrcNetwork, Shown } from '../irc/network.js';
import type { Person } from '../irc/person.js';
import type { SimulatedLogServer } from '../log/server.js';
import type { Stage } from '../scenario.js';
import { type Answer, answersOf, type Call, nameOf, type Record, recordOf, type Said } from './calls.js';
import { judgeCalm } from './calm-calls.js';
import type { GroupMembers, Meant } from './group-members.js';
import { type RoomState, RoomStates } from './room-states.js';

/** What the judge looks at. */
interface Scene {
  network: IrcNetwork;
  logServer: SimulatedLogServer;
  members: GroupMembers;
  channels: readonly string[];
  bot: string;
}

const minuteMs = 60_000;
/** What the clocks of the recorder and of the network may differ by. */
const clocksMs = 4_000;
/** A server loses the answer to one of the next commands, and the bot asks it something every few seconds. */
const lostWithinMs = 5_000;
/** For how long a session without labels may outlive their absence. It is confirmed without them, and reads no histories. */
const unlabelledMs = 60_000;

/** What the bot answered to those who addressed groups, held against who was there and what they could do. */
export class AnsweredCalls {
  /** From when on all is well, in milliseconds since 1970. */
  calmFrom = Number.POSITIVE_INFINITY;
  readonly #stage: Stage;
  readonly #scene: Scene;
  readonly #rooms: RoomStates;
  readonly #said = new Map<string, Said>();
  /** When the bot was seen to have nothing in hand up to a sequence. */
  readonly #positions: { at: number; seq: number }[] = [];

  constructor(stage: Stage, scene: Scene) {
    this.#stage = stage;
    this.#scene = scene;
    this.#rooms = new RoomStates(scene.network.servers[0]!, scene.channels, scene.bot);
  }

  /** Somebody is going to say a line that addresses groups. */
  will(text: string, said: Said): void {
    this.#said.set(text, said);
  }

  /** Takes note of how far the bot is. */
  look(): void {
    const seq = this.#scene.logServer.positionOf(irc.name, 'address-groups');
    if (seq > (this.#positions.at(-1)?.seq ?? 0)) this.#positions.push({ at: this.#stage.world.now, seq });
  }

  judge(people: ReadonlyMap<string, Person>): void {
    const { logServer, network, bot, members } = this.#scene;
    const stage = this.#stage;
    const home = network.servers[0]!.name;
    const shown = new Map<string, Shown>();
    for (const line of network.seen) if (line.server === home) shown.set(line.msgid, line);
    const record = recordOf(logServer, this.#said, shown, bot);
    const byId = new Map(record.calls.map((call) => [call.line.msgid, call]));
    /** Answers that do not say to which line they are. */
    const bare: Answer[] = [];
    for (const { answer, text, tags } of answersOf(network, bot)) {
      stage.check('the bot only says who is meant', answer !== undefined, text);
      if (!answer) continue;
      stage.count('answers');
      const msgid = tags.find((tag) => tag.startsWith('+draft/reply='))?.slice('+draft/reply='.length);
      if (msgid === undefined) bare.push(answer);
      else this.#judgeAnswer(answer, byId.get(msgid), record);
    }
    for (const answer of bare) this.#judgeBare(answer, record);
    stage.count('calls', stage.counts, record.calls.length);
    for (const call of record.calls) {
      this.#judgeOnce(call, record);
      this.#judgeUnanswered(call, record, bare);
    }
    judgeCalm(stage, record, { calmFrom: this.calmFrom, members, rooms: this.#rooms, people, bot });
  }

  #judgeAnswer(answer: Answer, call: Call | undefined, { lines, gaps }: Record): void {
    const stage = this.#stage;
    const { shown, channel, at } = answer;
    const told = () => `${channel}: ${shown.text} of ${shown.tags.join(' ')}`;
    const isCall = call?.channel === channel && shown.tags.includes(`+svc/event=group-${call.id}`);
    stage.check('an answer is to a line that addresses groups', isCall, told);
    if (!call) return;
    call.answers.push(answer);
    const wrong = this.#wrongIn(answer, call);
    stage.check('who is meant is named', wrong === '', () => `${channel}: ${call.line.text}: ${wrong}`);
    const recorded = lines.get(shown.msgid);
    const isMissed =
      this.#mayBeLost(at, at) ||
      gaps.some((gap) => gap.channel === channel && gap.from - clocksMs <= at && at <= gap.to + clocksMs);
    const isAnswer = recorded?.reply_to === call.line.msgid && recorded?.text === shown.text;
    stage.check('an answer is recorded as one', recorded ? isAnswer : isMissed, told);
  }

  /** A server without labels passes on no tags: then the answer must be one to some line. */
  #judgeBare(answer: Answer, { calls }: Record): void {
    const { channel, at, shown } = answer;
    const told = () => `${channel}: ${shown.text}`;
    const isWithdrawn = this.#struck('labels withdrawn', 0, at);
    this.#stage.check('an answer says to which line it is', isWithdrawn, told);
    const may = calls.some(
      (call) => call.channel === channel && call.at <= at && this.#wrongIn(answer, call) === '',
    );
    this.#stage.check('an answer is to some line', may, told);
  }

  /** What an answer to a call must not say, or leaves out. */
  #wrongIn({ channel, at, groups, nicks }: Answer, call: Call): string {
    const { members, bot } = this.#scene;
    const speaker = casefold(call.line.nick);
    const meant = call.groups.filter((group) => groups.includes(nameOf(group)));
    if (meant.length < groups.length) return `${groups} is not addressed`;
    if (members.isSilenced(call.host, call.at, at)) return `${call.line.nick} is silenced`;
    const states = this.#rooms.during(channel, call.at, at);
    const named = nicks.map(casefold);
    if (new Set(named).size < named.length) return `${nicks} twice`;
    for (const nick of named) {
      if (nick === speaker || nick === bot) return `${nick} is named`;
      if (!states.some((state) => state.members.has(nick))) return `${nick} was not there`;
      if (!meant.some((group) => members.wasOf(nick, group, call.at, at))) return `${nick} is not meant`;
    }
    const missing = this.#meantIn(states, meant, call, at).find((nick) => !named.includes(nick));
    return missing === undefined ? '' : `${missing} is not named`;
  }

  /** Those who were in a channel all the time, and meant all the time. */
  #meantIn(states: readonly RoomState[], groups: readonly Meant[], call: Call, to: number): string[] {
    const { members, bot } = this.#scene;
    const always = [...(states[0]?.members ?? [])].filter((nick) =>
      states.every((state) => state.members.has(nick)),
    );
    return always.filter((nick) => {
      const isOther = nick !== casefold(call.line.nick) && nick !== bot;
      return isOther && groups.some((group) => members.isOf(nick, group, call.at, to));
    });
  }

  #judgeOnce({ answers, channel, line }: Call, { lines }: Record): void {
    for (const [index, { at }] of answers.entries()) {
      if (index === 0) continue;
      const { at: first, shown } = answers[index - 1]!;
      // nobody knows of a line that a server showed before it died, or never confirmed, and that is not on record
      const isUnknown = this.#mayBeLost(first, first) && !lines.has(shown.msgid);
      const isUnlabelled = this.#struck('labels withdrawn', first - unlabelledMs, at);
      const isExcused = this.#stopped(first, at) || isUnknown || isUnlabelled;
      this.#stage.check('a call is answered once', isExcused, () => `${channel}: ${line.text}`);
    }
    if (answers.length === 1) this.#stage.count('a call is answered once', this.#stage.checks);
  }

  /** A call that no limit can hold back is answered, where somebody is meant all the time. */
  #judgeUnanswered(call: Call, record: Record, bare: readonly Answer[]): void {
    const { members } = this.#scene;
    const { channel, at, host, line, answers, seq } = call;
    const until = this.#positions.find((position) => position.seq >= seq)?.at ?? this.#stage.world.now;
    if (until - at > 5 * minuteMs || members.wasSilenced(host, at, until)) return;
    const groups = groupsWithin(call, record);
    const states = this.#rooms
      .during(channel, at, until)
      .filter(({ bot }) => bot !== 'away' && bot !== 'out');
    if (states.length === 0 || this.#meantIn(states, groups, call, until).length === 0) return;
    if (this.#rooms.wasHindered(channel, at, until)) return;
    if (this.#mayBeLost(at, until)) return;
    if (
      answers.length === 0 &&
      bare.some((one) => one.channel === channel && one.at >= at && one.at <= until)
    )
      return;
    const told = () => `${channel}: ${line.text} of ${line.nick}, in hand until ${until}`;
    this.#stage.check('a call within limits is answered', answers.length > 0, told);
  }

  /** Whether the answer of the server may have been lost to a line that the bot said between two times. */
  #mayBeLost(from: number, to: number): boolean {
    return this.#struck('answer lost', from - lostWithinMs, to);
  }

  #struck(fault: string, from: number, to: number): boolean {
    return this.#happened(from, to, ({ who, what }) => who === 'fault' && what === fault);
  }

  #stopped(from: number, to: number): boolean {
    const stops = new RegExp(`^${this.#scene.network.servers[0]!.name} (?:stops|crashes)$`);
    return this.#happened(from, to, ({ who, what }) => who === 'irc' && stops.test(what));
  }

  #happened(from: number, to: number, is: (happening: { who: string; what: string }) => boolean): boolean {
    const { timeline, now, elapsed } = this.#stage.world;
    const began = now - elapsed;
    return timeline.some((one) => began + one.at >= from && began + one.at <= to && is(one));
  }
}

/** The groups of a call that no limit can hold back, whatever the bot remembers of what was before. */
function groupsWithin(call: Call, { calls, named }: Record): readonly Meant[] {
  const { order, channel, line, host, groups } = call;
  const speaker = casefold(line.nick);
  const earlier = calls.filter((other) => other.order < order && line.at - other.line.at < 10 * minuteMs);
  const isAddressed = named.some(
    (one) =>
      one.order < order &&
      one.channel === channel &&
      line.at - one.at < 10 * minuteMs &&
      one.nicks.some((nick) => casefold(nick) === speaker),
  );
  const lately = earlier.filter((other) => other.channel === channel && line.at - other.line.at < minuteMs);
  const ofPerson = earlier.filter((other) => other.host === host);
  if (isAddressed || lately.length >= 10 || ofPerson.length >= 5) return [];
  const before = new Set(lately.flatMap((other) => other.groups.map(nameOf)));
  return groups.filter((group) => !before.has(nameOf(group)));
}
