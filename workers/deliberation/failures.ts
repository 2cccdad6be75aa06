import { causesOf } from '../../streams/core/index.js';

/**
 * Why a model gave no answer. `retry` says whether it may go better another time; `cost` is what it may have cost, in
 * billionths of a dollar, `undefined` for as much as it could.
 */
export class CallFailure extends Error {
  override name = 'CallFailure';
  constructor(
    readonly code: FailureCode,
    message: string,
    readonly retry: boolean,
    readonly cost?: number,
    /** When it may be tried again at the earliest, as the provider said, in milliseconds. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** Stable codes of what goes wrong with a call. */
export type FailureCode =
  /** The connection broke in the middle: the provider may have answered. */
  | 'answer_lost'
  | 'cancelled'
  | 'empty_answer'
  | 'model_failed'
  | 'model_invalid_answer'
  | 'model_rate_limited'
  | 'model_refused'
  | 'model_timeout'
  | 'model_unauthorized'
  | 'model_unavailable'
  | 'model_unknown'
  | 'model_unreachable';

/** Errors of connections over which nothing can have been asked. */
const neverConnected = new Set([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
]);

const mostMessage = 300;

/** What an error of a call means, and what the call may have cost. */
export function failureOf(
  error: unknown,
  { worst, isLate, isCut }: { worst: number; isLate: boolean; isCut: boolean },
): CallFailure {
  const failure = isCut
    ? new CallFailure('cancelled', 'the call was ended from here', false)
    : isLate
      ? new CallFailure('model_timeout', 'the model did not answer in time', false)
      : error instanceof CallFailure
        ? error
        : ofProvider(error);
  const { code, message, retry, cost = worst, retryAfterMs } = failure;
  return new CallFailure(code, message.slice(0, mostMessage), retry, cost, retryAfterMs);
}

interface ProviderError extends Error {
  status?: number;
  headers?: Headers;
}

/** By its HTTP status, where there was an answer: who refuses does not charge. */
function ofProvider(thrown: unknown): CallFailure {
  const error = thrown as ProviderError;
  const { status, message } = error;
  if (status === undefined) return withoutStatus(error);
  const refused = (code: FailureCode, retry: boolean) =>
    new CallFailure(code, message, retry, 0, retry ? retryAfterOf(error.headers) : undefined);
  switch (status) {
    case 401:
    case 403:
      return refused('model_unauthorized', false);
    case 408:
    case 504:
      // somebody between us and the model lost patience, not the model
      return new CallFailure('model_timeout', message, false);
    case 409:
    case 429:
      return refused('model_rate_limited', true);
    default:
      return status >= 500 ? refused('model_unavailable', true) : refused('model_refused', false);
  }
}

function withoutStatus(error: ProviderError): CallFailure {
  const codes = causesOf(error).flatMap(({ code }: NodeJS.ErrnoException) =>
    typeof code === 'string' ? code : [],
  );
  if (codes.some((code) => neverConnected.has(code)))
    return new CallFailure('model_unreachable', codes.join(', '), true, 0);
  // what the provider sends in the middle of a stream
  if ('error' in error && error.error !== undefined)
    return new CallFailure('model_failed', error.message, false);
  if (error instanceof SyntaxError) return new CallFailure('model_invalid_answer', error.message, false);
  return new CallFailure('answer_lost', [error.message, ...codes].join(', '), true);
}

function retryAfterOf(headers: Headers | undefined): number | undefined {
  const seconds = Number(headers?.get('retry-after') ?? Number.NaN);
  return seconds >= 0 ? seconds * 1_000 : undefined;
}
