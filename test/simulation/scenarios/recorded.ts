import { casefold } from '../../../streams/irc-grammar.js';
import { type IrcFact, isLine, type LineSighting, type Sighting } from '../../../streams/network/index.js';
import type { IrcNetwork, Shown } from '../irc/network.js';
import type { SimulatedLogServer } from '../log/server.js';
import type { Stage } from '../scenario.js';

/** As many lines a channel's history keeps: who comes to a full one cannot know what fell out of it. */
const keptLines = 100;
/** What the recorder's clock, which is the log's, and that of the network may differ by, as it measures the one. */
const clocksMs = 4_000;
/** A server tells in whole seconds since when it runs. */
const uptimeMs = 3_000;
/** An answer is lost so soon after the fault: the recorder asks something every two seconds, if it is not held up. */
const lostMs = 20_000;

/** What the log has of the channels of a network, held against what was shown there. */
export class Recorded {
  readonly #stage: Stage;
  readonly #server: SimulatedLogServer;
  readonly #network: IrcNetwork;
  readonly #bot: string | undefined;
  readonly #seen = new Map<string, Sighting[]>();
  readonly #texts = new Set<string>();
  readonly #deleted = new Set<string>();
  #readUpTo = 0;

  /** `bot`: the nick under which the recorder speaks itself, where it does. */
  constructor(
    stage: Stage,
    server: SimulatedLogServer,
    network: IrcNetwork,
    channels: readonly string[],
    bot?: string,
  ) {
    this.#bot = bot;
    this.#stage = stage;
    this.#server = server;
    this.#network = network;
    for (const channel of channels) this.#seen.set(channel, []);
  }

  /** A channel is not recorded any more. */
  deleted(channel: string): void {
    this.#deleted.add(channel);
  }

  /** Whether a line is recorded by now. */
  has(channel: string, text: string): boolean {
    this.#read();
    return this.#texts.has(`${channel} ${text}`);
  }

  judge(): void {
    this.#read();
    for (const [channel, seen] of this.#seen) {
      this.#stage.count('sightings', this.#stage.counts, seen.length);
      this.#judgeChannel(channel, seen);
    }
  }

