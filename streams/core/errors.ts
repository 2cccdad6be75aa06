import { type RefusalCode, refusals } from '../refusals.js';

/**
 * The two ways a request can fail without a mistake in our code. They are told apart from each other and from
 * bugs by `kind` and `code`, never by `instanceof`: several copies of a module may be loaded, and errors
 * cross worker threads. Both are made from their name in the catalogue of refusals.
 */

/** What another process answered. This version may not know its code. */
export interface Received {
  code: string;
  status: number;
}

/** What is told besides the code and the text. */
interface Extra {
  details?: { path: string; message: string }[];
  hint?: string;
  /** Seconds after which the answer may be another. */
  retryAfter?: number;
}

/**
 * The domain says no: the command was understood and is not allowed. `status` is the HTTP status it maps to.
 */
export class Refusal extends Error {
  readonly kind = 'refusal';
  readonly code: string;
  readonly status: number;
  readonly extra: Extra;

  constructor(of: RefusalCode | Received, message?: string, extra: Extra = {}) {
    const { code, status, says, hint, retryAfter } = described(of);
    super(message ?? says);
    this.name = 'Refusal';
    this.code = code;
    this.status = status;
    this.extra = {
      ...(hint === undefined ? {} : { hint }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...extra,
    };
  }
}

/** Something we depend on is down or too slow. `retryAfter` is in seconds. Nothing is half done. */
export class Unavailable extends Error {
  readonly kind = 'unavailable';
  readonly code: string;
  readonly status: number;
  readonly retryAfter: number;

  constructor(of: RefusalCode | Received, message?: string, retryAfter?: number) {
    const known = described(of);
    super(message ?? known.says);
    this.name = 'Unavailable';
    this.code = known.code;
    this.status = known.status;
    this.retryAfter = retryAfter ?? known.retryAfter ?? 1;
  }

  get extra(): Extra {
    return { retryAfter: this.retryAfter };
  }
}

/** An expected error in the form in which one process sends it to another. */
export interface Told extends Received {
  is: (Refusal | Unavailable)['kind'];
  message: string;
  extra?: Extra;
}

/**
 * Gives an error the form in which one process sends it to another. Any error that is not expected (a bug) becomes
 * `internal_error`, without its message or its stack.
 */
export function told(error: unknown): Told {
  const {
    kind: is,
    code,
    status,
    message,
    extra,
  } = isExpected(error) ? error : new Refusal('internal_error');
  return { is, code, status, message, extra };
}

/**
 * Makes the error again that another process sent in this form: a `Refusal` or an `Unavailable` with the same code and
 * status.
 */
export function errorTold({ is, message, extra, ...of }: Told): Refusal | Unavailable {
  return is === 'refusal' ? new Refusal(of, message, extra) : new Unavailable(of, message, extra?.retryAfter);
}

function described(
  of: RefusalCode | Received,
): Received & { says: string; hint?: string; retryAfter?: number } {
  if (typeof of === 'string') return { code: of, ...refusals[of] };
  return { code: of.code, status: of.status, says: of.code };
}

/** An error and those it comes from, outermost first. */
export function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let one = error; one instanceof Object && causes.length < mostCauses; one = (one as Error).cause)
    causes.push(one as Error);
  return causes;
}

const mostCauses = 10;

/** Whether an error is one of the two expected kinds. */
export function isExpected(error: unknown): error is Refusal | Unavailable {
  const kind = (error as { kind?: unknown } | null)?.kind;
  return kind === 'refusal' || kind === 'unavailable';
}
