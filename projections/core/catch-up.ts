import type { Told } from '../../streams/core/index.js';
import type { SharedStore } from './sql.js';

/** A stream to fold into a build, by names: both threads have the same read models. */
export interface CatchUp {
  projection: string;
  generation: number;
  stream: string;
}

/**
 * How a catch-up ended. `near`: within one batch of the stream's end. `halted`: at a fact that cannot be folded.
 * `given up`: it did not begin, because the thread has died too often.
 */
export type CaughtUp = 'near' | 'halted' | 'stopped' | 'given up';

/** Folds streams that lag far, outside of the thread that asks. */
export interface Elsewhere {
  /** So many facts are far: for a build that is not read yet, where nobody waits for the next fact, and for one that is. */
  readonly far: { building: number; read: number };
  /** Folds a stream into a build. Throws as the store and the log do, and when the thread ends. */
  catchUp(what: CatchUp, options: { signal: AbortSignal; moved(position: number): void }): Promise<CaughtUp>;
}

/** What the thread is given at its start. */
export interface CatchUpStart {
  /** Comma-separated URLs of the log servers. */
  logUrls: string;
  store: SharedStore;
  /** Its first number is not 0 while the process answers requests. */
  busy: Int32Array;
  logLevel: string;
  /** Facts per transaction at most. */
  batch: number;
}

/** What the thread is told: to catch up, to leave one alone, or to end. */
export type CatchUpCommand = ({ id: number } & CatchUp) | { cancel: number } | 'end';

/** An error on its way between threads: expected ones as such, others with what can be told of them. */
export type ToldError = { expected: Told } | { message: string; code?: unknown; stack?: string | undefined };

/** What the thread tells: how far one is, how it ended, or a line of its log. */
export type CatchUpNews =
  | { id: number; moved: number }
  | { id: number; is: CaughtUp }
  | { id: number; failed: ToldError }
  | { line: string };
