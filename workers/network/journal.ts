import type { Logger } from 'pino';
import { type Log, newId } from '../../streams/core/index.js';
import {
  type IrcFact,
  irc,
  ircSubject,
  isLine,
  linesOf,
  type Sighting,
} from '../../streams/network/index.js';
import { lastKept } from './catch-up.js';

/** One channel on its way to the log. */
export interface Track {
  readonly channel: string;
  readonly subject: string;
  /** Sequence of the channel's last fact; 0 when it has none. */
  seq: number;
  /** The last line that its history keeps, whether it is on the log already or waits. */
  lastLine: { at: number; msgid?: string | undefined } | undefined;
  /** When the last thing was seen, and whether that was that we left. */
  seenAt: number | undefined;
  left: boolean;
  waiting: Sighting[];
  /** The last line as of the last fact, which the next fact repeats if it has none. */
  written: Track['lastLine'];
  writing: boolean;
}

/** Told of each fact that is on the log: how many lines it holds, and how many gaps. */
export interface RecordingObserver {
  recorded(lines: number, gaps: number): void;
}

/** What a journal works with. */
export interface JournalOptions {
  log: Log;
  logger: Logger;
  /** Somebody else has recorded the channel: what waited is dropped, it has to be entered anew. */
  superseded(track: Track): void;
  /** Bytes that may wait for the log, roughly; 64 MB by default. */
  maxWaitingBytes?: number;
  observe?: RecordingObserver;
}

const maxAppends = 64;
const maxSightingsPerFact = 500;
const maxBytesPerFact = 200_000;
const retryMs = 250;

