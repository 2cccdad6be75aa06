import pino from 'pino';
import t from 'tap';
import type { Call } from '../../src/operations/core/call.js';
import { nobody } from '../../src/operations/core/caller.js';
import { ircFeed } from '../../src/operations/network/feed.js';
import { type IrcStreamParts, streamIrc } from '../../src/operations/network/stream.js';
import { Refusal } from '../../streams/core/index.js';
import { type IrcFact, irc, ircSubject } from '../../streams/network/index.js';
import { startNats } from '../support/nats.js';
import { openLog } from './stage.js';

t.test('SPEAK-26 what a live line answers', async (t) => {
  const log = await openLog(t, (await startNats(t)).url);
  const feed = ircFeed(log, pino({ level: 'silent' }));
  t.teardown(() => feed.close());
  const asked: string[] = [];
  let isAway = false;
  const call = (async ({ id }: { id: string }, { line }: { line: string }) => {
    if (id !== 'findLine') return [];
    asked.push(line);
    if (isAway) throw new Refusal('store_unavailable', 'away');
    return { line: { id: '1-0', msgid: line } };
  }) as unknown as Call;
  const parts: IrcStreamParts = {
    call,
    withholding: { isOn: false, thresholds: [1, 2, 3, 4, 5], ignored: new Set() },
    ircStream: { feed, viewers: { change() {} } },
  };
  const watch = async () => {
    const abort = new AbortController();
    t.teardown(() => abort.abort());
    const viewer = { caller: nobody, after: undefined, quietMs: 60_000, signal: abort.signal, end() {} };
    const events = (await streamIrc.open({ channel: 'lobby' }, viewer, parts))![Symbol.asyncIterator]();
    return async () => (await events.next()).value?.data;
  };
  const say = async (text: string, reply_to?: string) => {
    const line = { is: 'message' as const, at: 0, nick: 'a', text, ...(reply_to ? { reply_to } : {}) };
    const fact: IrcFact = {
      type: 'channel.observed',
      data: { channel: '#lobby', lines_before: 0, seen: [line] },
    };
    await log.append(irc, ircSubject('#lobby'), fact, { by: 'test' });
  };
  const viewers = await Promise.all(Array.from({ length: 5 }, watch));

  await t.test('is looked up once for all viewers', async (t) => {
    await say('me', 'question');
    for (const next of viewers) t.match(await next(), { text: 'me', reply_to: '1-0' });
    t.same(asked, ['question']);
  });

  await t.test('is left out while the record is away, and the stream goes on', async (t) => {
    isAway = true;
    await say('me too', 'question');
    await say('who else?');
    for (const next of viewers) {
      t.notOk('reply_to' in (await next()));
      t.match(await next(), { text: 'who else?' });
    }
    t.same(asked, ['question', 'question']);
  });
});
