import type { Installation } from './installation.js';

/** The state of a thing. `skipped`: it could not be checked, or does not concern this installation. */
export type Status = 'ok' | 'warn' | 'fail' | 'skipped';

/** What was found out about one thing. */
export interface Result {
  status: Status;
  /** Which of several things the check looks at. */
  part?: string;
  /** What is so, in one sentence. */
  what: string;
  /** What to do about it. */
  mend?: string;
}

/** An answer with its place: the check's id, then a dot and the part. */
export interface Finding extends Omit<Result, 'part'> {
  id: string;
}

/** One thing to check. It changes nothing. An error that it throws becomes a failure of this check alone. */
export interface Check {
  id: string;
  look(installation: Installation): Result | Result[] | Promise<Result | Result[]>;
}

/** All is as it should be. */
export const ok = (what: string): Result => ({ status: 'ok', what });
/** It works, but somebody should know about it. */
export const warn = (what: string, mend: string): Result => ({ status: 'warn', what, mend });
/** It does not work. */
export const fail = (what: string, mend: string): Result => ({ status: 'fail', what, mend });
/** The text of an error of ours. What to do comes after its last colon. */
export function failedBy(error: unknown): Result {
  const { message } = error as Error;
  const colon = message.lastIndexOf(': ');
  return fail(message.slice(0, colon), message.slice(colon + 2));
}
/** A result for one of several things that a check looks at. */
export const of = (part: string, result: Result): Result => ({ part, ...result });
/** It was not looked at. */
export const skipped = (what: string): Result => ({ status: 'skipped', what });
