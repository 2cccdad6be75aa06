import t from 'tap';
import { irc } from '../../streams/network/index.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startNgircd, withoutNgircd } from '../support/ngircd.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { openLog, Stage } from './stage.js';

t.test('IRC-09 a server without capabilities, tags and histories', { skip: withoutNgircd }, async (t) => {
  const [stage, server] = await Promise.all([Stage.open(t), startNgircd(t)]);
  const alice = await observe(server.port, { nick: 'alice', tags: false });
  t.teardown(() => alice.stop());
  await alice.join('#lobby');
  const relay = await startTcpRelay(t, server.port);
  await stage.record(['#lobby'], { url: relay.url });
  const { members } = (await stage.entered('#lobby')) as unknown as { members: string[] };
  t.same([...members].sort(), ['@alice', 'relay']);
  await alice.ask('PRIVMSG #lobby :one', 'TOPIC #lobby :news');
  t.match(await stage.said('#lobby', 'one'), { is: 'message', nick: 'alice', at: Number });
  await stage.untilRecorded('the topic', (one) => one.is === 'topic' && one.text === 'news');

  relay.cut();
  await alice.ask('PRIVMSG #lobby :unseen');
  t.match(await stage.entered('#lobby', 2), { topic: 'news' });
  await alice.ask('PRIVMSG #lobby :two');
  await stage.said('#lobby', 'two');
  t.same(stage.texts('#lobby'), ['one', 'two']);
  t.match(stage.gaps('#lobby'), [{ from: Number, to: Number }]);
});

t.test('IRC-20 a full stream of observations drops its oldest facts', async (t) => {
  const stage = await Stage.open(t);
  const log = await openLog(t, stage.nats.url);
  const { config } = await log.manager.streams.info(irc.name);
  await log.manager.streams.update(irc.name, { ...config, max_bytes: 50_000 });
  const text = 'x'.repeat(400);
  let seq = 0;
  for (let n = 0; n < 200; n++) {
    const seen = [{ is: 'message' as const, at: n, nick: 'a', text }];
    const fact = { type: 'channel.observed' as const, data: { channel: '#a', lines_before: n, seen } };
    const stored = await log.appendNext(irc, 'irc.a', fact, { by: 'stage' }, seq);
    seq = stored!.seq;
  }
  t.equal(seq, 200);
  const { state } = await log.manager.streams.info(irc.name);
  t.ok(state.messages < 120 && state.first_seq > 80, JSON.stringify(state.messages));
  await eventually('the oldest to be gone', async () => (await log.at(irc, 1)) === undefined);
  const other = {
    type: 'channel.observed' as const,
    data: { channel: '#a', lines_before: 0, seen: [{ is: 'left' as const, at: 1, reason: '' }] },
  };
  t.equal(
    await log.appendNext(irc, 'irc.a', other, { by: 'stage' }, 199),
    undefined,
    'somebody else was faster',
  );
});
