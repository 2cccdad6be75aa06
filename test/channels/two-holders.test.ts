import { pino } from 'pino';
import t from 'tap';
import { managedChannels } from '../../projections/channels/queries.js';
import { SharedHours } from '../../src/stores/shared-hours.js';
import {
  type ChannelCause,
  type ChannelFact,
  channels as channelStream,
  channelSubject,
} from '../../streams/channels/index.js';
import type { Log } from '../../streams/core/index.js';
import { OwnFacts } from '../../workers/channels/own-facts.js';
import { Tally } from '../../workers/channels/tally.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { asker, creation, type Keeper, openDirectory, openLog, startKeeper } from './keeper.js';
import { operatorOn } from './stage.js';

const most = 100;

t.test(
  'CHAN-08 what another holder of the channel bot has done counts against the hour of all',
  async (t) => {
    const nats = await startNats(t);
    const log = await openLog(t, nats.url);
    const { read } = await openDirectory(t, log);
    const ended = new AbortController();
    t.teardown(() => ended.abort());
    const own = new OwnFacts();
    const limits = { creations: 4, deletions: 2, memberOperations: 5 };
    const taken = (name: string) =>
      Tally.take({
        ...{ log, read, limits, own, hours: new SharedHours({ log, replicas: 1, name }) },
        logger: pino({ level: 'silent' }),
        signal: ended.signal,
      });
    const tally = await taken('TEST_HOURS');
    const write = async (fact: ChannelFact) =>
      (await log.append(channelStream, channelSubject(fact.data.name), fact, asker)).seq;
    const created = (name: string, cause: ChannelCause): ChannelFact => ({
      type: 'channel.created',
      data: { ...creation(name), cause },
    });
    const deleted = (name: string, cause: ChannelCause): ChannelFact => ({
      type: 'channel.deleted',
      data: { name, cause },
    });
    // this process counts what it does before it does it
    await tally.creations.take(1, log.now());
    await own.write(
      '#task-own',
      () => write(created('#task-own', 'request')),
      (seq) => seq,
    );
    for (const n of [1, 2]) await write(created(`#task-n${n}`, 'request'));
    await write(created('#task-n3', 'automation'));
    await write(deleted('#task-n1', 'request'));
    await write(deleted('#task-n3', 'lifecycle'));
    const voiced = { name: '#task-n2', action: 'voice' as const, nicks: ['ann', 'bob', 'carol'], reason: '' };
    await write({ type: 'members.changed', data: { ...voiced, cause: 'automation' } });
    tally.wrote(await write({ type: 'members.changed', data: voiced }));
    (await tally.reserve('task', '#task-next'))();
    const now = log.now();
    await tally.creations.take(1, now);
    await t.rejects(
      tally.creations.take(1, now),
      { code: 'rate_limited' },
      'two of another and two of its own',
    );
    await tally.deletions.take(1, now);
    await t.rejects(tally.deletions.take(1, now), { code: 'rate_limited' });
    await tally.memberOperations.take(2, now);
    await t.rejects(tally.memberOperations.take(1, now), { code: 'rate_limited' });
    const after = await taken('TEST_HOURS_AFTER');
    await after.memberOperations.take(2, now);
    await t.rejects(after.memberOperations.take(1, now), { code: 'rate_limited' }, 'after a restart');
  },
);