  /** Where somebody else is in a channel than by what is recorded; empty when nobody is. */
  wrongMembers(channels: readonly string[]): string {
    this.#read();
    const wrong = channels.flatMap((channel) => {
      const recorded = [...foldMembers(this.#seen.get(channel)!)].sort().join(' ');
      const members = [...this.#network.servers[0]!.channel(channel)!.members.keys()];
      const real = members
        .map(({ nick }) => casefold(nick))
        .sort()
        .join(' ');
      return recorded === real ? [] : [`${channel}: ${recorded}, and really ${real}`];
    });
    return wrong.join('; ');
  }

  #read(): void {
    const stream = this.#server.streams.get('IRC')?.stream;
    for (; stream && this.#readUpTo < stream.lastSeq; this.#readUpTo++) {
      const message = stream.get(this.#readUpTo + 1);
      if (!message) continue;
      const { data } = JSON.parse(new TextDecoder().decode(message.data)) as IrcFact;
      const channel = casefold(data.channel);
      const seen = this.#seen.get(channel);
      this.#stage.check('only what is wanted is recorded', seen !== undefined, channel);
      seen?.push(...data.seen);
      for (const sighting of data.seen) if (isLine(sighting)) this.#texts.add(`${channel} ${sighting.text}`);
    }
  }

  #judgeChannel(channel: string, seen: readonly Sighting[]): void {
    const stage = this.#stage;
    const shown = this.#network.seen.filter(
      (line) => line.server === this.#network.servers[0]!.name && casefold(line.channel) === channel,
    );
    const places = new Map(shown.map(({ msgid }, place) => [msgid, place]));
    const found = new Set<number>();
    /** What was recorded between two lines, and which lines of those that were shown these are. */
    let between: Sighting[] = [];
    let last = -1;
    const begun = seen.find(({ is }) => is === 'snapshot')?.at ?? Number.POSITIVE_INFINITY;
    // a history need not reach back to what was said before anybody recorded, and servers tell whole milliseconds
    const missedAfter = (from: number, to?: number) =>
      shown.slice(from + 1, to).filter((line) => line.at >= begun + 1 && !this.#isUnheard(line));
    for (const sighting of seen) {
      if (!isLine(sighting)) {
        between.push(sighting);
        continue;
      }
      const place = places.get(sighting.msgid ?? '');
      const line = place === undefined ? undefined : shown[place];
      const isSame = line !== undefined && isAsShown(sighting, line);
      stage.check('what is recorded was said so', isSame, () => JSON.stringify(sighting));
      if (place === undefined) continue;
      stage.check('a line is recorded once', !found.has(place), () => `${channel}: ${sighting.text}`);
      stage.check('lines are recorded in order', place > last, () => `${channel}: ${sighting.text}`);
      found.add(place);
      if (place <= last) continue;
      this.#judgeMissed(channel, shown, missedAfter(last, place), between);
      last = place;
      between = [];
    }
    if (!this.#deleted.has(channel)) this.#judgeMissed(channel, shown, missedAfter(last), between);
  }

  /** Whether the recorder said a line itself, and lost the answer by which alone it is shown its own lines. */
  #isUnheard({ from, at: saidAt }: Shown): boolean {
    if (this.#bot === undefined || !from.startsWith(`${this.#bot}!`)) return false;
    const { timeline, now, elapsed } = this.#stage.world;
    const struckAt = timeline.findLast(
      ({ at, who, what }) => who === 'fault' && what === 'answer lost' && now - elapsed + at <= saidAt,
    )?.at;
    return struckAt !== undefined && saidAt - (now - elapsed + struckAt) < lostMs;
  }

  /** Lines that were not recorded are within a gap, and no gap is without a reason. */
  #judgeMissed(
    channel: string,
    shown: readonly Shown[],
    missed: readonly Shown[],
    between: readonly Sighting[],
  ): void {
    const stage = this.#stage;
    const gaps = between.filter((sighting) => sighting.is === 'gap');
    for (const { text, at } of missed) {
      stage.count('lines missed');
      const told = () => `${channel}: ${text} of ${at}, ${JSON.stringify(between)}`;
      stage.check('what was missed is told', gaps.length > 0, told);
      const isWithin = gaps.some(({ from, to }) => from - clocksMs <= at && at <= to + clocksMs);
      if (gaps.length > 0) stage.check('a gap says between which times', isWithin, told);
    }
    for (const gap of gaps) {
      stage.count('gaps');
      const isFull = shown.filter(({ at }) => at <= gap.at).length >= keptLines;
      const isDue = missed.length > 0 || isFull || this.#mayHaveMissed(gap);
      stage.check('a gap has a reason', isDue, () => `${channel}: ${JSON.stringify(gap)}`);
    }
  }

  /** Whether somebody who was away between these times cannot know whether something was said. */
  #mayHaveMissed({ from, to }: { from: number; to: number }): boolean {
    const { timeline, now, elapsed } = this.#stage.world;
    const began = now - elapsed;
    const starts = `${this.#network.servers[0]!.name} starts`;
    return timeline.some(({ at, who, what }) => {
      const time = began + at;
      if (time > to + clocksMs) return false;
      if (who === 'irc') return what === starts && time + uptimeMs + clocksMs >= from;
      // without labels there is no history, and without an answer nothing is known
      return who === 'fault' && (what === 'labels withdrawn' || what === 'answer lost');
    });
  }
}

function isAsShown({ is, nick, text }: LineSighting, { command, from, text: shown }: Shown): boolean {
  const action = /^\x01ACTION (.*)\x01$/.exec(shown)?.[1];
  const kind = command === 'NOTICE' ? 'notice' : action === undefined ? 'message' : 'action';
  return is === kind && text === (action ?? shown) && nick === from.split('!', 1)[0];
}

/** Nicks that are in a channel by what was seen there. */
function foldMembers(seen: readonly Sighting[]): Set<string> {
  let members = new Set<string>();
  for (const sighting of seen) {
    if (sighting.is === 'snapshot')
      members = new Set(sighting.members.map((member) => casefold(member.replace(/^[@+]+/, ''))));
    else if (sighting.is === 'join') members.add(casefold(sighting.nick));
    else if (sighting.is === 'part' || sighting.is === 'quit') members.delete(casefold(sighting.nick));
    else if (sighting.is === 'kick') members.delete(casefold(sighting.kicked));
    else if (sighting.is === 'nick') {
      members.delete(casefold(sighting.nick));
      members.add(casefold(sighting.to));
    }
  }
  return members;
}
