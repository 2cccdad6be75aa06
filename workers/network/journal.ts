import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { type Log, newId, requireFact, retry } from '../../streams/core/index.js';
import {
  closedAfter,
  type IrcFact,
  irc,
  ircSubject,
  isLine,
  linesOf,
  type Sighting,
} from '../../streams/network/index.js';
import { lastKept } from './catch-up.js';

/** One channel on its way to the log. */
export interface Recording {
  readonly channel: string;
  readonly subject: string;
  /** Sequence of the channel's last fact; 0 if it has none. */
  seq: number;
  /**
   * Whether the channel is closed to the public after what was seen last, and after what was last sent for
   * writing.
   */
  closed: { seen: boolean | undefined; written: boolean | undefined };
  /** The sequence of the fact that created the channel; `undefined` if it is not managed. */
  life: number | undefined;
  /** The last line that its history keeps, whether it is on the log already or waits. */
  lastLine: { at: number; msgid?: string | undefined } | undefined;
  /** When the last thing was seen, and whether that was our leaving. */
  seenAt: number | undefined;
  left: boolean;
  waiting: Sighting[];
  /** The time of the oldest sighting that is not on the log; `undefined` while all is. */
  unwritten: number | undefined;
  /** The last line as of the last fact; the next fact repeats it if it has none. */
  written: Recording['lastLine'];
  /** Settles when nothing of it waits any more; `undefined` while nothing waits. */
  writing: Promise<void> | undefined;
}

/** Called for what reaches the log, and for what never will. */
export interface RecordingObserver {
  /** A fact is on the log: how many lines it holds, and how many gaps. */
  recorded(lines: number, gaps: number): void;
  /** So many sightings fit in no fact, and were skipped. */
  skipped(sightings: number): void;
}

/** What a journal works with. */
export interface JournalOptions {
  log: Log;
  logger: Logger;
  /**
   * Another process has recorded the channel: sightings from that time on are dropped, and it must be entered again.
   */
  superseded(recording: Recording, from: number): void;
  /** Up to which time nothing needs to be looked for any more; `undefined` when nothing is looked for. */
  completeUntil?(): number | undefined;
  /** Bytes that may wait for the log, roughly; 64 MB by default. */
  maxWaitingBytes?: number;
  observe?: RecordingObserver;
}

const maxAppends = 64;
const maxSightingsPerFact = 500;
const maxBytesPerFact = 200_000;
const pauses = { first: 250, longest: 250 };

/**
 * Brings sightings to the log, in the order of each channel, however long the log is away. A fact holds what
 * came while the one before it was on its way. Appends expect the subject's last sequence: two observers of
 * one channel, as when a lease changes hands, cannot both record the same line. When too much waits, the
 * oldest of the longest channel become a gap that says so.
 */
