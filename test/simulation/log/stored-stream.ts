import type { MsgHdrs, StreamConfig } from 'nats';
import type { Planned, World } from '../world.js';
import { hasWildcard, matches } from './subjects.js';
import { headersOf, textOf, type WireMessage } from './wire.js';

/** A message as a stream keeps it. */
export interface Stored {
  seq: number;
  subject: string;
  /** By the server's clock, in milliseconds since 1970. */
  at: number;
  data: Uint8Array;
  headers: WireMessage['headers'];
  bytes: number;
}

/** Why a message was not taken, in the server's words. */
export interface ApiError {
  code: number;
  err_code: number;
  description: string;
}

/** What became of a publish. */
export type Taken = { seq: number; duplicate: boolean } | ApiError;

/** Told of what the consumers of a stream must know. */
export interface StreamWatcher {
  stored(message: Stored): void;
  removed(message: Stored): void;
}

/** What a publish expects besides being stored. */
interface Expectations {
  id?: string | undefined;
  lastSubjectSequence?: number | undefined;
  lastSequence?: number | undefined;
  rollup?: string | undefined;
}

/**
 * If the oldest message expires sooner than this, the server looks again only after a second. In
 * milliseconds.
 */
const soonMs = 250;
const ageCheckMs = 1_000;

/** The messages of a stream, its limits, and what it knows of the ids of the last ones. */
export class StoredStream {
  /** The setting that lets messages be stored together is newer than the client library. */
  config: StreamConfig & { allow_atomic?: boolean };
  readonly created: number;
  readonly watchers = new Set<StreamWatcher>();
  readonly #world: World;
  readonly #now: () => number;
  readonly #expectsFirst: boolean;
  /** By sequence, from `#base` on; what was removed has no entry. */
  #messages: (Stored | undefined)[] = [];
  #base = 1;
  #subjects = new Map<string, number[]>();
  #ids = new Map<string, { seq: number; at: number }>();
  #lastAt = 0;
  #aging: Planned | undefined;
  count = 0;
  bytes = 0;
  lastSeq = 0;

  /** `expectsFirst`: the expectations of a publish are checked before its id, as in newer servers. */
  constructor(world: World, now: () => number, config: StreamConfig, expectsFirst = false) {
    this.#world = world;
    this.#expectsFirst = expectsFirst;
    this.#now = now;
    this.config = config;
    this.created = now();
    this.#planAge(config.max_age / 1e6);
  }

  /** Sequence of the first message that is left; one after the last if the stream is empty. */
  get firstSeq(): number {
    return this.count === 0 ? this.lastSeq + 1 : this.#messages.find((one) => one)!.seq;
  }

  get lastAt(): number {
    return this.#lastAt;
  }

  get subjectCount(): number {
    return this.#subjects.size;
  }

