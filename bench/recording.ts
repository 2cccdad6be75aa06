import { ircMessages } from '../projections/network/queries.js';
import { ircNetwork } from '../projections/network/tables.js';
import type { Log, Recorded } from '../streams/core/index.js';
import { type IrcFact, irc, ircSubject } from '../streams/network/index.js';
import { IrcConnection } from '../workers/irc/index.js';
import { RecordIrc } from '../workers/network/index.js';
import { bareDelivery } from './floors/delivery.js';
import type { Bench, Row } from './support/bench.js';
import { median, milliseconds, percentile, perSecond, whole } from './support/figures.js';
import { bareClient } from './support/irc-client.js';
import { openLog, quiet } from './support/log.js';
import { type Ircd, startIrcd, startNats } from './support/servers.js';
import { type Engine, engines } from './support/stores.js';
import { eventually } from './support/wait.js';

const channels = Array.from({ length: 200 }, (_, n) => `#bench-${n}`);
const bytes = 110;

/** Lines recorded on disk against a bare socket that only reads them, and reads of what was recorded. */
export async function recording(t: Bench): Promise<Row[]> {
  const lines = t.size(20_000, 2_000);
  const [nats, ircd] = await Promise.all([startNats(t, { sync: 'always' }), startIrcd(t)]);
  const log = await openLog(t, nats);
  const ours: number[] = [];
  const floor: number[] = [];
  const rounds = t.size(3, 1);
  for (let round = 0; round <= rounds; round++) {
    t.progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    const others = await readBare(ircd, lines);
    const ms = await record(log, ircd, lines);
    if (round === 0) continue;
    ours.push(ms);
    floor.push(others);
  }
  const row: Row = {
    measured: `${whole(lines)} lines said in ${channels.length} channels, recorded on disk`,
    ours: perSecond(lines, median(ours), 'lines'),
    against: `a bare socket that reads them, from the same speaker: ${perSecond(lines, median(floor), 'lines')}`,
    ratio: median(ours.map((ms, round) => floor[round]! / ms)),
    goal: '≥ 0.75',
  };
  return [row, ...(await reads(t))];
}

/** Speaks, and tells the milliseconds from the first line until `seen` resolves. */
async function speak(ircd: Ircd, lines: number, seen: () => Promise<void>): Promise<number> {
  const all = seen();
  const password = ircd.serverPassword;
  const speaking = await bareDelivery({ port: ircd.port, password, channels, lines, bytes });
  const began = performance.now() - speaking;
  await all;
  return performance.now() - began;
}

async function readBare(ircd: Ircd, lines: number): Promise<number> {
  const reader = await bareClient({
    port: ircd.port,
    password: ircd.serverPassword,
    nick: 'reader',
    channels,
  });
  const ms = await speak(
    ircd,
    lines,
    () =>
      new Promise<void>((resolve) => {
        let seen = 0;
        reader.onLines((received) => {
          for (const line of received) if (line.includes(' PRIVMSG #') && ++seen === lines) resolve();
        });
      }),
  );
  reader.quit();
  return ms;
}

async function record(log: Log, ircd: Ircd, lines: number): Promise<number> {
  const connection = new IrcConnection({
    url: ircd.url,
    nick: 'relay',
    password: ircd.serverPassword,
    oper: { name: ircd.operName, password: ircd.operPassword },
    log: quiet,
  });
  const recorder = new RecordIrc({ log, irc: connection, channels, logger: quiet });
  const stop = new AbortController();
  try {
    recorder.start();
    await eventually('the channels to be entered', () => recorder.rooms === channels.length);
    const after = await log.head(irc);
    return await speak(ircd, lines, async () => {
      let recorded = 0;
      for await (const entries of log.follow(irc, { after, batch: 1_000, signal: stop.signal })) {
        for (const { data } of entries) recorded += count(data, '"is":"message"');
        if (recorded >= lines) return;
      }
    });
  } finally {
    stop.abort();
    await recorder.stop();
  }
}

function count(data: Uint8Array, word: string): number {
  const bytesOf = Buffer.from(data.buffer, data.byteOffset, data.length);
  let found = 0;
  for (let at = bytesOf.indexOf(word); at >= 0; at = bytesOf.indexOf(word, at + 1)) found += 1;
  return found;
}

/** The last lines of a channel with a hundred times as many lines in the store. */
async function reads(t: Bench): Promise<Row[]> {
  const sizes = [t.size(10_000, 5_000), t.size(1_000_000, 50_000)] as const;
  const rows: Row[] = [];
  for (const engine of await engines(t)) {
    t.progress(`${engine.name}: folding`);
    const stores = [await filled(engine, sizes[0]), await filled(engine, sizes[1])];
    const taken = stores.map((): number[] => []);
    for (let turn = 0; turn <= t.size(40, 4); turn++) {
      for (const [index, sql] of stores.entries()) {
        for (let n = 0; n < 50; n++) {
          const started = performance.now();
          await ircMessages(
            sql,
            'bench',
            { key: '#bench-1', name: '#bench-1' },
            { limit: 50, withPrivate: false },
          );
          if (turn > 0) taken[index]!.push(performance.now() - started); // the first turn warms up
        }
      }
    }
    const [small, large] = taken.map((ms) => percentile(ms, 0.99)) as [number, number];
    rows.push({
      measured: `the last 50 lines of a channel, ten channels with ${whole(sizes[1])} lines, p99 in ${engine.name}`,
      ours: milliseconds(large),
      against: `with ${whole(sizes[0])} lines: ${milliseconds(small)}`,
      ratio: large / small,
      goal: '≤ 1.2',
    });
  }
  return rows;
}

/** A store with so many lines of ten channels in it. */
async function filled(engine: Engine, lines: number) {
  const sql = await engine.open();
  await sql.query(`create schema bench; ${ircNetwork.ddl('bench')}`);
  const perFact = 50;
  const perBatch = 100;
  for (let from = 0; from < lines / perFact; from += perBatch) {
    const facts = Array.from({ length: perBatch }, (_, n) => fact(from + n + 1, perFact));
    await sql.transaction((tx) => ircNetwork.apply(tx, facts, 'bench'));
  }
  await sql.query('vacuum analyze');
  return sql;
}

function fact(seq: number, lines: number): Recorded<IrcFact> {
  const channel = `#bench-${seq % 10}`;
  const start = Date.UTC(2026, 0, 1) + seq * 1_000;
  const seen = Array.from({ length: lines }, (_, n) => ({
    is: 'message' as const,
    at: start + n,
    nick: `agent${n % 7}`,
    text: 'x'.repeat(bytes),
  }));
  const place = { id: `f${seq}`, stream: irc.name, subject: ircSubject(channel), seq, at: new Date(start) };
  const data = { channel, lines_before: 0, seen };
  return { type: 'channel.observed', data, ...place, by: 'bench', cause: null };
}
