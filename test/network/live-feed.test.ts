import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pino from 'pino';
import t from 'tap';
import { LiveFeed, mostMissed, type Portion } from '../../src/operations/core/live-feed.js';
import { merged } from '../../src/operations/core/merged.js';
import { ircFeed, type LiveSighting } from '../../src/operations/network/feed.js';
import type { Entry, Log } from '../../streams/core/index.js';
import { type IrcFact, irc, ircSubject, parseLineId } from '../../streams/network/index.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { openLog } from './stage.js';

const logger = pino({ level: 'silent' });

t.test('IRC-17 IRC-18 a feed of one channel', async (t) => {
  const log = await openLog(t, (await startNats(t)).url);
  const feed = ircFeed(log, logger);
  t.teardown(() => feed.close());
  let at = 0;
  const see = async (channel: string, count: number) => {
    const seen = Array.from({ length: count }, () => ({
      is: 'message' as const,
      at: at++,
      nick: 'a',
      text: 'x',
    }));
    const fact: IrcFact = { type: 'channel.observed', data: { channel, lines_before: 0, seen } };
    await log.append(irc, ircSubject(channel), fact, { by: 'test' });
  };
  const watch = async (channels: string | string[], options: { after?: string; quietMs?: number } = {}) => {
    const ended: true[] = [];
    const { quietMs = 10_000, after } = options;
    const signal = new AbortController().signal;
    const seat = await feed.watch([channels].flat().map(ircSubject), {
      after: parseLineId(after ?? ''),
      quietMs,
      signal,
      ended: () => ended.push(true),
    });
    const feedOf = seat.items;
    let waiting: LiveSighting[] = [];
    const next = async () => {
      if (waiting.length === 0) waiting = [...((await feedOf.next()).value as Portion<LiveSighting>).items];
      return waiting.shift();
    };
    return { ended, next, feedOf };
  };
  await see('#a', 3);
  await see('#b', 2);
  await see('#A', 2);

  t.test('silence is told, and what comes is live', async (t) => {
    const a = await watch('#a', { quietMs: 5 });
    t.equal(await a.next(), undefined);
    const waiting = await watch('#a');
    const coming = waiting.next();
    await see('#b', 1);
    await see('#a', 1);
    t.match(await coming, { channel: '#a', live: true, id: /-0$/ });
    await waiting.feedOf.return(undefined);
  });

  t.test('behind an id comes the rest of its fact, and then the others', async (t) => {
    const { next, feedOf } = await watch('#a', { after: '1-1' });
    const ids = [await next(), await next(), await next(), await next()].map((one) => [one?.id, one?.live]);
    t.same(ids, [
      ['1-2', false],
      ['3-0', false],
      ['3-1', false],
      ['5-0', false],
    ]);
    await feedOf.return(undefined);
    const all = await watch('#A', { after: '0-0' });
    t.match(await all.next(), { id: '1-0' });
    await all.feedOf.return(undefined);
    const nonsense = await watch('#a', { after: 'x', quietMs: 5 });
    t.equal(await nonsense.next(), undefined);
  });

  t.test('several channels are one feed, in the order of the log', async (t) => {
    const { next, feedOf } = await watch(['#b', '#a'], { after: '1-1' });
    const missed = [await next(), await next(), await next()].map((one) => one?.id);
    t.same(missed, ['1-2', '2-0', '2-1']);
    for (let n = 0; n < 4; n++) await next();
    await see('#b', 1);
    await see('#a', 1);
    t.match(
      [await next(), await next()],
      [
        { channel: '#b', live: true },
        { channel: '#a', live: true },
      ],
    );
    await feedOf.return(undefined);
  });

  t.test('who does not take what comes is told to go', async (t) => {
    const slow = await watch('#a', { quietMs: 5 });
    await slow.next();
    for (let n = 0; n < 11; n++) await see('#a', 100);
    const quick = await watch('#a', { after: '5-0' });
    for (let n = 0; n < mostMissed; n++) await quick.next();
    t.same(slow.ended, [true]);
    t.same(quick.ended, []);
    t.equal((await slow.feedOf.next()).done, true);
  });
});

/** A log of so many facts of one channel. It answers at once, and counts how many readers it answers at the same time. */
function logOf(facts: number) {
  const counts = { reading: 0, most: 0, given: 0 };
  const log = {
    head: async () => facts,
    async *follow(_stream: unknown, { after, batch, signal }: Parameters<Log['follow']>[1]) {
      for (let seq = after + 1; seq <= facts; seq += batch) {
        counts.reading += 1;
        counts.most = Math.max(counts.most, counts.reading);
        await null;
        counts.reading -= 1;
        const length = Math.min(batch, facts - seq + 1);
        counts.given += length;
        yield Array.from({ length }, (_, n) => ({ seq: seq + n, subject: 'a' }) as Entry);
      }
      yield [];
      if (!signal.aborted) await new Promise((end) => signal.addEventListener('abort', end));
    },
  };
  const feed = new LiveFeed<number>({
    log: log as unknown as Log,
    logger,
    stream: irc,
    itemsOf: ({ seq }) => [seq],
  });
  return { counts, feed };
}

