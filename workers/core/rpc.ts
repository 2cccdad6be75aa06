import type { Msg, NatsError } from 'nats';
import type { Logger } from 'pino';
import { isExpected, type Log, Refusal, Unavailable } from '../../streams/core/index.js';

/** What an operation answers, or the expected error that it ends with. */
type Envelope =
  | { is: 'result'; result: unknown }
  | { is: 'refusal'; code: string; status: number; message: string; extra: Refusal['extra'] }
  | { is: 'unavailable'; code: string; status: number; message: string; retryAfter: number };

/** Operations by name; each takes plain JSON and answers plain JSON, or throws. */
export type Operations = Record<string, (input: never) => Promise<unknown>>;

/** How long a stop waits for operations under way, in milliseconds. */
const stopBoundMs = 3_000;

const subjectOf = (service: string, operation: string) => `rpc.${service}.${operation}`;

/** Answers other processes' requests over the log server, until `stop`; nothing of them is stored. */
export function answerRequests(options: {
  log: Log;
  service: string;
  operations: Operations;
  logger: Logger;
}): { stop(): Promise<void> } {
  const { log, service, operations, logger } = options;
  const underWay = new Set<Promise<void>>();
  const answer = async (message: Msg): Promise<void> => {
    const operation = message.subject.split('.').at(-1)!;
    let envelope: Envelope;
    try {
      const run = operations[operation] as ((input: unknown) => Promise<unknown>) | undefined;
      if (!run) throw new Refusal('not_found', `${service} has no operation ${operation}`);
      envelope = { is: 'result', result: await run(message.json()) };
    } catch (error) {
      if (!isExpected(error)) logger.error({ service, operation, err: error }, 'operation failed');
      envelope = envelopeOf(error);
    }
    // without a connection nobody waits for the answer any more
    if (!log.connection.isClosed()) message.respond(JSON.stringify(envelope));
  };
  // two holders at a time, as after a cut, must not both carry a request out
  const subscription = log.connection.subscribe(subjectOf(service, '*'), {
    queue: service,
    callback: (_error, message) => {
      const work = answer(message);
      underWay.add(work);
      void work.finally(() => underWay.delete(work));
    },
  });
  return {
    stop: async () => {
      subscription.unsubscribe();
      const bound = new Promise((resolve) => setTimeout(resolve, stopBoundMs).unref());
      await Promise.race([Promise.allSettled(underWay), bound]);
    },
  };
}

/**
 * Has an operation carried out by whichever process answers for the service. Throws the operation's own error,
 * or an `Unavailable` with the code `nobody_answers` or `answer_overdue`; after the latter it may be done all the same.
 */
export async function request<Result>(
  log: Log,
  service: string,
  operation: string,
  input: unknown,
  timeoutMs: number,
): Promise<Result> {
  let message: Msg;
  try {
    message = await log.ask(() =>
      log.connection.request(subjectOf(service, operation), JSON.stringify(input), { timeout: timeoutMs }),
    );
  } catch (error) {
    throw noAnswer(service, error);
  }
  const envelope = message.json<Envelope>();
  if (envelope.is === 'result') return envelope.result as Result;
  const { code, status, message: text } = envelope;
  throw envelope.is === 'refusal'
    ? new Refusal({ code, status }, text, envelope.extra)
    : new Unavailable({ code, status }, text, envelope.retryAfter);
}

function noAnswer(service: string, error: unknown): unknown {
  switch ((error as NatsError).code) {
    case '503':
      return new Unavailable('nobody_answers', `No process answers for ${service} now`);
    case 'TIMEOUT':
      return new Unavailable('answer_overdue', `${service} did not answer in time`);
    default:
      return error;
  }
}

function envelopeOf(error: unknown): Envelope {
  if (!isExpected(error)) {
    return { is: 'refusal', code: 'internal_error', status: 500, message: 'Something went wrong', extra: {} };
  }
  const { code, status, message } = error;
  return error.kind === 'refusal'
    ? { is: 'refusal', code, status, message, extra: error.extra }
    : { is: 'unavailable', code, status, message, retryAfter: error.retryAfter };
}