t.test('CHAN-88 two processes that both hold the channel bot keep one limit', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const log = await openLog(t, nats.url);
  const { read } = await openDirectory(t, log);
  // as after a cut: the old one does not know yet that it was overtaken; requests reach one or the other
  const old = await startKeeper(t, { nats, ircd }, { read, nick: 'channelserv' });
  const overtaking = await startKeeper(t, { nats, ircd }, { read, nick: 'channelserv2' });
  const name = (n: number) => `#cat-n${n}`;
  const create = (n: number) =>
    old.channels.create(creation(name(n), { type: 'category', modes: '+nt' }), asker);
  const outcomes = async (from: number, to: number) => {
    const numbers = Array.from({ length: to - from }, (_, n) => from + n);
    const ended = await Promise.allSettled(numbers.map(create));
    return ended.map((end) => (end.status === 'fulfilled' ? 'made' : (end.reason as { code: string }).code));
  };
  t.same(new Set(await outcomes(0, most - 5)), new Set(['made']), 'below the limit all are made');
  const last = await outcomes(most - 5, most + 45);
  t.same(last.filter((outcome) => outcome === 'made').length, 5, 'at the limit as many as there is room for');
  t.same(new Set(last), new Set(['made', 'type_limit_reached']));

  const witness = await operatorOn(t, ircd);
  const listed = (await witness.ask('LIST')).filter((line) => / 322 \S+ #cat-n/.test(line));
  t.equal(listed.length, most, 'on the network');
  const after = { stream: channelStream.name, seq: await log.head(channelStream) };
  const recorded = await read((sql, schema) => managedChannels(sql, schema, { withPrivate: true }), after);
  t.equal(recorded.length, most, 'and on record');
  t.ok(overtaking.irc.session(), 'both are still there');

  // somebody else makes room, which both see
  await log.append(
    channelStream,
    channelSubject(name(0)),
    { type: 'channel.deleted', data: { name: name(0), cause: 'request' } },
    asker,
  );
  const again = await outcomes(most + 45, most + 65);
  t.equal(again.filter((outcome) => outcome === 'made').length, 1);
});

t.test('CHAN-88 two processes that both hold the channel bot keep one limit of the hour', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const log = await openLog(t, nats.url);
  const { read } = await openDirectory(t, log);
  const limits = { creations: 10, deletions: 4, memberOperations: 0 };
  const holders = [
    await startKeeper(t, { nats, ircd }, { read, limits, nick: 'channelserv' }),
    await startKeeper(t, { nats, ircd }, { read, limits, nick: 'channelserv2' }),
  ];
  const [{ channels }] = holders as [Keeper, Keeper];
  const name = (n: number) => `#special-n${n}`;
  const made = (n: number) =>
    channels.create(creation(name(n), { type: 'special', modes: '+nt', cause: 'request' }), asker);
  const outcomes = async (work: Promise<unknown>[]) =>
    (await Promise.allSettled(work)).map((end) =>
      end.status === 'fulfilled' ? 'done' : (end.reason as { code: string }).code,
    );
  const count = (all: string[]) => all.filter((outcome) => outcome === 'done').length;
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

  t.same(await outcomes([made(0)]), ['done']);
  await t.rejects(made(0), { code: 'channel_exists' }, 'which takes nothing');
  const created = await outcomes(numbers(1, 41).map(made));
  t.equal(count(created), 9, 'all at one moment: as many as there is room for');
  t.same(new Set(created), new Set(['done', 'rate_limited']));
  const there = [0, ...numbers(1, 41).filter((n) => created[n - 1] === 'done')];
  const remove = (n: number) =>
    channels.remove({ name: name(n), reason: '', immediate: true, cause: 'request' }, asker);
  const removed = await outcomes(there.map(remove));
  t.equal(count(removed), 4);
  t.same(new Set(removed), new Set(['done', 'rate_limited']));
  const witness = await operatorOn(t, ircd);
  const listed = (await witness.ask('LIST')).filter((line) => / 322 \S+ #special-n/.test(line));
  t.equal(listed.length, 6, 'on the network');
});

t.test('CHAN-88 killed between making one channel too many and taking it back', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const log = await openLog(t, nats.url);
  const { read } = await openDirectory(t, log);
  const name = (n: number) => `#cat-n${n}`;
  // as two processes left it: both have made the last one, and who was too late was killed
  const made = { type: 'category' as const, modes: '+nt' };
  for (let n = 0; n <= most; n++)
    await log.append(
      channelStream,
      channelSubject(name(n)),
      { type: 'channel.created', data: creation(name(n), made) },
      asker,
    );
  const keeper = await startKeeper(t, { nats, ircd }, { read });
  const recorded = async () => {
    const after = { stream: channelStream.name, seq: await log.head(channelStream) };
    return (await read((sql, schema) => managedChannels(sql, schema, { withPrivate: true }), after)).map(
      ({ name }) => name,
    );
  };
  const left = await recorded();
  t.equal(left.length, most, 'the limit holds');
  t.notOk(left.includes(name(most)), 'the last one is taken back, and nothing else');
  const witness = await operatorOn(t, ircd);
  const listed = (await witness.ask('LIST')).filter((line) => / 322 \S+ #cat-n/.test(line));
  t.equal(listed.length, most, 'on the network too');
  t.notOk(listed.some((line) => line.includes(`${name(most)} `)));
  await t.rejects(keeper.channels.create(creation(name(most), made), asker), { code: 'type_limit_reached' });

  // with room again the name is free
  await keeper.channels.remove({ name: name(0), reason: '', immediate: true, cause: 'request' }, asker);
  t.match(await keeper.channels.create(creation(name(most), made), asker), { created: true });
  t.equal((await recorded()).length, most);
});

