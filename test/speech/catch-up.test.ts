import t from 'tap';
import { keysStage } from '../keys/stage.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';

t.test('SPEAK-14 a night in 2,000 tokens', async (t) => {
  const ircd = await startIrcd(t);
  const { ask, given, tool } = await keysStage(t, {
    ...settingsOf(ircd),
    ROLES: 'all',
  });
  const { headers } = await given('alice', ['read']);
  const channels = ['#lobby', '#payments', '#disputes'];
  const talker = await observe(ircd.port, { nick: 'bob', password: ircd.serverPassword, channels });
  t.teardown(() => talker.stop());
  const text = (n: number) => `line ${n} of a long night, about nothing in particular, as nights are`;
  const say = (channel: string, text: string) => talker.send(`PRIVMSG ${channel} :${text}`);
  const lines = async (channel: string) =>
    (await ask('GET', `/irc/channels/${channel}/messages?limit=100`)).body;
  await eventually('the recorder to be there', async () => {
    say('#lobby', 'before');
    return (await lines('lobby')).length > 0;
  });
  say('#lobby', 'good night');
  const before = await eventually('all of before', async () => {
    const { id, text } = (await lines('lobby')).at(-1);
    return text === 'good night' && id;
  });

  say('#payments', 'Alice: your payment is late');
  for (let n = 0; n < 80; n++) for (const channel of channels) say(channel, text(n));
  await eventually('the whole night', async () => {
    const found = await Promise.all(['lobby', 'payments', 'disputes'].map(lines));
    return found.every((of) => of.at(-1)?.text === text(79));
  });
  const read = async (args: object) =>
    (await tool('svc_catch_up', args, headers)).result.structuredContent as {
      channels: { channel: string; since: string; lines: string[]; omitted: number; complete: boolean }[];
      next: string;
    };
  const night = await read({ channels, after: before, tokens: 2_000 });
  t.ok(JSON.stringify(night).length / 3 <= 2_000, `${JSON.stringify(night).length} characters`);
  t.ok(JSON.stringify(night).length / 3 > 1_700, 'the budget is used');
  const [lobby, payments] = night.channels;
  t.match(
    payments!.lines[0],
    /^\d\d:\d\d <bob> Alice: your payment is late$/,
    'who names the reader comes first',
  );
  for (const { channel, lines, omitted } of night.channels) {
    t.match(lines.at(-1), text(79), `${channel} has its newest line`);
    t.equal(lines.length + omitted, channel === '#payments' ? 81 : 80);
  }
  const numbers = lobby!.lines.map((line) => Number(/line (\d+)/.exec(line)?.[1]));
  t.same(
    numbers,
    [...numbers].sort((a, b) => a - b),
    'oldest first',
  );
  const rest = await read({ channels, after: night.next });
  t.same(
    rest.channels.map(({ lines, omitted }) => [lines, omitted]),
    channels.map(() => [[], 0]),
    'nothing is said twice',
  );

  // a night in which far more was said than is read at once, and the name of the reader early in it
  const quiet = night.next;
  say('#disputes', 'alice: are you awake?');
  for (let n = 0; n < 350; n++) say('#disputes', text(n));
  await eventually('the longer night', async () => (await lines('disputes')).at(-1)?.text === text(349));
  const longer = await read({ channels: ['#disputes', '#lobby'], after: quiet, tokens: 500 });
  const [disputes, still] = longer.channels;
  t.match(disputes!.lines[0], 'alice: are you awake?');
  t.equal(disputes!.lines.length + disputes!.omitted, 351, 'all of it was looked at');
  t.same(
    [disputes!.complete, still],
    [true, { channel: '#lobby', since: null, lines: [], omitted: 0, complete: true }],
  );

  const nameless = async (tokens: number) => {
    const { body } = await ask('GET', `/irc/catch-up?channels=disputes&after=${quiet}&tokens=${tokens}`);
    const [found] = body.channels;
    return { found, lookedAt: found.lines.length + found.omitted };
  };
  const enough = await nameless(500);
  t.match([enough.lookedAt, enough.found.complete], [100, false], 'no more is read than the budget takes');
  t.match(enough.found.lines.at(-1), text(349));
  const much = await nameless(20_000);
  t.match([much.lookedAt, much.found.omitted, much.found.complete], [351, 0, true]);

  const twice = await read({
    channels: ['#Disputes', '#disputes', 'disputes', '#lobby'],
    after: quiet,
    tokens: 500,
  });
  t.same(
    twice.channels.map(({ channel }) => channel),
    ['#Disputes', '#lobby'],
    'a channel named twice is there once',
  );
  t.ok(JSON.stringify(twice).length / 3 <= 500, 'in the same budget');

  const all = await read({ tokens: 20_000 });
  t.ok(all.channels.map(({ channel }) => channel).includes('#lobby'), 'without names the largest channels');
  const byHttp = await ask(
    'GET',
    `/irc/catch-up?channels=lobby,%23payments&after=${before}&nick=ALICE&tokens=300`,
  );
  t.match(byHttp, { status: 200, body: { channels: [{ channel: '#lobby' }, { channel: '#payments' }] } });
  t.match(byHttp.body.channels[1].lines[0], /Alice/);
  for (const [query, path] of [
    ['channels=a%20b', 'channels.0'],
    ['tokens=1', 'tokens'],
    ['after=x', 'after'],
  ] as const)
    t.match(
      await ask('GET', `/irc/catch-up?${query}`),
      { status: 400, body: { details: [{ path }] } },
      query,
    );
  t.match(await ask('GET', '/irc/catch-up?channels=lobby,nowhere'), {
    status: 404,
    body: { error: 'There is no channel #nowhere, or not for this caller' },
  });
});
