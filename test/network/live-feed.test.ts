import pino from 'pino';
import t from 'tap';
import { ircFeed, type LiveSighting } from '../../src/operations/network/feed.js';
import { type IrcFact, irc, ircSubject, parseLineId } from '../../streams/network/index.js';
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
    return { ended, next: async () => (await feedOf.next()).value as LiveSighting | undefined, feedOf };
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
    for (let n = 0; n < 1_100; n++) await quick.next();
    t.same(slow.ended, [true]);
    t.same(quick.ended, []);
    t.equal((await slow.feedOf.next()).done, true);
  });
});
