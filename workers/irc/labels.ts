import { clock } from '../../streams/core/clock.js';
import {
  type CommandOutcome,
  commandOutcome,
  type Exchange,
  type ExchangeOptions,
  emptyTally,
  give,
  type LineTags,
  type SayOutcome,
  type Waiter,
} from './exchange.js';
import { commandAt, eventTag, type IrcLine, isError, parseLine, rawTag, replyTag, textOf } from './line.js';

interface Pending extends Waiter {
  number: number;
  label: string;
  line: string;
  bytes: number;
  writtenAt: number;
  /** Lines of a batched answer so far; stays undefined while none was opened. */
  lines: IrcLine[] | undefined;
  heard: LineTags['heard'];
}

/** Lines and answers brought together by labels (IRCv3 labeled-response with echo-message and batch). */
export class LabelExchange implements Exchange {
  readonly kind = 'labels';
  readonly tally = emptyTally();
  readonly #options: ExchangeOptions;
  readonly #written = new Map<string, Pending>();
  /** Open batches by reference; nested ones lead to the same entry. */
  readonly #batches = new Map<string, Pending>();
  #queue: Pending[] = [];
  #next = 0;
  #number = 0;
  #newestAnswered = 0;
  #inFlight = 0;
  #answeredAt = 0;
  #closed = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  say(channel: string, text: string, { event, reply, heard }: LineTags): Promise<SayOutcome> {
    return new Promise((said) => {
      const tags = `${tagOf(eventTag, event)}${tagOf(replyTag, reply)}`;
      this.#enqueue(`${tags} PRIVMSG ${channel} :${text}`, said, undefined, heard);
    });
  }

  command(line: string): Promise<CommandOutcome> {
    return new Promise((answered) => this.#enqueue(` ${line}`, undefined, answered));
  }

  take(line: string): boolean {
    const label = rawTag(line, 'label');
    if (label === undefined) return this.#batches.size > 0 && this.#takeBatched(line);
    const entry = this.#written.get(label);
    if (!entry) return false;
    const at = commandAt(line);
    if (line.startsWith('BATCH +', at)) {
      entry.lines = [];
      this.#batches.set(line.slice(at + 7).split(' ', 1)[0]!, entry);
    } else if (entry.said && line.startsWith('PRIVMSG ', at)) {
      entry.heard?.(parseLine(line));
      this.#settle(entry, { is: 'confirmed', msgid: rawTag(line, 'msgid') ?? null });
    } else this.#finish(entry, line.startsWith('ACK', at) ? [] : [this.#parsed(line)]);
    return true;
  }

  waiting(now: number): number {
    const oldest = this.#oldest();
    return oldest ? now - Math.max(oldest.writtenAt, this.#answeredAt) : 0;
  }

  overdue(now: number): 'alive' | 'silent' | undefined {
    const oldest = this.#oldest();
    const { confirmTimeoutMs } = this.#options;
    if (!oldest || now - oldest.writtenAt < confirmTimeoutMs) return undefined;
    // Servers work through a connection in order: a later line answered means that this answer is missing.
    if (this.#newestAnswered > oldest.number) return 'alive';
    // And while earlier ones are being answered the server is slow (it may throttle us), not silent.
    return this.waiting(now) < confirmTimeoutMs ? undefined : 'silent';
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const now = clock.elapsed();
    for (const entry of this.#written.values()) {
      const overdue = now - entry.writtenAt >= this.#options.confirmTimeoutMs;
      const swallowed = overdue && entry.number < this.#newestAnswered;
      give(entry, swallowed ? { is: 'unconfirmed' } : { is: 'lost', written: true }, this.tally);
    }
    for (const entry of this.#queue.slice(this.#next))
      give(entry, { is: 'lost', written: false }, this.tally);
    this.#written.clear();
    this.#batches.clear();
    this.#queue = [];
  }

  #oldest(): Pending | undefined {
    return this.#written.values().next().value;
  }

  #enqueue(
    rest: string,
    said: Pending['said'],
    answered: Pending['answered'],
    heard?: Pending['heard'],
  ): void {
    const number = ++this.#number;
    const label = number.toString(36);
    const line = `@label=${label}${rest}`;
    const entry: Pending = {
      number,
      label,
      line,
      bytes: Buffer.byteLength(line) + 2,
      writtenAt: 0,
      lines: undefined,
      said,
      answered,
      heard,
    };
    if (this.#closed) give(entry, { is: 'lost', written: false }, this.tally);
    else if (this.#next === this.#queue.length && this.#fits(entry)) this.#write(entry);
    else this.#queue.push(entry);
  }

  #fits(entry: Pending): boolean {
    return this.#inFlight === 0 || this.#inFlight + entry.bytes <= this.#options.bytesInFlight;
  }

  #write(entry: Pending): void {
    entry.writtenAt = clock.elapsed();
    this.#inFlight += entry.bytes;
    this.#written.set(entry.label, entry);
    this.#options.wire.writeLine(entry.line);
  }

  #takeBatched(line: string): boolean {
    const at = commandAt(line);
    const outer = rawTag(line, 'batch');
    const entry = outer === undefined ? undefined : this.#batches.get(outer);
    if (entry) {
      const parsed = this.#parsed(line);
      const reference = parsed.params[0] ?? '';
      if (parsed.command === 'BATCH' && reference.startsWith('+'))
        this.#batches.set(reference.slice(1), entry);
      if (parsed.command === 'BATCH' && reference.startsWith('-')) this.#batches.delete(reference.slice(1));
      entry.lines?.push(parsed);
      return true;
    }
    if (!line.startsWith('BATCH ', at)) return false;
    const reference = line
      .slice(at + 6)
      .replace(/^:?-/, '')
      .trimEnd();
    const ended = this.#batches.get(reference);
    if (!ended) return false;
    this.#batches.delete(reference);
    this.#finish(ended, ended.lines ?? []);
    return true;
  }

  #parsed(line: string): IrcLine {
    const parsed = parseLine(line);
    this.#options.seen(parsed);
    return parsed;
  }

  #finish(entry: Pending, lines: IrcLine[]): void {
    const echo = entry.heard && lines.find(({ command }) => command === 'PRIVMSG');
    if (echo) entry.heard!(echo);
    this.#settle(entry, entry.said ? saidOf(lines) : commandOutcome(lines));
  }

  #settle(entry: Pending, outcome: SayOutcome | CommandOutcome): void {
    this.#written.delete(entry.label);
    this.#newestAnswered = Math.max(this.#newestAnswered, entry.number);
    this.#answeredAt = clock.elapsed();
    this.#inFlight -= entry.bytes;
    give(entry, outcome, this.tally);
    while (this.#next < this.#queue.length && this.#fits(this.#queue[this.#next]!)) {
      this.#write(this.#queue[this.#next++]!);
    }
    if (this.#next === this.#queue.length || this.#next > 1024) {
      this.#queue = this.#queue.slice(this.#next);
      this.#next = 0;
    }
  }
}

const tagOf = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `;${name}=${value}`;

/** The outcome of a line that was answered by something else than its bare echo. */
function saidOf(lines: IrcLine[]): SayOutcome {
  const echo = lines.find((line) => line.command === 'PRIVMSG');
  if (echo) return { is: 'confirmed', msgid: echo.tags.msgid ?? null };
  const failed = lines.find((line) => isError(line.command)) ?? lines.at(-1);
  // A bare ACK: the server took the line and had nothing to say, as without an echo.
  if (!failed) return { is: 'confirmed', msgid: null };
  return { is: 'refused', code: failed.command, error: textOf(failed) };
}