t.test('IRC-22 what was missed comes in portions, up to a bound', async (t) => {
  const stop = new AbortController();
  const options = { quietMs: 10_000, signal: stop.signal, ended: () => {} };
  const missed = async (feed: LiveFeed<number>, after: number, reader?: string) => {
    const { items } = await feed.watch(['a'], { ...options, after: { seq: after, index: 0 }, reader });
    const portions: Portion<number>[] = [];
    for await (const portion of items) {
      portions.push(portion);
      if (portion.more || portion.items.at(-1) === 3_000) return portions;
    }
    return portions;
  };

  t.test('and who comes back behind it gets the rest', async (t) => {
    const { feed, counts } = logOf(3_000);
    t.teardown(() => feed.close());
    const all: number[] = [];
    for (let after = 0, more = true; more; after = all.at(-1)!) {
      const portions = await missed(feed, after);
      const items = portions.flatMap(({ items }) => items);
      t.equal(items.length, mostMissed);
      t.ok(portions.length > 10, 'in small portions');
      all.push(...items);
      more = all.at(-1) !== 3_000;
      t.same(portions.at(-1)!.more, more ? { seq: all.at(-1), index: 0 } : undefined);
    }
    t.same(
      all,
      Array.from({ length: 3_000 }, (_, n) => n + 1),
      'each once',
    );
    t.ok(counts.given < 3_500, `${counts.given} facts were read`);
  });

  t.test('but nothing to who watches nothing', async (t) => {
    const { feed, counts } = logOf(3_000);
    t.teardown(() => feed.close());
    const { items } = await feed.watch([], { ...options, quietMs: 5, after: { seq: 0, index: 0 } });
    t.same((await items.next()).value, { items: [] }, 'silence');
    t.equal(counts.given, 0);
    await items.return(undefined);
  });

  t.test('while few are read at once, one of each reader, and others come in between', async (t) => {
    const { feed, counts } = logOf(3_000);
    t.teardown(() => feed.close());
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    turn();
    await Promise.all(['x', 'y', 'z', 'z', undefined].map((reader) => missed(feed, 0, reader)));
    isOver = true;
    t.equal(counts.most, 2);
    t.ok(turns >= 20, `${turns} turns of everybody else`);
    counts.most = 0;
    await Promise.all(['x', 'x', 'x'].map((reader) => missed(feed, 2_000, reader)));
    t.equal(counts.most, 1);
  });

  t.test('and a reader who goes while it waits holds up nobody', async (t) => {
    const { feed } = logOf(3_000);
    t.teardown(() => feed.close());
    const slow = new AbortController();
    const after = { seq: 0, index: 0 };
    const stuck = [];
    for (let n = 0; n < 5; n += 1) {
      const { items } = await feed.watch(['a'], { ...options, after, signal: slow.signal, reader: 'x' });
      stuck.push(items.next());
    }
    slow.abort();
    await Promise.all(stuck);
    t.equal((await missed(feed, 2_000, 'x')).flatMap(({ items }) => items).length, mostMissed);
  });
});

t.test('LISTEN-02 a process that is behind gives its readers nothing that they have', async (t) => {
  let head = 2;
  let comes = () => {};
  const coming = new Promise<void>((resolve) => {
    comes = resolve;
  });
  const log = {
    head: async () => head,
    async *follow() {
      await coming;
      yield [3, 4, 5].map((seq) => ({ seq, subject: 'a' }) as Entry);
    },
  };
  const feed = new LiveFeed<string>({
    log: log as unknown as Log,
    logger,
    stream: irc,
    itemsOf: ({ seq }) => [`${seq}-0`, `${seq}-1`],
  });
  t.teardown(() => feed.close());
  const watch = async (after?: { seq: number; index: number }) => {
    const { signal } = new AbortController();
    return (await feed.watch(['a'], { after, quietMs: 60_000, signal, ended: () => {} })).items;
  };
  const fresh = await watch();
  head = 5;
  const ahead = await watch({ seq: 4, index: 0 });
  const ofAnotherLog = await watch({ seq: 6, index: 0 });
  comes();
  const heard = async (items: typeof fresh) => {
    const texts: string[] = [];
    for await (const portion of items) {
      texts.push(...portion.items);
      if (texts.at(-1) === '5-1') break;
    }
    return texts;
  };
  const all = await heard(fresh);
  t.same(all, ['3-0', '3-1', '4-0', '4-1', '5-0', '5-1']);
  t.same(await heard(ahead), ['4-1', '5-0', '5-1']);
  t.same(await heard(ofAnotherLog), all, 'who comes from a log that was lost hears what is new');
});

t.test('IRC-18 readers who have gone are forgotten', async (t) => {
  const log = await openLog(t, (await startNats(t)).url);
  const feed = ircFeed(log, logger);
  t.teardown(() => feed.close());
  const readers: WeakRef<object>[] = [];
  for (let n = 0; n < 500; n++) {
    const stopped = new AbortController();
    const reader = { ended: () => stopped.abort() };
    readers.push(new WeakRef(reader));
    const { signal } = stopped;
    await feed.watch([ircSubject('#a')], { quietMs: 10_000, signal, ended: () => reader.ended() });
    stopped.abort();
  }
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await eventually('them to be forgotten', () => {
    collect();
    return readers.filter((reader) => reader.deref()).length < 50;
  });
});

t.test(
  'a source that fails while nobody asks for more ends no process, and whoever asks is told',
  async (t) => {
    const failing = (async function* () {
      yield 1;
      throw new Error('the store is away');
    })();
    const all = merged([failing]);
    t.same(await all.next(), { value: 1, done: false });
    await new Promise((resolve) => setImmediate(resolve));
    await t.rejects(all.next(), { message: 'the store is away' });
  },
);
