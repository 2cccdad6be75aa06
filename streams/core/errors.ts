/**
 * The two ways a request can fail without anybody having made a mistake in our code. They are told apart
 * from each other and from bugs by `kind` and `code`, never by `instanceof`: several copies of a module may
 * be loaded, and errors cross worker threads.
 */

/** The domain says no: the command was understood and is not allowed. `status` is the HTTP status it maps to. */
export class Refusal extends Error {
  readonly kind = 'refusal';
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
    /** `retryAfter`, in seconds, says when the answer may be another. */
    readonly extra: {
      details?: { path: string; message: string }[];
      hint?: string;
      retryAfter?: number;
    } = {},
  ) {
    super(message);
    this.name = 'Refusal';
  }
}

/** Somebody we depend on is down or too slow. `retryAfter` is in seconds. Nothing is half done. */
export class Unavailable extends Error {
  readonly kind = 'unavailable';
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
    readonly retryAfter = 1,
  ) {
    super(message);
    this.name = 'Unavailable';
  }
}

/** Whether an error is one of the two expected kinds. */
export function isExpected(error: unknown): error is Refusal | Unavailable {
  const kind = (error as { kind?: unknown } | null)?.kind;
  return kind === 'refusal' || kind === 'unavailable';
}
