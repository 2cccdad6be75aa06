import type { Lister } from 'nats';
import { z } from 'zod';
import { type Log, Refusal, type StreamDefinition } from '../../streams/core/index.js';
import { operations, workerSubject } from '../../streams/operations/facts.js';
import { floorOf, namesOf } from './durable-consumer.js';
import { type HaltedAt, haltedKey } from './halted-facts.js';

/** The state of a worker on its stream, whichever process it runs in. */
export interface ConsumerStatus {
  /** Name of its durable consumer. */
  worker: string;
  stream: string;
  /** Sequence up to which all is dealt with. */
  position: number;
  /** Messages that were not handed out yet. */
  pending: number;
  /** Messages that were delivered and are not acknowledged. */
  unacknowledged: number;
  /** Subjects that it reads; all if it is absent. */
  filter: string | undefined;
  /** The facts that it cannot take. */
  halted: HaltedAt[];
}

const Halted = z.array(z.object({ seq: z.int(), reason: z.string() }));

/** The state of every worker that ever started, by the consumers that hold their positions. */
export async function consumerStatuses(
  log: Log,
  streams: readonly StreamDefinition[],
): Promise<ConsumerStatus[]> {
  const ofStreams = streams.map(async ({ name: stream }) => {
    const found = await log.ask(() => allOf(log.manager.consumers.list(stream)));
    const statuses = found
      // a reader that only follows a stream leaves no consumer
      .filter(({ name, config }) => config.durable_name !== undefined && workerOf(name) !== name)
      .map((info): ConsumerStatus => {
        const { name, config, num_pending: pending, num_ack_pending: unacknowledged } = info;
        const halted = Halted.safeParse(JSON.parse(config.metadata?.[haltedKey] ?? '[]')).data ?? [];
        const [worker, position, filter] = [workerOf(name), floorOf(info), config.filter_subject];
        return { worker, stream, position, pending, unacknowledged, filter, halted };
      })
      .sort((a, b) => b.position - a.position);
    // while one is replaced by the other there are two, and the new one does not lag the old one
    return statuses.filter(
      ({ worker }, place) => statuses.findIndex((one) => one.worker === worker) === place,
    );
  });
  return (await Promise.all(ofStreams)).flat();
}

/** All that is listed: a page has 256, and each reader of a stream leaves a consumer for a while. */
async function allOf<T>(list: Lister<T>): Promise<T[]> {
  const found: T[] = [];
  for (let page = await list.next(); page.length > 0; page = await list.next()) found.push(...page);
  return found;
}

/** Why workers have halted, by their names; empty while all of them can process what they read. */
export async function haltedWorkers(
  log: Log,
  streams: readonly StreamDefinition[],
): Promise<Record<string, string>> {
  const statuses = (await consumerStatuses(log, streams)).filter(({ halted }) => halted.length > 0);
  return Object.fromEntries(statuses.map((status) => [status.worker, haltOf(status)]));
}

/** At what a halted worker has halted. */
export function haltOf({ stream, halted }: Pick<ConsumerStatus, 'stream' | 'halted'>): string {
  const [{ seq, reason } = { seq: 0, reason: '' }] = halted;
  const others = halted.length > 1 ? ` (and at ${halted.length - 1} more)` : '';
  return `has halted at ${stream} ${seq}: ${reason}${others}`;
}

/**
 * Records the command to skip a fact that a worker cannot process. Throws `Refusal` if there is no such
 * worker, or if it did not halt at that fact.
 */
export async function skipWork(
  log: Log,
  streams: readonly StreamDefinition[],
  worker: string,
  { seq, reason, by }: { seq: number; reason: string; by: string },
): Promise<{ stream: string; seq: number }> {
  const status = (await consumerStatuses(log, streams)).find((one) => one.worker === worker);
  if (!status) throw new Refusal('worker_not_found', `There is no worker ${worker}`);
  const { stream, halted } = status;
  if (!halted.some((one) => one.seq === seq))
    throw new Refusal('not_halted', `${worker} has not halted at ${stream} ${seq}`);
  const data = { worker, stream, seq, reason };
  await log.append(operations, workerSubject(worker), { type: 'work.skipped', data }, { by });
  return { stream, seq };
}

function workerOf(name: string): string {
  return namesOf('').reduce(
    (rest, suffix) => (rest.endsWith(suffix) ? rest.slice(0, -suffix.length) : rest),
    name,
  );
}