t.test(
  'CHAN-88 a maker that cannot tell yet opens nothing, and takes back what is one too many',
  async (t) => {
    const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
    const [log, blind] = [await openLog(t, nats.url), await openLog(t, nats.url)];
    const { read } = await openDirectory(t, log);
    const name = (n: number) => `#cat-n${n}`;
    const made = (n: number) => creation(name(n), { type: 'category', modes: '+nt' });
    const create = async (n: number) =>
      await log.append(
        channelStream,
        channelSubject(name(n)),
        { type: 'channel.created', data: made(n) },
        asker,
      );
    for (let n = 0; n < most - 1; n++) await create(n);
    let show: () => void = () => {};
    const shown = new Promise<void>((resolve) => (show = resolve));
    const follow = blind.follow.bind(blind);
    blind.follow = async function* (...options: Parameters<Log['follow']>) {
      await shown;
      yield* follow(...options);
    } as Log['follow'];
    const { channels, logged } = await startKeeper(t, { nats, ircd }, { read, log: blind });
    // its first command counts what there is; another holder of the bot is faster after that
    const nobody = { voice: [], devoice: [], op: [], deop: [] };
    await channels.update({ name: name(0), modes: [], ...nobody }, asker);
    await create(most);
    await t.rejects(channels.create(made(most + 1), asker), { code: 'log_unavailable' });
    show();
    await eventually('it to be looked after', () =>
      logged.some(({ msg, channel }) => msg === 'channel looked after' && channel === name(most + 1)),
    );
    const after = { stream: channelStream.name, seq: await log.head(channelStream) };
    const recorded = await read((sql, schema) => managedChannels(sql, schema, { withPrivate: true }), after);
    t.equal(recorded.length, most, 'the limit holds');
    t.notOk(recorded.some((one) => one.name === name(most + 1)));
    const witness = await operatorOn(t, ircd);
    t.notOk(
      (await witness.ask('LIST')).some((line) => line.includes(` ${name(most + 1)} `)),
      'on the network',
    );
  },
);

t.test('CHAN-94 what an earlier holder of the channel bot records late is carried out', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const keeper = await startKeeper(t, { nats, ircd });
  const guest = await observe(ircd.port, { nick: 'guest' });
  t.teardown(() => guest.stop());
  const witness = await operatorOn(t, ircd);
  const isThere = async (name: string) =>
    (await witness.ask('LIST')).some((line) => line.includes(` 322 ${witness.nick} ${name} `));
  // appended by another process, which can do nothing on the network
  const late = async (fact: ChannelFact) =>
    await keeper.log.append(channelStream, channelSubject(fact.data.name), fact, asker);
  const invite_list = ['guest'];
  await keeper.channels.create(creation('#task-deleted', { invite_list: ['nobody'] }), asker);
  t.ok(await isThere('#task-deleted'));
  await late({ type: 'channel.deleted', data: { name: '#task-deleted', cause: 'automation' } });
  await late({ type: 'channel.created', data: creation('#task-created', { invite_list }) });
  await eventually('the one to be gone', async () => !(await isThere('#task-deleted')));
  await eventually('the other to be there', async () => await isThere('#task-created'));
  await guest.waitUntil(() => guest.raw.some((line) => /:guest!\S+ JOIN :?#task-created/.test(line)));
  const nobody = await observe(ircd.port, { nick: 'nobody' });
  t.teardown(() => nobody.stop());
  await keeper.channels.create(creation('#task-after', { invite_list: ['nobody'] }), asker);
  await nobody.waitUntil(() => nobody.raw.some((line) => / JOIN :?#task-after/.test(line)));
  t.notOk(await isThere('#task-deleted'), 'nobody is brought into a deleted one');
});
