import type { Logger } from 'pino';
import type { Entry } from '../../../streams/core/follow.js';
import { boundedCache, decodeFact, type Log } from '../../../streams/core/index.js';
import { type MarketEvent, market, normalisePayload, subjectsOf } from '../../../streams/events/index.js';
import { lookedBackSubject, producers } from '../../../streams/producers/index.js';

/** Tasks that are remembered at most while looking; others are claimed again, which changes nothing. */
const mostRemembered = 100_000;
const batch = 1_000;

/** What looking back works with. */
export interface LookBack {
  log: Log;
  logger: Logger;
  /** Makes the producer of an event the owner of a task that nobody owns. */
  own(task: string, source: string): Promise<unknown>;
  /** Whether events of a source are tests, which own nothing. */
  sendsTests(source: string): boolean;
  signal: AbortSignal;
}

/**
 * Finds in the events that are kept who owns the tasks of before there were names. Without it whoever speaks of such a
 * task next would own it. That is done once for a log, and again where it did not come to its end.
 */
export async function lookBack(options: LookBack): Promise<void> {
  const { log, logger, signal } = options;
  if (await log.last(producers, lookedBackSubject)) return;
  const head = await log.head(market);
  const seen = boundedCache<string, true>(mostRemembered);
  if (head > 0) logger.info({ head }, 'looking for the owners of the tasks so far');
  let tasks = 0;
  let after = 0;
  const entries = head > 0 ? log.follow(market, { after, batch, signal }) : [];
  for await (const some of entries) {
    const found: [task: string, source: string][] = [];
    for (const entry of some) {
      after = entry.seq;
      for (const one of claimsIn(entry, options)) {
        if (seen.has(one[0])) continue;
        seen.set(one[0], true);
        found.push(one);
      }
    }
    await Promise.all(found.map(([task, source]) => options.own(task, source)));
    tasks += found.length;
    if (some.length === 0 || after >= head) break;
  }
  signal.throwIfAborted();
  await log.appendOnce(
    producers,
    lookedBackSubject,
    { type: 'tasks.looked_back', data: { seq: head } },
    { by: 'api' },
  );
  if (head > 0) logger.info({ tasks }, 'owners of the tasks so far are known');
}

function claimsIn(entry: Entry, { logger, sendsTests }: LookBack): [task: string, source: string][] {
  try {
    const { data } = decodeFact(market, entry.data, entry);
    if (data.test || sendsTests(data.source)) return [];
    return tasksOf(data).map((task) => [task, data.source]);
  } catch (error) {
    logger.error({ seq: entry.seq, err: error }, 'event cannot be read: passed over');
    return [];
  }
}

/** The tasks and relays that an event speaks of, by the names that their owners are kept under. */
export function tasksOf({ payload }: Pick<MarketEvent, 'payload'>): string[] {
  return subjectsOf(normalisePayload(payload));
}
