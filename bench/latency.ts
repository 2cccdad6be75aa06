import { appendAndSend } from './floors/latency.js';
import type { Bench, Row } from './support/bench.js';
import { signed, taskEvent } from './support/events.js';
import { milliseconds, percentile } from './support/figures.js';
import { type BareClient, bareClient } from './support/irc-client.js';
import { atRate, type Post, poster } from './support/load.js';
import { startIrcd, startNats } from './support/servers.js';
import { startService } from './support/service.js';

const perSecond = 200;
const tasks = Array.from({ length: 50 }, (_, n) => `bench-${String(n).padStart(2, '0')}`);
const lineBoundMs = 30_000;

/** From the post of an event to its line at a reader in the channel, at a steady rate, against an append and a send alone. */
export async function latency(t: Bench): Promise<Row[]> {
  const nats = await startNats(t, { sync: 'always' });
  const ircd = await startIrcd(t);
  const service = await startService(t, { nats, ircd });
  const { post, close } = poster(service.url);
  t.teardown(close);
  const channels = tasks.map((task) => `#task-${task}`);
  const reader = await bareClient({ port: ircd.port, nick: 'reader', channels });
  t.teardown(reader.quit);
  const floorOptions = { natsUrl: nats.url, port: ircd.port, password: ircd.serverPassword, bytes: 600 };

  t.progress('warming up');
  await shown(reader, post, t.size(2_000, 400), 'warm');
  await appendAndSend({ ...floorOptions, count: t.size(2_000, 400) });
  const ours: number[] = [];
  const floor: number[] = [];
  const rounds = t.size(3, 1);
  for (let round = 1; round <= rounds; round++) {
    t.progress(`round ${round} of ${rounds}`);
    ours.push(...(await shown(reader, post, t.size(2_000, 400), `r${round}`)));
    floor.push(...(await appendAndSend({ ...floorOptions, count: t.size(2_000, 400) })));
  }
  const row = (p: number, name: string, goal: string): Row => ({
    measured: `from the post to the line at a reader, ${perSecond} events/s over ${tasks.length} channels, ${name}`,
    ours: milliseconds(percentile(ours, p)),
    against: `one durable append and one labelled line, nothing else at the time: ${milliseconds(percentile(floor, p))}`,
    ratio: percentile(ours, p) / percentile(floor, p),
    goal,
  });
  return [row(0.5, 'p50', '≤ 5'), row(0.99, 'p99', '≤ 10')];
}

/** Posts events at the rate and resolves with the milliseconds that each took to its line. */
async function shown(reader: BareClient, post: Post, count: number, run: string): Promise<number[]> {
  const waiting = new Map<string, () => void>();
  reader.onLines((lines) => {
    for (const line of lines) {
      const id = / PRIVMSG \S+ :\[RATING\].*"([^"]+)"/.exec(line)?.[1];
      if (id) waiting.get(id)?.();
    }
  });
  return await atRate(perSecond, count, (n) => {
    const id = `${run}-${n}`;
    const event = ratingEvent(id, tasks[n % tasks.length]!);
    return new Promise((resolve, reject) => {
      const sentAt = performance.now();
      const late = setTimeout(
        () => reject(new Error(`${id} was not shown in ${lineBoundMs} ms`)),
        lineBoundMs,
      );
      waiting.set(id, () => {
        clearTimeout(late);
        waiting.delete(id);
        resolve(performance.now() - sentAt);
      });
      post(event).catch(reject);
    });
  });
}

/** An event that goes into its task's channel only, and whose line holds the event's id. */
function ratingEvent(id: string, task: string) {
  const event = taskEvent(id);
  const payload = { ...event.payload, id: task, score: 5, comment: id };
  return signed({ ...event, event_type: 'rating.created', payload });
}
