import { headers, type Msg } from 'nats';
import type { Logger } from 'pino';
import { atMost, clock, type Timer } from '../../streams/core/clock.js';
import {
  errorTold,
  isEnding,
  isExpected,
  type Log,
  newId,
  Refusal,
  type Told,
  told,
  Unavailable,
} from '../../streams/core/index.js';
import type { RefusalCode } from '../../streams/refusals.js';

type Reply = { is: 'result'; result: unknown } | Told;

/**
 * Operations by name. Each takes plain JSON and answers plain JSON, or throws. The deadline is the caller's.
 */
export type Operations = Record<string, (input: never, deadline: Deadline) => Promise<unknown>>;

/** How long a stop waits for operations under way, in milliseconds. */
const stopBoundMs = 3_000;
const deadlineHeader = 'Relay-Deadline';

/** A process that is looked for and does not answer is looked for again after this time, in milliseconds. */
const againMs = 500;

/** Any process that answers is asked here for the subject under which it alone is asked. */
const subjectOf = (service: string) => `rpc.${service}`;

/** When the caller gives up, by the clock of the log, which all processes share. */
export class Deadline {
  readonly #log: Log;
  readonly #at: number;

  /** `at` in milliseconds since 1970; infinite by default. */
  constructor(log: Log, at = Number.POSITIVE_INFINITY) {
    this.#log = log;
    this.#at = at;
  }

