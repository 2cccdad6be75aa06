import pino from 'pino';
import { decodeFact, Log } from '../streams/core/index.js';
import { delivery as deliveries } from '../streams/delivery/index.js';
import { streams } from '../streams/index.js';
import { eventToken, market, marketSubject } from '../streams/market/index.js';
import { startIrcd } from '../test/support/ircd.js';
import { startNats } from '../test/support/nats.js';
import { DeliverToIrc } from '../workers/deliver-to-irc/index.js';
import { IrcConnection } from '../workers/irc/connection.js';
import { bareDelivery } from './floors/delivery.js';
import { Endings, median, type Result } from './table.js';

const lines = 20_000;
const channelCount = 200;
const lineBytes = 110;
const rounds = 3;

/** Delivery of recorded events, confirmed and recorded, against labelled lines from a bare socket. */
export async function delivery(): Promise<Result[]> {
  const endings = new Endings();
  try {
    const nats = await startNats(endings, { sync: 'always' });
    const ircd = await startIrcd(endings);
    const logger = pino({ level: process.env.BL ?? 'silent' });
    const log = await Log.open({
      urls: nats.url,
      name: 'bench',
      streams,
      replicas: 1,
      maxBytes: 4e9,
      logger,
    });
    endings.teardown(() => log.close());
    const channels = Array.from({ length: channelCount }, (_, n) => `#bench-${n}`);
    const newWorker = () =>
      new DeliverToIrc({
        log,
        logger,
        limits: { maxRetries: 3, ttlMs: 3_600_000, retryMs: 5_000 },
        irc: new IrcConnection({
          url: ircd.url,
          nick: 'em-bot',
          password: ircd.serverPassword,
          oper: { name: ircd.operName, password: ircd.operPassword },
          log: logger,
        }),
      });

    const ours: number[] = [];
    const floor: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const a = await deliver(log, newWorker(), channels, `r${round}`);
      const b = await bareDelivery({
        port: ircd.port,
        password: ircd.serverPassword,
        channels,
        lines,
        bytes: lineBytes,
      });
      if (round === 0) continue; // to warm up
      ours.push(a);
      floor.push(b);
    }
    const text = (ms: number) => `${Math.round((lines / ms) * 1000).toLocaleString('en')} lines/s`;
    return [
      {
        measured: `delivery of ${lines.toLocaleString('en')} lines over ${channelCount} channels, confirmed and recorded`,
        ours: text(median(ours)),
        floor: text(median(floor)),
        ratio: median(ours.map((ms, n) => floor[n]! / ms)),
        goal: '≥ 0.3',
      },
    ];
  } finally {
    await endings.end();
  }
}

/** Appends the events, lets a worker deliver them, and tells the milliseconds between the first and the last recorded confirmation. */
async function deliver(log: Log, worker: DeliverToIrc, channels: string[], run: string): Promise<number> {
  const text = 'x'.repeat(lineBytes - 20);
  let next = 0;
  const append = async () => {
    for (let n = next++; n < lines; n = next++) {
      const event_id = `${run}-${n}`;
      const target_channels = [channels[n % channels.length]!];
      const data = {
        event_id,
        event_type: 'bench',
        source: 'bench',
        payload: {},
        target_channels,
        formatted_message: `${event_id} ${text}`,
      };
      const fact = { type: 'event.received' as const, data };
      await log.appendOnce(market, marketSubject(eventToken(event_id)), fact, { by: 'bench' });
    }
  };
  await Promise.all(Array.from({ length: 256 }, append));
  const before = await log.head(deliveries);
  worker.start();
  const reading = new AbortController();
  let confirmed = 0;
  let first: Date | undefined;
  let last: Date | undefined;
  for await (const entries of log.follow(deliveries, {
    after: before,
    batch: 1_000,
    signal: reading.signal,
  })) {
    for (const entry of entries) {
      const fact = decodeFact(deliveries, entry.data, entry);
      if (fact.type === 'lines.confirmed') confirmed += fact.data.lines.length;
      first ??= entry.at;
      last = entry.at;
    }
    if (confirmed >= lines) reading.abort();
  }
  await worker.stop();
  return last!.getTime() - first!.getTime();
}
