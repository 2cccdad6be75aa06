import type { IrcNetwork, Shown } from '../irc/network.js';
import type { Stage } from '../scenario.js';
import type { Delivered, StoredEvent } from './delivered.js';
import { markOf, type Posted } from './producers.js';

/** A line of an event, as its channel was shown it. */
interface Line extends Shown {
  event: StoredEvent;
}

/** Confirmed lines of a channel that may wait for the log, and the one that is in flight after them. */
const mostInDoubt = 17;
/** How long two processes may both hold work after a handover. */
const handedOverWithinMs = 2_000;
/** How long a command to delete a room may be under way. */
const deletedWithinMs = 15_000;
/** How long a session without labels may last after they are back. */
const unlabelledMs = 60_000;

/** Compares what the network has shown with the log, and with the answers to producers. */
export class ShownLines {
  readonly #stage: Stage;
  readonly #network: IrcNetwork;
  readonly #delivered: Delivered;

  constructor(stage: Stage, network: IrcNetwork, delivered: Delivered) {
    this.#stage = stage;
    this.#network = network;
    this.#delivered = delivered;
  }

  judge(posted: readonly Posted[]): void {
    const lines = this.#lines();
    this.#judgeAnswers(posted);
    for (const event of this.#delivered.events.values()) this.#judgeEvent(event, lines);
    const channels = new Set(lines.map(({ channel }) => channel));
    for (const channel of channels) {
      const own = lines.filter((line) => line.channel === channel);
      this.#judgeOrder(own);
      this.#judgeTwice(own);
    }
  }

  /** The lines of events that were shown. Each must belong to an event and to its channel. */
  #lines(): Line[] {
    const stage = this.#stage;
    return this.#network.shown.flatMap((shown) => {
      const number = markOf(shown.text);
      if (number === undefined) return [];
      const event = this.#delivered.events.get(number);
      const { channel, text } = shown;
      stage.check('what is shown is on the log', event?.text === text, () => `${channel}: ${text}`);
      if (!event) return [];
      stage.check('a line is shown where it belongs', event.targets.includes(channel), `${channel}: ${text}`);
      return [{ ...shown, event }];
    });
  }

  #judgeAnswers(posted: readonly Posted[]): void {
    const stage = this.#stage;
    for (const { id, isOurs, accepted, known, ignored } of posted) {
      const isStored = this.#delivered.has(id);
      if (accepted + known > 0) stage.check('what was accepted is on the log', isStored, id);
      stage.check('an event is accepted once', accepted <= 1, id);
      if (isOurs) stage.check('own events are not taken back', !isStored && accepted + known === 0, id);
      else stage.check('only own events are ignored', ignored === 0, id);
    }
  }

  #judgeEvent(event: StoredEvent, lines: readonly Line[]): void {
    const stage = this.#stage;
    const { id, ends, targets, confirmed } = event;
    const found = () => `${id}: ${JSON.stringify({ ...event, confirmed: [...confirmed] })}`;
    // a process that is cut off may give up what another has shown meanwhile: the showing counts
    const end = ends.includes('delivered') ? 'delivered' : ends[0];
    const isOne = ends.every((one) => one === end || end === 'delivered');
    stage.check('an event ends in one state', end !== undefined && isOne, found);
    stage.count(`events ${end}${new Set(ends).size > 1 ? ', and given up elsewhere' : ''}`);
    for (const channel of end === 'delivered' ? targets : confirmed) {
      stage.check('what is delivered is confirmed in each channel', confirmed.has(channel), found);
      const isShown = lines.some((line) => line.event === event && line.channel === channel);
      stage.check('what is delivered was shown', isShown, () => `${channel} ${found()}`);
    }
  }

  /** Lines have the order of the log; those that were given up come where they are redriven. */
  #judgeOrder(lines: readonly Line[]): void {
    const shown = new Set<StoredEvent>();
    let last: Line | undefined;
    for (const line of lines) {
      if (line.event.isRedriven || shown.has(line.event)) continue;
      shown.add(line.event);
      const isLater = !last || line.event.seq > last.event.seq;
      const found = () => `${line.channel}: ${line.event.id} behind ${last?.event.id}`;
      this.#stage.check('lines are in the order of the log', isLater, found);
      if (isLater) last = line;
    }
  }

  /** A line is shown a second time only if the history that would have shown the first is lost. */
  #judgeTwice(lines: readonly Line[]): void {
    const stage = this.#stage;
    const before = new Map<StoredEvent, Line>();
    const afterDeath = new Map<number, { inSession: number; beside: number }>();
    for (const again of lines) {
      const first = before.get(again.event);
      before.set(again.event, again);
      stage.count('lines shown');
      if (!first) continue;
      const found = () =>
        `${again.channel}: ${again.text} at ${this.#elapsed(first)}, ${this.#elapsed(again)}`;
      const death = this.#deathBetween(first, again);
      if (death !== undefined) {
        stage.count('shown again: the server has died');
        const so = afterDeath.get(death) ?? { inSession: 0, beside: 0 };
        afterDeath.set(death, so);
        so[this.#isHandedOver(first, again) ? 'beside' : 'inSession'] += 1;
        continue;
      }
      const isWithoutHistory =
        !first.modes.includes('H') ||
        isClosedBetween(first, again) ||
        this.#isUnlabelled(first, again) ||
        this.#isDeleted(first, again);
      if (isWithoutHistory) stage.count('shown again: without a history');
      stage.check('a line is shown once', isWithoutHistory, found);
    }
    for (const { inSession, beside } of afterDeath.values()) {
      const found = () => `${lines[0]!.channel}: ${inSession} and ${beside}`;
      stage.check('a dead server has one line shown again', inSession <= 1, found);
      stage.check('few lines are shown again', beside <= mostInDoubt, found);
    }
  }

  #elapsed({ at }: Shown): number {
    return at - (this.#stage.world.now - this.#stage.world.elapsed);
  }

  /** When the bot's server died between two lines. */
  #deathBetween(first: Shown, again: Shown): number | undefined {
    const { name } = this.#network.servers[0]!;
    const dies = new Set([`${name} crashes`, `${name} stops`]);
    return this.#find(first, again, ({ who, what }) => who === 'irc' && dies.has(what));
  }

  /** Whether another process had taken the work; the former holder hears of that a moment later. */
  #isHandedOver(first: Shown, again: Shown): boolean {
    const isIt = ({ what }: { what: string }) => what === 'is killed' || what === 'lease taken';
    return this.#find({ ...first, at: first.at - handedOverWithinMs }, again, isIt) !== undefined;
  }

  /** Whether lines were confirmed without labels for a while, without histories. */
  #isUnlabelled(first: Shown, again: Shown): boolean {
    const isIt = ({ who, what }: { who: string; what: string }) =>
      who === 'fault' && what === 'labels withdrawn';
    return this.#find({ ...first, at: first.at - unlabelledMs }, again, isIt) !== undefined;
  }

  /** Whether the room was deleted between two lines, and its history with it. */
  #isDeleted(first: Shown, again: Shown): boolean {
    const isAsked = ({ what }: { what: string }) => what === `deletes ${first.channel}`;
    if (this.#find({ ...first, at: first.at - deletedWithinMs }, again, isAsked) !== undefined) return true;
    const removals = ['deleted channel removed', 'channel looked after'];
    const isRemoved = ({ what }: { what: string }) => removals.includes(what);
    const wasAsked = this.#find({ ...first, at: 0 }, again, isAsked) !== undefined;
    return wasAsked && this.#find(first, again, isRemoved) !== undefined;
  }

  #find(
    first: Shown,
    again: Shown,
    isIt: (happening: { who: string; what: string }) => boolean,
  ): number | undefined {
    const [from, to] = [this.#elapsed(first), this.#elapsed(again)];
    return this.#stage.world.timeline.find(
      (happening) => happening.at >= from && happening.at <= to && isIt(happening),
    )?.at;
  }
}

/**
 * Whether the room was closed to strangers between two lines, while they were in it: its history is gone
 * then.
 */
function isClosedBetween(first: Shown, again: Shown): boolean {
  return !first.modes.includes('i') && again.modes.includes('i');
}
