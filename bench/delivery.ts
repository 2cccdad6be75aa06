import { decodeFact, type Log } from '../streams/core/index.js';
import { delivery as deliveries } from '../streams/delivery/index.js';
import { eventToken, market, marketSubject } from '../streams/events/index.js';
import { DeliverToIrc } from '../workers/delivery/index.js';
import { IrcConnection } from '../workers/irc/connection.js';
import { bareDelivery } from './floors/delivery.js';
import { frameworkDelivery } from './floors/irc-framework.js';
import type { Bench, Row } from './support/bench.js';
import { taskFact } from './support/events.js';
import { median, perSecond, whole } from './support/figures.js';
import { inParallel, openLog, quiet } from './support/log.js';
import { type Ircd, startIrcd, startNats } from './support/servers.js';

const channels = Array.from({ length: 200 }, (_, n) => `#bench-${n}`);
const bytes = 110;

/** Delivery of recorded events, confirmed and recorded, against labelled lines from a bare socket and irc-framework's `say`. */
export async function delivery(t: Bench): Promise<Row[]> {
  const lines = t.size(20_000, 2_000);
  const nats = await startNats(t, { sync: 'always' });
  const ircd = await startIrcd(t);
  const log = await openLog(t, nats);
  const bare = { port: ircd.port, password: ircd.serverPassword, channels, lines, bytes };
  const ours: number[] = [];
  const floor: number[] = [];
  const peer: number[] = [];
  const rounds = t.size(3, 1);
  for (let round = 0; round <= rounds; round++) {
    t.progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    const ms = await deliver(log, ircd, lines, `r${round}`);
    const others = [await bareDelivery(bare), await frameworkDelivery(bare)] as const;
    if (round === 0) continue;
    ours.push(ms);
    floor.push(others[0]);
    peer.push(others[1]);
  }
  const rate = (ms: number[]) => perSecond(lines, median(ms), 'lines');
  const ratio = (than: number[]) => median(ours.map((ms, round) => than[round]! / ms));
  const measured = `delivery of ${whole(lines)} lines over ${channels.length} channels, confirmed and recorded`;
  return [
    {
      measured,
      ours: rate(ours),
      against: `labelled lines from a bare socket: ${rate(floor)}`,
      ratio: ratio(floor),
      goal: '≥ 0.4',
    },
    {
      measured: 'the same',
      ours: rate(ours),
      against: `irc-framework’s \`say\`, each echo awaited per channel: ${rate(peer)}`,
      ratio: ratio(peer),
    },
  ];
}

/** Appends the events, lets a worker deliver them, and tells the milliseconds between the first and the last recorded confirmation. */
async function deliver(log: Log, ircd: Ircd, lines: number, run: string): Promise<number> {
  const text = 'x'.repeat(bytes - 20);
  await inParallel(lines, 256, (n) => {
    const id = `${run}-${n}`;
    const fact = taskFact(id, channels[n % channels.length], `${id} ${text}`);
    return log.appendOnce(market, marketSubject(eventToken(id)), fact, { by: 'bench' });
  });
  const after = await log.head(deliveries);
  const worker = newWorker(log, ircd);
  worker.start();
  const reading = new AbortController();
  let confirmed = 0;
  let first: Date | undefined;
  let last: Date | undefined;
  for await (const entries of log.follow(deliveries, { after, batch: 1_000, signal: reading.signal })) {
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

function newWorker(log: Log, ircd: Ircd): DeliverToIrc {
  const irc = new IrcConnection({
    url: ircd.url,
    nick: 'em-bot',
    password: ircd.serverPassword,
    oper: { name: ircd.operName, password: ircd.operPassword },
    log: quiet,
  });
  const limits = { maxRetries: 3, ttlMs: 3_600_000, retryMs: 5_000 };
  return new DeliverToIrc({ log, irc, limits, logger: quiet });
}