export class Journal {
  readonly #options: JournalOptions;
  /** Recordings with something that waits, or is being written. */
  readonly #busy = new Set<Recording>();
  readonly #limit = pLimit(maxAppends);
  readonly #stop = new AbortController();
  readonly #maxWaiting: number;
  #lines = 0;
  #waitingBytes = 0;
  #troubled = false;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#maxWaiting = options.maxWaitingBytes ?? 64_000_000;
  }

  /** Learns from the log up to where it is recorded. Resolves with the time up to which all that was seen is there. */
  async recall(): Promise<number | undefined> {
    const { log } = this.#options;
    const head = await log.head(irc);
    const last = head > 0 ? await log.at(irc, head) : undefined;
    if (last) this.#lines = Math.max(this.#lines, last.data.lines_before + linesOf(last));
    return last && (last.data.complete_until ?? last.data.seen.at(-1)!.at);
  }

  /** The recording of a channel after its last fact. */
  async recording(channel: string): Promise<Recording> {
    const subject = ircSubject(channel);
    const last = await this.#options.log.last(irc, subject);
    const end = last?.data.seen.at(-1);
    const line = last && (lastKept(last.data.seen) ?? last.data.last_line);
    const lastLine = line && { at: line.at, msgid: line.msgid };
    return {
      channel,
      subject,
      seq: last?.seq ?? 0,
      closed: { seen: last?.data.closed, written: last?.data.closed },
      life: last?.data.life,
      lastLine,
      seenAt: end?.at,
      left: end?.is === 'left',
      waiting: [],
      unwritten: undefined,
      written: lastLine,
      writing: undefined,
    };
  }

  add(recording: Recording, seen: readonly Sighting[]): void {
    if (seen.length === 0) return;
    recording.unwritten ??= startOf(seen[0]!);
    for (const sighting of seen) {
      recording.waiting.push(sighting);
      recording.closed.seen = closedAfter(sighting, recording.closed.seen);
      this.#waitingBytes += sizeOf(sighting);
    }
    const line = lastKept(seen);
    if (line) recording.lastLine = { at: line.at, msgid: line.msgid };
    const end = seen.at(-1)!;
    recording.seenAt = end.at;
    recording.left = end.is === 'left';
    this.#busy.add(recording);
    while (this.#waitingBytes > this.#maxWaiting && this.#makeRoom());
    recording.writing ??= this.#write(recording);
  }

  /**
   * From now on a log that is away is not waited for. Resolves when all is on the log, or can no longer be.
   */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#busy].map(({ writing }) => writing));
  }

  /** Writes what waits. It begins a moment later, so that everything from one packet goes together. */
  async #write(recording: Recording): Promise<void> {
    let stored: boolean | undefined = true;
    while (stored && recording.waiting.length > 0) {
      stored = await this.#limit(() => this.#append(recording, this.#take(recording)));
      if (stored) recording.unwritten = recording.waiting[0] && startOf(recording.waiting[0]);
    }
    // what a stop has left out is still missing for those who write on
    if (stored !== undefined) this.#busy.delete(recording);
    recording.writing = undefined;
    if (stored === false) this.#drop(recording);
  }

  #take(recording: Recording): IrcFact {
    let bytes = 0;
    let count = 0;
    for (const sighting of recording.waiting) {
      bytes += sizeOf(sighting);
      if (count > 0 && (count === maxSightingsPerFact || bytes > maxBytesPerFact)) break;
      count += 1;
    }
    const seen = recording.waiting.splice(0, count);
    this.#waitingBytes -= seen.reduce((sum, sighting) => sum + sizeOf(sighting), 0);
    const line = lastKept(seen);
    const last_line = !line && recording.written ? { last_line: recording.written } : {};
    if (line) recording.written = { at: line.at, msgid: line.msgid };
    const closed = writtenUpTo(seen, recording);
    const { channel, life } = recording;
    const complete_until = this.#completeUntil(recording);
    const data = {
      channel,
      lines_before: this.#lines,
      ...last_line,
      ...(complete_until === undefined ? {} : { complete_until }),
      seen,
      ...(closed === undefined ? {} : { closed }),
      ...(life === undefined ? {} : { life }),
    };
    this.#lines += seen.filter(isLine).length;
    return { type: 'channel.observed', data };
  }

  /** Up to which time all that was seen in other channels is on the log; `undefined` if all of it is. */
  #completeUntil(recording: Recording): number | undefined {
    let until = this.#options.completeUntil?.();
    for (const other of this.#busy)
      if (other !== recording && other.unwritten !== undefined)
        until = Math.min(other.unwritten - 1, until ?? Number.POSITIVE_INFINITY);
    return until;
  }

  /** Repeats the append until it is stored, or somebody else's is (false); `undefined` after a stop. */
  async #append(recording: Recording, fact: IrcFact): Promise<boolean | undefined> {
    const { log, logger, observe } = this.#options;
    const origin = { by: 'record-irc', id: newId() };
    const append = async (): Promise<boolean> => {
      const stored = await log.appendNext(irc, recording.subject, fact, origin, recording.seq);
      if (stored) recording.seq = stored.seq;
      else if (!(await this.#isOurs(recording, origin.id))) return false;
      else if (recording.seq === 0) return await append();
      return true;
    };
    const failed = (error: unknown) => {
      requireFact(irc, fact);
      if (!this.#troubled) logger.warn({ err: error }, 'what is seen on irc waits for the log');
      this.#troubled = true;
    };
    const isStored = await retry(append, { pauses, failed, signal: this.#stop.signal }).catch((error) => {
      // no attempt would end otherwise, and what follows waits
      const seen = takeable(fact);
      const skipped = fact.data.seen.length - seen.length;
      const { channel } = recording;
      logger.error({ channel, skipped, err: error }, 'irc sightings that no fact takes are dropped');
      observe?.skipped(skipped);
      return { ...fact, data: { ...fact.data, seen } };
    });
    if (typeof isStored === 'object')
      return isStored.data.seen.length === 0 || (await this.#append(recording, isStored));
    if (isStored) {
      this.#troubled = false;
      observe?.recorded(linesOf(fact), fact.data.seen.filter(({ is }) => is === 'gap').length);
    }
    return isStored;
  }

  /**
   * After a conflict: either an earlier attempt was stored, or the channel's facts have all become too old
   * and are gone.
   */
  async #isOurs(recording: Recording, id: string): Promise<boolean> {
    const last = await this.#options.log.last(irc, recording.subject);
    if (last && last.id !== id) return false;
    recording.seq = last?.seq ?? 0;
    return true;
  }

  #drop(recording: Recording): void {
    this.#options.logger.warn({ channel: recording.channel }, 'somebody else records this channel');
    this.#waitingBytes -= recording.waiting.reduce((sum, sighting) => sum + sizeOf(sighting), 0);
    recording.waiting = [];
    this.#options.superseded(recording, recording.unwritten!);
    recording.unwritten = undefined;
  }

  /** Turns half of the channel with the most waiting into a gap; false if nothing can be dropped. */
  #makeRoom(): boolean {
    let longest: Recording | undefined;
    for (const recording of this.#busy) {
      if (recording.waiting.length > (longest?.waiting.length ?? 1)) longest = recording;
    }
    if (!longest) return false;
    const dropped = longest.waiting.splice(0, Math.ceil(longest.waiting.length / 2));
    writtenUpTo(dropped, longest);
    const [first] = dropped;
    const to = dropped.at(-1)!.at;
    const gap: Sighting = { is: 'gap', at: to, from: first!.is === 'gap' ? first!.from : first!.at, to };
    longest.waiting.unshift(gap);
    this.#waitingBytes -= dropped.reduce((sum, sighting) => sum + sizeOf(sighting), -sizeOf(gap));
    this.#options.logger.error(
      { channel: longest.channel, dropped: dropped.length },
      'irc sightings dropped',
    );
    return true;
  }
}

/** What a fact can hold of the given sightings; nothing if the fault is not in one of them. */
function takeable(fact: IrcFact): Sighting[] {
  const { seen } = fact.data;
  const kept = seen.filter((sighting) => {
    try {
      requireFact(irc, { ...fact, data: { ...fact.data, seen: [sighting] } });
      return true;
    } catch {
      return false;
    }
  });
  return kept.length === seen.length ? [] : kept;
}

/** Takes note of what no longer waits. Answers whether the channel is closed to the public after it. */
function writtenUpTo(seen: readonly Sighting[], { closed }: Recording): boolean | undefined {
  for (const sighting of seen) closed.written = closedAfter(sighting, closed.written);
  return closed.written;
}

/** When the first of what a sighting tells was. */
const startOf = (sighting: Sighting): number => (sighting.is === 'gap' ? sighting.from : sighting.at);

/** Bytes that a sighting takes, roughly. */
function sizeOf(sighting: Sighting): number {
  const text = 'text' in sighting ? sighting.text.length * 2 : 0;
  const members = sighting.is === 'snapshot' ? sighting.members.length * 32 : 0;
  return 200 + text + members;
}