  /** How many messages each subject of a pattern has. */
  subjectsOf(pattern: string): Record<string, number> {
    const found = [...this.#subjects].filter(([subject]) => matches(pattern, subject));
    return Object.fromEntries(found.map(([subject, seqs]) => [subject, seqs.length]));
  }

  get(seq: number): Stored | undefined {
    return this.#messages[seq - this.#base];
  }

  lastOf(subject: string): Stored | undefined {
    if (!hasWildcard(subject)) {
      const seq = this.#subjects.get(subject)?.at(-1);
      return seq === undefined ? undefined : this.get(seq);
    }
    let last: number | undefined;
    for (const [one, seqs] of this.#subjects)
      if (matches(subject, one) && (last === undefined || seqs.at(-1)! > last)) last = seqs.at(-1);
    return last === undefined ? undefined : this.get(last);
  }

  /**
   * The first message from a sequence on whose subject matches one of the patterns; without patterns, all
   * match.
   */
  next(seq: number, patterns: readonly string[]): Stored | undefined {
    const [only] = patterns;
    if (patterns.length === 1 && !hasWildcard(only!)) {
      const seqs = this.#subjects.get(only!);
      const found = seqs?.[atLeast(seqs, seq)];
      return found === undefined ? undefined : this.get(found);
    }
    for (let one = Math.max(seq, this.#base); one <= this.lastSeq; one++) {
      const message = this.get(one);
      if (message && isOneOf(patterns, message.subject)) return message;
    }
    return undefined;
  }

  /** How many messages there are from a sequence on. */
  countFrom(seq: number, patterns: readonly string[]): number {
    let count = 0;
    for (const [subject, seqs] of this.#subjects)
      if (isOneOf(patterns, subject)) count += seqs.length - atLeast(seqs, seq);
    return count;
  }

  /** The last message of each subject, in the order of their sequences. */
  lastPerSubject(patterns: readonly string[]): number[] {
    const found = [...this.#subjects].filter(([subject]) => isOneOf(patterns, subject));
    return found.map(([, seqs]) => seqs.at(-1)!).sort((a, b) => a - b);
  }

  take({ subject, data, headers }: WireMessage, refusal?: ApiError): Taken {
    const { id, lastSubjectSequence, lastSequence, rollup } = expectationsOf(headers);
    const { config } = this;
    const last = () => this.lastOf(subject)?.seq ?? 0;
    if (this.#expectsFirst && lastSubjectSequence !== undefined && last() !== lastSubjectSequence)
      return wrongLastSequence(last());
    if (id !== undefined) {
      this.#forgetIds();
      const known = this.#ids.get(id);
      if (known) return { seq: known.seq, duplicate: true };
    }
    if (lastSubjectSequence !== undefined && last() !== lastSubjectSequence) return wrongLastSequence(last());
    if (lastSequence !== undefined && lastSequence !== this.lastSeq) return wrongLastSequence(this.lastSeq);
    if (rollup !== undefined && !config.allow_rollup_hdrs)
      return { code: 400, err_code: 10122, description: 'rollup not permitted' };
    const encodedHeaders = headers instanceof Uint8Array ? headers.length : 0;
    if (config.max_msg_size > 0 && data.length + encodedHeaders > config.max_msg_size)
      return { code: 400, err_code: 10054, description: 'message size exceeds maximum allowed' };
    if (refusal) return refusal;
    const bytes = this.#sizeOf(subject, data, encodedHeaders);
    const full = this.#whyFull(subject, bytes);
    if (full) return { code: 503, err_code: 10077, description: full };
    const at = Math.max(this.#now(), this.#lastAt);
    const message = { seq: this.lastSeq + 1, subject, at, data, headers, bytes };
    this.#put(message);
    if (id !== undefined) this.#ids.set(id, { seq: message.seq, at });
    for (const watcher of this.watchers) watcher.stored(message);
    this.#keepLimits(subject);
    if (rollup === 'sub')
      for (const seq of [...this.#subjects.get(subject)!]) if (seq !== message.seq) this.remove(seq);
    if (rollup === 'all')
      for (const { seq } of this.#messages.filter((one) => one !== undefined))
        if (seq !== message.seq) this.remove(seq);
    return { seq: message.seq, duplicate: false };
  }

  /** Takes messages in sequence, or none of them. Answers the sequence of the last one. */
  takeAll(messages: WireMessage[], refusal?: ApiError): Taken {
    this.#forgetIds();
    const ids = new Set<string>();
    const subjects = new Set<string>();
    let bytes = 0;
    for (const { subject, data, headers } of messages) {
      const { id, lastSubjectSequence } = expectationsOf(headers);
      if (id !== undefined && (ids.has(id) || this.#ids.has(id)))
        return {
          code: 400,
          err_code: 10201,
          description: 'atomic publish batch contains duplicate message id',
        };
      if (lastSubjectSequence !== undefined) {
        if (subjects.has(subject)) return { code: 400, err_code: 10164, description: 'wrong last sequence' };
        const last = this.lastOf(subject)?.seq ?? 0;
        if (last !== lastSubjectSequence) return wrongLastSequence(last);
      }
      if (id !== undefined) ids.add(id);
      subjects.add(subject);
      bytes += this.#sizeOf(subject, data, headers instanceof Uint8Array ? headers.length : 0);
    }
    if (refusal) return refusal;
    const full = this.#whyFull('', bytes);
    if (full) return { code: 503, err_code: 10077, description: full };
    let taken: Taken | undefined;
    for (const message of messages) taken = this.take(message);
    return taken!;
  }

  remove(seq: number): boolean {
    const message = this.#drop(seq);
    if (!message) return false;
    for (const watcher of this.watchers) watcher.removed(message);
    return true;
  }

  #drop(seq: number): Stored | undefined {
    const message = this.get(seq);
    if (!message) return undefined;
    this.#messages[seq - this.#base] = undefined;
    while (this.#messages.length > 0 && this.#messages[0] === undefined) {
      this.#messages.shift();
      this.#base += 1;
    }
    const seqs = this.#subjects.get(message.subject)!;
    seqs.splice(atLeast(seqs, seq), 1);
    if (seqs.length === 0) this.#subjects.delete(message.subject);
    this.count -= 1;
    this.bytes -= message.bytes;
    return message;
  }

  /**
   * Removes messages: those of a subject, those before a sequence, or all but the last few. Answers how many.
   */
  purge({ filter = '>', seq, keep = 0 }: { filter?: string; seq?: number; keep?: number }): number {
    const found: number[] = [];
    for (const [subject, seqs] of this.#subjects) if (matches(filter, subject)) found.push(...seqs);
    found.sort((a, b) => a - b);
    const gone = seq ? found.filter((one) => one < seq) : found.slice(0, Math.max(0, found.length - keep));
    for (const one of gone) this.#drop(one);
    // an empty stream continues from where it is told to
    if (seq && filter === '>' && seq > this.lastSeq) this.lastSeq = seq - 1;
    if (this.#messages.length === 0) this.#base = this.lastSeq + 1;
    return gone.length;
  }

  /** Applies changed limits to the stored messages. */
  update(config: StreamConfig): void {
    this.config = config;
    for (const subject of [...this.#subjects.keys()]) this.#keepLimits(subject);
    this.#age();
  }

  /** A server that starts again knows the ids of the messages that it still has. */
  recover(upTo = this.lastSeq): void {
    for (let seq = this.lastSeq; seq > upTo; seq--) {
      this.remove(seq);
      this.lastSeq = seq - 1;
    }
    if (this.#messages.length === 0) this.#base = this.lastSeq + 1;
    this.#messages.length = Math.max(0, this.lastSeq - this.#base + 1);
    this.#ids.clear();
    const since = this.#now() - this.config.duplicate_window / 1e6;
    for (const message of this.#messages) {
      const id = message && message.at >= since ? expectationsOf(message.headers).id : undefined;
      if (id !== undefined) this.#ids.set(id, { seq: message!.seq, at: message!.at });
    }
    this.#age();
  }

  /** Forgets everything, as memory does. */
  close(): void {
    this.#planAge(0);
  }

  #put(message: Stored): void {
    if (this.#messages.length === 0) this.#base = message.seq;
    this.#messages[message.seq - this.#base] = message;
    const seqs = this.#subjects.get(message.subject);
    if (seqs) seqs.push(message.seq);
    else this.#subjects.set(message.subject, [message.seq]);
    this.lastSeq = message.seq;
    this.#lastAt = message.at;
    this.count += 1;
    this.bytes += message.bytes;
    if (!this.#aging) this.#planAge(this.config.max_age / 1e6);
  }

  #sizeOf(subject: string, data: Uint8Array, headers: number): number {
    if (this.config.storage === 'memory') return subject.length + headers + data.length + 16;
    return subject.length + data.length + 30 + (headers > 0 ? headers + 4 : 0);
  }

  /** Why a stream that refuses when it is full takes no more. */
  #whyFull(subject: string, bytes: number): string | undefined {
    const { discard, max_msgs, max_bytes, max_msgs_per_subject } = this.config;
    if (discard !== 'new') return undefined;
    const seqs = this.#subjects.get(subject);
    const replaced =
      max_msgs_per_subject > 0 && seqs && seqs.length >= max_msgs_per_subject
        ? this.get(seqs[0]!)!
        : undefined;
    if (max_msgs > 0 && this.count >= max_msgs && !replaced) return 'maximum messages exceeded';
    if (max_bytes > 0 && this.bytes + bytes > max_bytes && (!replaced || replaced.bytes <= bytes))
      return 'maximum bytes exceeded';
    return undefined;
  }

  #keepLimits(subject: string): void {
    const { discard, max_msgs, max_bytes, max_msgs_per_subject } = this.config;
    const seqs = this.#subjects.get(subject);
    while (max_msgs_per_subject > 0 && seqs && seqs.length > max_msgs_per_subject) this.remove(seqs[0]!);
    if (discard === 'new') return;
    while (max_msgs > 0 && this.count > max_msgs) this.remove(this.firstSeq);
    while (max_bytes > 0 && this.bytes > max_bytes && this.count > 0) this.remove(this.firstSeq);
  }

  #forgetIds(): void {
    const since = this.#now() - this.config.duplicate_window / 1e6;
    for (const [id, { at }] of this.#ids) {
      if (at > since) break;
      this.#ids.delete(id);
    }
  }

  /** Removes what is too old, and plans to look again when the oldest of the rest will be. */
  #age(): void {
    const maxAge = this.config.max_age / 1e6;
    this.#planAge(0);
    if (maxAge <= 0) return;
    const since = this.#now() - maxAge;
    for (let oldest = this.#messages[0]; oldest; oldest = this.#messages[0]) {
      if (oldest.at > since) {
        const dueMs = oldest.at - since;
        this.#planAge(dueMs < soonMs ? ageCheckMs : dueMs);
        return;
      }
      this.remove(oldest.seq);
    }
  }

  #planAge(ms: number): void {
    if (this.#aging) this.#aging.cancelled = true;
    this.#aging = ms > 0 ? this.#world.after(ms, () => this.#age()) : undefined;
  }
}

/** Whether a subject belongs to one of some patterns, or whether there are none. */
export function isOneOf(patterns: readonly string[], subject: string): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matches(pattern, subject));
}

/** Place of the first sequence that is not smaller, in a sorted list. */
function atLeast(seqs: readonly number[], seq: number): number {
  let [low, high] = [0, seqs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (seqs[middle]! < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

function wrongLastSequence(last: number): ApiError {
  return { code: 400, err_code: 10071, description: `wrong last sequence: ${last}` };
}

const named = /^Nats-(Msg-Id|Expected-Last-Subject-Sequence|Expected-Last-Sequence|Rollup): *(.*)$/gm;

function expectationsOf(headers: Uint8Array | MsgHdrs | undefined): Expectations {
  const found: Expectations = {};
  if (!headers) return found;
  const text = headers instanceof Uint8Array ? textOf(headers) : String(headersOf(headers));
  for (const [, name, padded] of text.matchAll(named)) {
    const value = padded!.trim();
    if (name === 'Msg-Id') found.id = value;
    else if (name === 'Rollup') found.rollup = value;
    else if (name === 'Expected-Last-Sequence') found.lastSequence = Number(value);
    else found.lastSubjectSequence = Number(value);
  }
  return found;
}