  /** Throws once it is over: nobody would hear the result of what begins now. */
  require(): void {
    if (this.#log.now().getTime() > this.#at) throw new Unavailable('answer_overdue');
  }
}

/** Answers other processes' requests over the log server, until `stop`. Nothing of them is stored. */
export function answerRequests(options: {
  log: Log;
  service: string;
  operations: Operations;
  logger: Logger;
  /** Called when an operation has ended: `done`, or the code of its error. */
  observe?: ((operation: string, outcome: string) => void) | undefined;
}): { stop(): Promise<void> } {
  const { log, service, operations, logger, observe } = options;
  const underWay = new Set<Promise<void>>();
  const own = `${subjectOf(service)}.${newId()}`;
  const answer = async (message: Msg): Promise<void> => {
    const operation = message.subject.split('.').at(-1)!;
    let reply: Reply;
    try {
      const run = operations[operation] as
        | ((input: unknown, deadline: Deadline) => Promise<unknown>)
        | undefined;
      if (!run) throw new Refusal('not_found', `${service} has no operation ${operation}`);
      const deadline = deadlineOf(log, message);
      deadline.require();
      reply = { is: 'result', result: await run(message.json(), deadline) };
      observe?.(operation, 'done');
    } catch (error) {
      if (!isExpected(error)) logger.error({ service, operation, err: error }, 'operation failed');
      observe?.(operation, codeOf(error));
      reply = told(error);
    }
    // without a connection nobody waits for the answer any more
    if (log.connection.isClosed()) return;
    try {
      message.respond(JSON.stringify(reply));
    } catch (error) {
      // an answer that is not JSON, or too long for a message, must not end the process
      logger.error({ service, operation, err: error }, 'an answer cannot be given');
      if (!isEnding(log.connection)) message.respond(JSON.stringify(told(error)));
    }
  };
  const heard = (take: (message: Msg) => void) => (error: Error | null, message: Msg) => {
    if (error) return logger.error({ service, err: error }, 'requests cannot be heard');
    take(message);
  };
  const { connection } = log;
  const subscriptions = [
    connection.subscribe(`${own}.*`, {
      callback: heard((message) => {
        const work = answer(message).catch((cause) => {
          logger.error({ service, err: cause }, 'a request was not answered');
        });
        underWay.add(work);
        void work.finally(() => underWay.delete(work));
      }),
    }),
    // two holders at a time, as after a cut, must not both carry a request out
    connection.subscribe(subjectOf(service), {
      queue: service,
      callback: heard((message) => {
        if (!isEnding(connection)) message.respond(own);
      }),
    }),
  ];
  return {
    stop: async () => {
      for (const subscription of subscriptions) subscription.unsubscribe();
      await atMost(Promise.allSettled(underWay), stopBoundMs);
    },
  };
}

/**
 * The longest wait of a caller that names none, in milliseconds: nothing begins for a caller that may have
 * given up long ago.
 */
const longestWaitMs = 10_000;

function deadlineOf(log: Log, { headers }: Msg): Deadline {
  const at = Number(headers?.get(deadlineHeader) || Number.NaN);
  return new Deadline(log, Number.isFinite(at) ? at : log.now().getTime() + longestWaitMs);
}

/** A part of the service that one process at a time answers for, as its callers see it. */
export interface RequestedService {
  log: Log;
  name: string;
  /** How long an answer is waited for, in milliseconds. */
  timeoutMs: number;
  /** The refusal while no process answers. */
  absent?: RefusalCode;
}

/**
 * Asks whichever process answers for the service to carry out an operation. Throws the operation's own error,
 * or `Unavailable`: the service's own for its absence, or `answer_overdue`. After `answer_overdue`, the
 * operation may still be done, if it was begun in time.
 */
export async function request<Result>(
  { log, name, timeoutMs, absent = 'nobody_answers' }: RequestedService,
  operation: string,
  input: unknown,
): Promise<Result> {
  const deadline = log.now().getTime() + timeoutMs;
  const begun = clock.elapsed();
  const withDeadline = headers();
  withDeadline.set(deadlineHeader, String(deadline));
  const ask = (subject: string, body = '') =>
    log.ask(() => {
      // the log's clock may be set back meanwhile, and we would wait that much longer
      const timeout = Math.max(1, timeoutMs - (clock.elapsed() - begun));
      return log.connection.request(subject, body, { timeout, headers: withDeadline });
    });
  const asked = async (): Promise<Msg> => {
    const holder = (await first(() => ask(subjectOf(name)))).string();
    return await ask(`${holder}.${operation}`, JSON.stringify(input)).catch((error: unknown) => {
      // it has stopped, and nobody has heard the request
      if (isUnheard(error)) return asked();
      throw error;
    });
  };
  const message = await asked().catch((error: unknown) => {
    if (isUnheard(error)) throw new Unavailable(absent);
    throw codeOf(error) === 'TIMEOUT' ? new Unavailable('answer_overdue') : error;
  });
  const reply = message.json<Reply>();
  if (reply.is === 'result') return reply.result as Result;
  throw errorTold(reply);
}

/**
 * Asks again and again, until there is an answer. The log server hands a question to one connection of all that answer. For up
 * to a minute that can be one whose other end is gone. An operation is not asked for like this: it could be done twice.
 */
async function first<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  let again: Timer | undefined;
  const answered = new Promise<Answer>((resolve, reject) => {
    const begin = () => void ask().then(resolve, reject);
    begin();
    again = clock.setInterval(begin, againMs);
  });
  return await answered.finally(() => clock.clearInterval(again));
}

/** The commands of a service; each takes the request and who asks. */
export function commandsOf<Commands extends object>(
  service: RequestedService,
  names: readonly (keyof Commands & string)[],
): Commands {
  const command = (name: string) => (of: unknown, asker: unknown) =>
    request(service, name, { request: of, asker });
  return Object.fromEntries(names.map((name) => [name, command(name)])) as Commands;
}

/** The operations that carry out a service's commands, as `commandsOf` asks for them. */
export function commandOperations<Name extends string>(
  commands: Record<Name, (request: never, asker: never) => Promise<unknown>>,
  names: readonly Name[],
): Operations {
  const operation =
    (name: Name) =>
    ({ request, asker }: { request: never; asker: object }, deadline: Deadline) =>
      commands[name](request, { ...asker, deadline } as never);
  return Object.fromEntries(names.map((name) => [name, operation(name)]));
}

/** Whether the log server says that no connection takes such messages. */
const isUnheard = (error: unknown): boolean => codeOf(error) === '503';

/** How an error is told apart. */
export function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? 'error');
}
