import { clock } from '../../streams/core/clock.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  type CommandOutcome,
  commandOutcome,
  type Exchange,
  type ExchangeOptions,
  emptyTally,
  give,
  type SayOutcome,
  type Waiter,
} from './exchange.js';
import { commandOf, type IrcLine, isError, parseLine, textOf } from './line.js';

interface Pending extends Waiter {
  line: string;
  /** The casefolded channel name of a line that is said; `undefined` for a command. */
  channel: string | undefined;
  refused: SayOutcome | undefined;
  lines: IrcLine[];
}

// ngIRCd, the kind of server that needs this path, answers a second later when it finds more than three
// commands.
const linesPerRound = 2;

/**
 * Matches lines and answers without labels. A round is at most two lines, each for another channel, or one
 * command. Then comes a PING. What comes back before its PONG belongs to the round, and errors belong to the
 * channel that they name.
 */
export class PingFenceExchange implements Exchange {
  readonly kind = 'fence';
  readonly tally = emptyTally();
  readonly #options: ExchangeOptions;
  #queue: Pending[] = [];
  #round: Pending[] = [];
  #number = 0;
  #token = '';
  #writtenAt = 0;
  #heardAt = 0;
  #alive = false;
  #closed = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  say(channel: string, text: string): Promise<SayOutcome> {
    return new Promise((said) =>
      this.#enqueue({ ...pending(`PRIVMSG ${channel} :${text}`), channel: casefold(channel), said }),
    );
  }

  command(line: string): Promise<CommandOutcome> {
    return new Promise((answered) => this.#enqueue({ ...pending(line), answered }));
  }

  take(line: string): boolean {
    this.#heardAt = clock.elapsed();
    if (this.#round.length === 0) return false;
    const command = commandOf(line);
    if (command === 'PONG' && line.endsWith(this.#token)) {
      this.#finish();
      return true;
    }
    if (this.#round[0]!.answered) {
      const parsed = parseLine(line);
      const fromUser = parsed.ident !== '' && (command === 'PRIVMSG' || command === 'NOTICE');
      if (!fromUser && command !== 'PING') this.#round[0]!.lines.push(parsed);
      return false;
    }
    if (isError(command)) this.#refuse(parseLine(line));
    return false;
  }

  waiting(now: number): number {
    return this.#round.length === 0 ? 0 : now - this.#writtenAt;
  }

  overdue(now: number): 'alive' | 'silent' | undefined {
    const { confirmTimeoutMs } = this.#options;
    if (this.waiting(now) < confirmTimeoutMs) return undefined;
    this.#alive = now - this.#heardAt < confirmTimeoutMs / 2;
    return this.#alive ? 'alive' : 'silent';
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const entry of this.#round) {
      const open: SayOutcome = this.#alive ? { is: 'unconfirmed' } : { is: 'lost', written: true };
      give(entry, entry.refused ?? open, this.tally);
    }
    for (const entry of this.#queue) give(entry, { is: 'lost', written: false }, this.tally);
    this.#round = [];
    this.#queue = [];
  }

  #enqueue(entry: Pending): void {
    if (this.#closed) give(entry, { is: 'lost', written: false }, this.tally);
    else this.#queue.push(entry);
    if (this.#round.length === 0) this.#begin();
  }

  #begin(): void {
    const first = this.#queue.shift();
    if (!first) return;
    this.#round = [first];
    let bytes = Buffer.byteLength(first.line);
    while (first.said && this.#round.length < linesPerRound) {
      const next = this.#queue[0];
      // Two lines for one channel would share its error, and a line must not overtake another.
      if (!next?.said || this.#round.some((entry) => entry.channel === next.channel)) break;
      bytes += Buffer.byteLength(next.line);
      if (bytes > this.#options.bytesInFlight) break;
      this.#round.push(this.#queue.shift()!);
    }
    this.#token = `fence${++this.#number}`;
    this.#writtenAt = clock.elapsed();
    for (const entry of this.#round) this.#options.wire.writeLine(entry.line);
    this.#options.wire.writeLine(`PING :${this.#token}`);
  }

  #refuse(line: IrcLine): void {
    const channel = casefold(line.params[1] ?? '');
    const entry = this.#round.find((candidate) => candidate.channel === channel);
    if (entry) entry.refused ??= { is: 'refused', code: line.command, error: textOf(line) };
  }

  #finish(): void {
    const round = this.#round;
    this.#round = [];
    for (const entry of round) {
      if (entry.said) give(entry, entry.refused ?? { is: 'confirmed', msgid: null }, this.tally);
      else give(entry, commandOutcome(entry.lines), this.tally);
    }
    if (this.#round.length === 0) this.#begin();
  }
}

const pending = (line: string): Pending => ({
  line,
  channel: undefined,
  refused: undefined,
  lines: [],
  said: undefined,
  answered: undefined,
});
