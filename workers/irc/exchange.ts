import type { IrcLine } from './line.js';
import { isError, textOf } from './line.js';

/**
 * The outcome of one line. `unconfirmed`: no answer in time although the server is alive. `lost`: the
 * connection went down first. If the line was `written`, it is in doubt; otherwise it was never shown. A
 * `refused` code is the server's numeric, or `NOTICE` if the server only explained itself in words.
 */
export type SayOutcome =
  | { is: 'confirmed'; msgid: string | null }
  | { is: 'refused'; code: string; error: string }
  | { is: 'unconfirmed' }
  | { is: 'lost'; written: boolean };

/**
 * What a server answered to one command: all its lines (empty for a bare ACK) and the first error among them.
 */
export interface Answered {
  is: 'answered';
  lines: IrcLine[];
  error: { code: string; text: string } | null;
}

/** What became of one command. */
export type CommandOutcome = Answered | { is: 'unconfirmed' } | { is: 'lost'; written: boolean };

/** The client tags of a line: its own `+svc/event`, and `+draft/reply` with the msgid of the line that it answers. */
export interface LineTags {
  event?: string | undefined;
  reply?: string | undefined;
  /** Gets the line as the network shows it, in the order of all lines; servers without labels do not show it. */
  heard?: ((line: IrcLine) => void) | undefined;
}

/** How lines and their answers are matched on one connection. */
export interface Exchange {
  readonly kind: 'labels' | 'fence';
  readonly tally: Tally;
  /** One PRIVMSG whose parts are already safe; the values of its tags are escaped. */
  say(channel: string, text: string, tags: LineTags): Promise<SayOutcome>;
  /** One safe command line. */
  command(line: string): Promise<CommandOutcome>;
  /** Offers a received line; true if it was an answer and nobody else needs it. */
  take(line: string): boolean;
  /** Milliseconds without any answer while one is expected; 0 while none is. */
  waiting(now: number): number;
  /**
   * Whether a line has waited longer than allowed. `alive` and `silent` are the server's state; `undefined`
   * if all is well.
   */
  overdue(now: number): 'alive' | 'silent' | undefined;
  /**
   * The connection is over: everything still open is lost, or unconfirmed if it was overdue on a live server.
   */
  close(): void;
}

/** What an exchange needs of its connection. */
export interface ExchangeOptions {
  wire: { writeLine(line: string): void };
  /** Told every parsed line of an answer. */
  seen(line: IrcLine): void;
  confirmTimeoutMs: number;
  bytesInFlight: number;
}

/** How many lines came to which end. */
export type Tally = Record<SayOutcome['is'], number>;

/** A tally of nothing yet. */
export const emptyTally = (): Tally => ({ confirmed: 0, refused: 0, unconfirmed: 0, lost: 0 });

/** The callback for the end of an entry: a line that was said, or a command. One of the two is set. */
export interface Waiter {
  said: ((outcome: SayOutcome) => void) | undefined;
  answered: ((answer: CommandOutcome) => void) | undefined;
}

/** Gives a waiter the outcome that belongs to its kind, and counts the end of a line. */
export function give(waiter: Waiter, outcome: SayOutcome | CommandOutcome, tally: Tally): void {
  if (waiter.said) {
    const said = outcome as SayOutcome;
    tally[said.is] += 1;
    waiter.said(said);
  } else waiter.answered?.(outcome as CommandOutcome);
}

/** An answer made of its lines. */
export function commandOutcome(lines: IrcLine[]): CommandOutcome {
  const failed = lines.find((line) => isError(line.command));
  return { is: 'answered', lines, error: failed ? { code: failed.command, text: textOf(failed) } : null };
}