/**
 * Brings what was seen to the log, in the order of each channel, however long the log is away. A fact holds what
 * came while the one before it was on its way. The subject's sequence is expected: two observers of one channel,
 * as when a lease changes hands, cannot both record the same line. When too much waits, the oldest of
 * the longest channel give way to a gap that says so.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #ready = new Set<Track>();
  readonly #maxWaiting: number;
  #lines = 0;
  #waitingBytes = 0;
  #appends = 0;
  #stopping = false;
  #troubled = false;
  #flushed: (() => void)[] = [];

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#maxWaiting = options.maxWaitingBytes ?? 64_000_000;
  }

  /** Learns from the log where the recording stands; resolves with the time of the last thing that was seen. */
  async recall(): Promise<number | undefined> {
    const { log } = this.#options;
    const head = await log.head(irc);
    const last = head > 0 ? await log.at(irc, head) : undefined;
    if (last) this.#lines = Math.max(this.#lines, last.data.lines_before + linesOf(last));
    return last?.data.seen.at(-1)?.at;
  }

  /** The track of a channel as its last fact leaves it. */
  async track(channel: string): Promise<Track> {
    const subject = ircSubject(channel);
    const last = await this.#options.log.last(irc, subject);
    const end = last?.data.seen.at(-1);
    const line = last && (lastKept(last.data.seen) ?? last.data.last_line);
    const lastLine = line && { at: line.at, msgid: line.msgid };
    return {
      channel,
      subject,
      seq: last?.seq ?? 0,
      lastLine,
      seenAt: end?.at,
      left: end?.is === 'left',
      waiting: [],
      written: lastLine,
      writing: false,
    };
  }

  add(track: Track, seen: readonly Sighting[]): void {
    if (seen.length === 0) return;
    for (const sighting of seen) {
      track.waiting.push(sighting);
      this.#waitingBytes += sizeOf(sighting);
    }
    const line = lastKept(seen);
    if (line) track.lastLine = { at: line.at, msgid: line.msgid };
    const end = seen.at(-1)!;
    track.seenAt = end.at;
    track.left = end.is === 'left';
    this.#ready.add(track);
    while (this.#waitingBytes > this.#maxWaiting && this.#makeRoom());
    if (this.#appends < maxAppends && !track.writing) void this.#write();
  }

  /** From now on a log that is away is not waited for. Resolves when all is on the log, or can no longer be. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#appends === 0) return;
    await new Promise<void>((resolve) => this.#flushed.push(resolve));
  }

  async #write(): Promise<void> {
    this.#appends += 1;
    await undefined; // what came in one packet goes together
    for (let track = this.#next(); track; track = this.#next()) {
      track.writing = true;
      const batch = this.#take(track);
      const stored = await this.#append(track, batch);
      track.writing = false;
      if (stored === 'superseded') this.#drop(track);
      else if (track.waiting.length > 0) this.#ready.add(track);
      if (stored === 'given up') break;
    }
    this.#appends -= 1;
    if (this.#appends === 0) for (const resolve of this.#flushed.splice(0)) resolve();
  }

  #next(): Track | undefined {
    for (const track of this.#ready) {
      if (track.writing) continue;
      this.#ready.delete(track);
      return track;
    }
    return undefined;
  }

  #take(track: Track): IrcFact {
    let bytes = 0;
    let count = 0;
    for (const sighting of track.waiting) {
      bytes += sizeOf(sighting);
      if (count > 0 && (count === maxSightingsPerFact || bytes > maxBytesPerFact)) break;
      count += 1;
    }
    const seen = track.waiting.splice(0, count);
    this.#waitingBytes -= seen.reduce((sum, sighting) => sum + sizeOf(sighting), 0);
    const line = lastKept(seen);
    const last_line = !line && track.written ? { last_line: track.written } : {};
    if (line) track.written = { at: line.at, msgid: line.msgid };
    const data = { channel: track.channel, lines_before: this.#lines, ...last_line, seen };
    this.#lines += seen.filter(isLine).length;
    return { type: 'channel.observed', data };
  }

  /** Repeats the append until it is known what became of it. */
  async #append(track: Track, fact: IrcFact): Promise<'stored' | 'superseded' | 'given up'> {
    const { log, logger } = this.#options;
    const origin = { by: 'record-irc', id: newId() };
    for (;;) {
      try {
        const stored = await log.appendNext(irc, track.subject, fact, origin, track.seq);
        if (stored) track.seq = stored.seq;
        else if (!(await this.#isOurs(track, origin.id))) return 'superseded';
        else if (track.seq === 0) continue;
        this.#troubled = false;
        this.#options.observe?.recorded(
          linesOf(fact),
          fact.data.seen.filter(({ is }) => is === 'gap').length,
        );
        return 'stored';
      } catch (error) {
        if (this.#stopping) return 'given up';
        if (!this.#troubled) logger.warn({ err: error }, 'what is seen on irc waits for the log');
        this.#troubled = true;
        await new Promise((resolve) => {
          setTimeout(resolve, retryMs);
        });
      }
    }
  }

  /** After a conflict: an earlier try was stored, or the channel's facts have all grown too old and are gone. */
  async #isOurs(track: Track, id: string): Promise<boolean> {
    const last = await this.#options.log.last(irc, track.subject);
    if (last && last.id !== id) return false;
    track.seq = last?.seq ?? 0;
    return true;
  }

  #drop(track: Track): void {
    this.#options.logger.warn({ channel: track.channel }, 'somebody else records this channel');
    this.#waitingBytes -= track.waiting.reduce((sum, sighting) => sum + sizeOf(sighting), 0);
    track.waiting = [];
    this.#ready.delete(track);
    this.#options.superseded(track);
  }

  /** Half of the channel that has most waiting becomes a gap; false when there is nothing to give way. */
  #makeRoom(): boolean {
    let longest: Track | undefined;
    for (const track of this.#ready) {
      if (track.waiting.length > (longest?.waiting.length ?? 1)) longest = track;
    }
    if (!longest) return false;
    const dropped = longest.waiting.splice(0, Math.ceil(longest.waiting.length / 2));
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

/** Bytes that something seen takes, roughly. */
function sizeOf(sighting: Sighting): number {
  const text = 'text' in sighting ? sighting.text.length * 2 : 0;
  const members = sighting.is === 'snapshot' ? sighting.members.length * 32 : 0;
  return 200 + text + members;
}
