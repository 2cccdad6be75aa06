import { clock } from './clock.js';
import type { EndOfTurn } from './end-of-turn.js';
import {
  type Message,
  maxPending,
  noAnswer,
  type PublishAnswer,
  type Publisher,
  type PublishOptions,
  tooMany,
} from './publisher.js';

interface Waiting extends Message {
  resolve(answer: PublishAnswer): void;
  reject(error: Error): void;
  deadline: number;
}

/** So many go one by one, in parallel: a group costs the server about as much as this many single appends. */
const few = 16;
/** Messages of a group at most, and their bytes together. */
const mostInGroup = 256;
const groupBytes = 512 * 1024;

/**
 * The appends to one stream, on a log server that can store several together and then syncs once. A few go
 * one by one at once. While more are under way, new ones wait and go as a group, one group at a time. Each
 * has its own answer. Appends of one subject keep their order.
 */
export class AppendQueue {
  readonly #publisher: Publisher;
  readonly #endOfTurn: EndOfTurn;
  readonly #lastSequences: (subjects: string[]) => Promise<Map<string, number>>;
  #waiting: Waiting[] = [];
  /** Single appends under way. */
  #singles = 0;
  #hasGroup = false;
  #isDue = false;

  /** `lastSequences` gives the sequence of each subject's last message, for those that have any. */
  constructor(
    publisher: Publisher,
    endOfTurn: EndOfTurn,
    lastSequences: (subjects: string[]) => Promise<Map<string, number>>,
  ) {
    this.#publisher = publisher;
    this.#endOfTurn = endOfTurn;
    this.#lastSequences = lastSequences;
  }

  /** Appends bytes; answers and rejects as {@link Publisher.publish} does. */
  publish(subject: string, data: Uint8Array, options: PublishOptions): Promise<PublishAnswer> {
    if (this.#waiting.length >= maxPending) return Promise.reject(tooMany());
    const deadline = clock.elapsed() + options.timeoutMs;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ subject, data, options, resolve, reject, deadline });
      this.#goOn();
    });
  }

  /** Fails everything that has not left yet. */
  abandon(reason: string): void {
    for (const { reject } of this.#waiting.splice(0)) reject(noAnswer(reason));
  }

  #goOn(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#endOfTurn.run(() => {
      this.#isDue = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.#hasGroup) return;
    const now = clock.elapsed();
    while (this.#waiting[0] && this.#waiting[0].deadline <= now)
      this.#waiting.shift()!.reject(noAnswer('too many appends went before it'));
    if (this.#singles + this.#waiting.length <= few)
      for (const one of this.#waiting.splice(0)) void this.#sendSingle(one);
    else if (this.#singles === 0) void this.#sendNext();
  }

  async #sendSingle({ subject, data, options, resolve, reject, deadline }: Waiting): Promise<void> {
    this.#singles += 1;
    const timeoutMs = deadline - clock.elapsed();
    await this.#publisher.publish(subject, data, { ...options, timeoutMs }).then(resolve, reject);
    this.#singles -= 1;
    this.#goOn();
  }

  async #sendNext(): Promise<void> {
    const { group, apart } = this.#takeGroup();
    this.#hasGroup = true;
    await this.#sendGroup(group);
    for (const one of apart) void this.#sendSingle(one);
    this.#hasGroup = false;
    this.#goOn();
  }

  /**
   * Takes what goes next. The server refuses a group in which an append expects a last sequence of a subject
   * that is in the group already. Such appends stay `apart`, with all later ones of their subject, and are
   * sent after the group.
   */
  #takeGroup(): { group: Waiting[]; apart: Waiting[] } {
    const group: Waiting[] = [];
    const apart: Waiting[] = [];
    const grouped = new Set<string>();
    const parted = new Set<string>();
    let bytes = 0;
    let taken = 0;
    for (const one of this.#waiting) {
      const { subject, data, options } = one;
      const isTwice = options.expectedLastSubjectSequence !== undefined && grouped.has(subject);
      if (isTwice || parted.has(subject) || data.length > groupBytes) {
        apart.push(one);
        parted.add(subject);
      } else {
        bytes += data.length;
        if (group.length === mostInGroup || bytes > groupBytes) break;
        group.push(one);
        grouped.add(subject);
      }
      taken += 1;
    }
    this.#waiting = this.#waiting.slice(taken);
    return { group, apart };
  }

  /**
   * Sends a group and answers each append of it. A refused group is sent again, without those whose subject
   * has moved on. If that does not explain the refusal, or the group is refused again, each append goes on
   * its own and gets its own answer.
   */
  async #sendGroup(group: Waiting[], isRest = false): Promise<void> {
    if (group.length <= few) return this.#sendEach(group);
    let answer: PublishAnswer;
    try {
      answer = await this.#publisher.publishGroup(group, group[0]!.deadline - clock.elapsed());
    } catch (error) {
      for (const { reject } of group) reject(error as Error);
      return;
    }
    if (answer.is === 'stored') {
      const first = answer.seq - group.length + 1;
      for (const [n, { resolve }] of group.entries())
        resolve({ is: 'stored', seq: first + n, duplicate: false });
      return;
    }
    const rest = answer.is === 'conflict' && !isRest ? await this.#withoutConflicts(group) : group;
    if (rest.length < group.length) await this.#sendGroup(rest, true);
    else this.#sendEach(group);
  }

  #sendEach(appends: Waiting[]): void {
    for (const one of appends) void this.#sendSingle(one);
  }

  /** Answers those whose subject has a later message than they expect, and returns the others. */
  async #withoutConflicts(group: Waiting[]): Promise<Waiting[]> {
    const expecting = group.filter(({ options }) => options.expectedLastSubjectSequence !== undefined);
    const last = await this.#lastSequences(expecting.map(({ subject }) => subject)).catch(() => new Map());
    return group.filter(({ subject, options, resolve }) => {
      const expected = options.expectedLastSubjectSequence ?? Number.POSITIVE_INFINITY;
      // an earlier sequence may come from a replica that lags: the server itself has to decide
      const isConflict = (last.get(subject) ?? 0) > expected;
      if (isConflict) resolve({ is: 'conflict' });
      return !isConflict;
    });
  }
}
