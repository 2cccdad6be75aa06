import pino from 'pino';
import { Log } from '../../streams/core/index.js';
import {
  confirmationsSubject,
  type DeliveryFact,
  delivery,
  deliverySubject,
} from '../../streams/delivery/index.js';
import { market, marketSubject } from '../../streams/events/index.js';
import { streams } from '../../streams/index.js';
import type { Bench } from './bench.js';
import { taskFact } from './events.js';

/** For parts of the service that run inside a benchmark. */
export const quiet = pino({ level: 'silent' });

/** Appends at a time when a log is filled: more would only queue up, on a slow disk for too long. */
export const seedsAtATime = 256;

/** The service's log on a server of the benchmark. */
export async function openLog(t: Bench, nats: { url: string }): Promise<Log> {
  const log = await Log.open({
    urls: nats.url,
    name: 'bench',
    streams,
    replicas: 1,
    maxBytes: 10e9,
    logger: quiet,
  });
  t.teardown(() => log.close());
  return log;
}

/** Calls `append` for 0 to `count` - 1, so many in parallel. */
export async function inParallel(
  count: number,
  atATime: number,
  append: (n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const one = async () => {
    for (let n = next++; n < count; n = next++) await append(n);
  };
  await Promise.all(Array.from({ length: Math.min(atATime, count) }, one));
}

/**
 * Puts the life of a queue on an empty log. Of each hundred facts 95 are events, and one confirms the lines
 * of 90 of them. Three make an event a dead letter, and in one an event expires. One event stays pending. Use
 * a log server that does not sync each write, or it takes long.
 */
export async function seedQueue(t: Bench, log: Log, count: number): Promise<void> {
  const by = { by: 'bench' };
  const step = Math.max(1, Math.floor(count / 4));
  const about = (seq: number) => ({ seq, event_id: `seed-${seq}` });
  await inParallel(count, seedsAtATime, async (n) => {
    if (n > 0 && n % step === 0) t.progress(`${n} of ${count} facts are on the log`);
    const round = Math.floor(n / 100) * 95;
    const place = n % 100;
    if (place < 95) {
      const id = `seed-${round + place + 1}`;
      await log.append(market, marketSubject(id), taskFact(id), by);
      return;
    }
    const fact = outcomeFact(place, (offset) => about(round + offset));
    const subject = 'lines' in fact.data ? confirmationsSubject : deliverySubject(fact.data.event_id);
    await log.append(delivery, subject, fact, by);
  });
}

function outcomeFact(
  place: number,
  about: (offset: number) => { seq: number; event_id: string },
): DeliveryFact {
  const nothing = { delivered: [], undelivered: ['#bounties'] };
  if (place === 95) {
    const lines = Array.from({ length: 90 }, (_, n) => ({
      ...about(n + 1),
      channel: '#bounties',
      via: 'echo' as const,
      completes: true,
    }));
    return { type: 'lines.confirmed', data: { lines } };
  }
  if (place === 96) return { type: 'event.expired', data: { ...about(91), ...nothing } };
  const failed = { retry_count: 3, last_error: 'cannot send to channel' };
  return { type: 'event.dead_lettered', data: { ...about(place - 5), ...failed, ...nothing } };
}
