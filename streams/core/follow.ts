import { AckPolicy, DeliverPolicy, type JetStreamManager, nanos } from 'nats';
import type { Logger } from 'pino';
import { clock, pause, type Timer } from './clock.js';
import type { Pull, PulledMessage, PullOptions } from './pull.js';
import type { StreamDefinition } from './stream.js';

/** A message on the log that is not decoded yet. */
export type Entry = Pick<PulledMessage, 'subject' | 'data' | 'seq' | 'at' | 'pending'>;

/** Where to begin to read, what, and until when. */
export interface FollowOptions {
  after: number;
  /** Begin at this time instead, if `after` is 0. */
  since?: Date | undefined;
  /** Begin with the last entry of each subject instead, if `after` is 0: what comes later is given out whole. */
  latest?: boolean;
  filter?: string[];
  /** Entries in one batch at most. */
  batch: number;
  /** Entries that may wait to be given out, at least 1; two batches where it is not said. Asked again and again. */
  capacity?: () => number;
  signal: AbortSignal;
}

/** What following needs of the log: ways to ask the server and to read a consumer, over lost connections. */
export interface Source {
  readonly manager: JetStreamManager;
  readonly connected: boolean;
  ask<T>(question: () => Promise<T>): Promise<T>;
  pull(options: PullOptions): Pull;
}

/** After this silence the server is asked whether more will come: what was announced may have been removed. */
const silenceMs = 1_000;
const pauseMs = 500;

/** See `Log.follow`. */
export async function* follow(
  log: Source,
  stream: StreamDefinition,
  options: FollowOptions,
  logger: Logger,
): AsyncGenerator<Entry[]> {
  let { after, since } = options;
  const { signal, batch, capacity = () => batch * 2 } = options;
  const { consumers } = log.manager;
  while (!signal.aborted) {
    const queue: Entry[] = [];
    let wake = () => {};
    let broken: string | undefined;
    let pull: Pull | undefined;
    const onAbort = () => wake();
    signal.addEventListener('abort', onAbort);
    try {
      const consumer = await log.ask(() =>
        consumers.add(stream.name, {
          ack_policy: AckPolicy.None,
          ...startOf(after, since, options.latest),
          ...filterOf(options.filter ?? (options.latest ? stream.subjects : [])),
          inactive_threshold: nanos(30_000),
          mem_storage: true,
          num_replicas: 1,
        }),
      );
      let seenAll = consumer.num_pending === 0;
      if (seenAll) yield [];
      pull = log.pull({
        stream: stream.name,
        consumer: consumer.name,
        capacity: () => capacity() - queue.length,
        message: (message) => {
          queue.push(message);
          wake();
        },
        broken: (reason) => {
          broken = reason;
          wake();
        },
      });
      while (!signal.aborted) {
        if (queue.length > 0) {
          const entries = queue.splice(0, batch);
          const last = entries[entries.length - 1]!;
          pull.refill();
          yield entries;
          after = last.seq;
          since = undefined;
          seenAll = last.pending === 0 && queue.length === 0;
          if (seenAll) yield [];
          continue;
        }
        if (broken) break;
        let timer: Timer | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (!seenAll) timer = clock.setTimeout(resolve, silenceMs);
        });
        wake = () => {};
        clock.clearTimeout(timer);
        if (seenAll || queue.length > 0 || broken || signal.aborted) continue;
        const { num_pending } = await log.ask(() => consumers.info(stream.name, consumer.name));
        seenAll = num_pending === 0 && queue.length === 0;
        if (seenAll) yield [];
      }
      if (broken) logger.debug({ stream: stream.name, after, reason: broken }, 'reading again');
    } catch (error) {
      if (signal.aborted) return;
      if (log.connected) logger.warn({ stream: stream.name, after, err: error }, 'stream cannot be read now');
      await pause(pauseMs, signal);
    } finally {
      signal.removeEventListener('abort', onAbort);
      pull?.stop();
    }
  }
}

function startOf(after: number, since?: Date, latest?: boolean) {
  if (after === 0 && since)
    return { deliver_policy: DeliverPolicy.StartTime, opt_start_time: since.toISOString() };
  if (after === 0 && latest) return { deliver_policy: DeliverPolicy.LastPerSubject };
  return { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: after + 1 };
}

/** A server looks through a stream for a list of subjects, also of one, hundreds of times as long as for one subject. */
function filterOf(subjects: string[] = []): { filter_subject?: string; filter_subjects?: string[] } {
  const [first, ...others] = subjects;
  if (first === undefined) return {};
  return others.length === 0 ? { filter_subject: first } : { filter_subjects: subjects };
}
