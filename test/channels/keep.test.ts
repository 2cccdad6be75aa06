import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { channelOperations, managedChannel, managedChannels } from '../../projections/channels/queries.js';
import { channels as channelStream } from '../../streams/channels/index.js';
import { Unavailable } from '../../streams/core/index.js';
import { eventToken, market, marketSubject } from '../../streams/events/index.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { asker, creation, type Keeper, openDirectory, openLog, reconciled, startKeeper } from './keeper.js';
import { operatorOn } from './stage.js';

async function servers(t: Test) {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  return { nats, ircd };
}

/** The directory with everything that is recorded. */
async function directory({ read, log }: Keeper) {
  const after = { stream: channelStream.name, seq: await log.head(channelStream) };
  return await read((sql, schema) => managedChannels(sql, schema, { withPrivate: true }), after);
}

async function told(log: Keeper['log'], id: string, event_type: string, task: string): Promise<void> {
  const data = { event_id: id, event_type, source: 'market', payload: { id: task } };
  const fact = {
    type: 'event.received' as const,
    data: { ...data, target_channels: [], formatted_message: '-' },
  };
  await log.appendOnce(market, marketSubject(eventToken(id)), fact, { by: 'market' });
}

t.test('CHAN-18 CHAN-19 CHAN-20 time closes channels, and goes on where it was interrupted', async (t) => {
  const place = await servers(t);
  const log = await openLog(t, place.nats.url);
  const { read } = await openDirectory(t, log);
  const patient = await startKeeper(t, place, { log, read });
  for (const name of ['#task-ended', '#task-open']) await patient.channels.create(creation(name), asker);
  for (const name of ['#city-idle', '#city-old'])
    await patient.channels.create(creation(name, { type: 'geographic', modes: '+nt' }), asker);
  await told(log, 'e1', 'task.completed', 'ended');
  await told(log, 'e2', 'task.assigned', 'open');
  await patient.stop();

  const hasty = { schedule: { firstMs: 100, everyMs: 200 } };
  const archiver = await startKeeper(t, place, {
    log,
    read,
    ...hasty,
    lifetimes: { deleteAfterMs: 0, geographicIdleMs: 86_400_000, endedTaskMs: 0 },
  });
  await eventually('the ended task’s channel to be deleted', async () => {
    const names = (await directory(archiver)).map(({ name }) => name);
    return !names.includes('#task-ended') && names.length === 3;
  });
  const records = await read((sql, schema) =>
    channelOperations(sql, schema, { name: '#task-ended', limit: 10, withPrivate: true }),
  );
  t.same(
    records.map(({ operation }) => operation),
    ['lifecycle-delete', 'lifecycle-archive', 'create'],
  );
  await archiver.stop();

  const idle = await startKeeper(t, place, {
    log,
    read,
    ...hasty,
    lifetimes: { deleteAfterMs: 86_400_000, geographicIdleMs: 1, endedTaskMs: 86_400_000 },
  });
  await eventually('the idle cities to be archived', async () =>
    (await directory(idle)).every(
      ({ type, archived_at }) => (type === 'geographic') === (archived_at !== null),
    ),
  );
  const city = await read((sql, schema) => managedChannel(sql, schema, '#city-idle'));
  t.match(city, { topic: '[ARCHIVED]', modes: '+ntm', archive_reason: 'Nothing was done for 0 days' });
  const witness = await operatorOn(t, place.ircd);
  const listed = await witness.ask('LIST');
  t.notOk(
    listed.some((line) => line.includes('#task-ended')),
    'gone from the network',
  );
  t.match(
    listed.find((line) => line.includes('#city-idle')),
    /\[\+HPmnt 100:1d\] \[ARCHIVED\]/,
  );
});

t.test(
  'CHAN-82 a category that nobody is in is archived in time, and one that somebody is in is not',
  async (t) => {
    const place = await servers(t);
    const keeper = await startKeeper(t, place, {
      schedule: { firstMs: 100, everyMs: 200 },
      lifetimes: { deleteAfterMs: 86_400_000, geographicIdleMs: 8_000, endedTaskMs: 86_400_000 },
    });
    const bot = await observe(place.ircd.port, { nick: 'em-bot', password: place.ircd.serverPassword });
    t.teardown(() => bot.stop());
    const guest = await observe(place.ircd.port, { nick: 'guest', password: place.ircd.serverPassword });
    t.teardown(() => guest.stop());
    const category = (name: string, invite_list: string[]) =>
      keeper.channels.create(creation(name, { type: 'category', modes: '+nt', invite_list }), asker);
    await category('#cat-empty', ['em-bot']);
    await category('#cat-used', ['em-bot', 'guest']);
    await eventually('the empty category to be archived', async () =>
      (await directory(keeper)).some(
        ({ name, archived_at }) => name === '#cat-empty' && archived_at !== null,
      ),
    );
    const [used] = (await directory(keeper)).filter(({ name }) => name === '#cat-used');
    t.match(used, { archived_at: null }, 'somebody is there');
  },
);

t.test('CHAN-83 archived channels do not count against the limit of their type', async (t) => {
  const place = await servers(t);
  const { channels } = await startKeeper(t, place);
  const name = (n: number) => `#cat-n${n}`;
  const create = (n: number) => channels.create(creation(name(n), { type: 'category', modes: '+nt' }), asker);
  for (let n = 0; n < 100; n++) await create(n);
  const limit = { code: 'type_limit_reached' };
  await t.rejects(create(100), limit);
  const remove = (n: number, immediate: boolean) =>
    channels.remove({ name: name(n), reason: 'Done', immediate, cause: 'request' }, asker);
  await remove(0, false);
  await create(100);
  await t.rejects(create(101), limit, 'one was archived, one came');
  await remove(0, true);
  await t.rejects(create(101), limit, 'what was archived does not count a second time');
  await remove(1, true);
  await create(101);
});

t.test('CHAN-21 CHAN-22 the network is brought back to what is recorded', async (t) => {
  const place = await servers(t);
  const { ircd } = place;
  const keeper = await startKeeper(t, place);
  const bot = await observe(ircd.port, { nick: 'em-bot', password: ircd.serverPassword });
  t.teardown(() => bot.stop());
  const names = Array.from({ length: 50 }, (_, n) => `#task-n${n}`);
  await Promise.all(
    names.map((name) =>
      keeper.channels.create(creation(name, { topic: `Task ${name}`, invite_list: ['em-bot'] }), asker),
    ),
  );
  await keeper.channels.remove(
    { name: '#task-n7', reason: 'Done', immediate: false, cause: 'automation' },
    asker,
  );
  await ircd.kill();
  await ircd.start();
  await reconciled(keeper, 2);
  const witness = await operatorOn(t, ircd);
  const botIn = async () => {
    const lines = await witness.ask(...names.map((name) => `NAMES ${name}`));
    return names.filter((name) => lines.some((line) => line.includes(` ${name} :`) && /em-bot/.test(line)));
  };
  await eventually('em-bot to be in every channel again', async () => (await botIn()).length === 50);
  const listed = async (name: string) =>
    / \d+ :(.*)$/.exec((await witness.ask('LIST')).find((line) => line.includes(` ${name} `)) ?? '')?.[1];
  for (const name of names) {
    t.ok(keeper.irc.session()!.isIn(name), name);
    if (name !== '#task-n7') t.equal(await listed(name), `[+HPinst 100:1d] Task ${name}`);
  }
  t.equal(await listed('#task-n7'), '[+HPimnst 100:1d] [ARCHIVED] Done');
  await eventually('em-bot to have a voice in the closed room', async () =>
    /\+em-bot/.test((await witness.ask('NAMES #task-n7')).join(' ')),
  );

  // while the bot is away: one is deleted, one opened, one tampered with, and one is made by somebody else
  await keeper.stop();
  const remains = keeper.log;
  await remains.append(
    channelStream,
    'channels.task-n3',
    { type: 'channel.deleted', data: { name: '#task-n3', cause: 'request' } },
    asker,
  );
  const { cause, ...half } = creation('#task-half', { topic: 'Half done', invite_list: ['em-bot'] });
  await remains.append(
    channelStream,
    'channels.task-half',
    { type: 'channel.created', data: { ...half, cause } },
    asker,
  );
  await witness.ask('SAMODE #task-n5 +k theirs');
  await witness.ask('SAMODE #task-n4 -i+ms', 'SATOPIC #task-n4 :mine now', 'SAJOIN witness #task-free');
  const again = await startKeeper(t, place, { log: remains, read: keeper.read });
  t.match(await reconciled(again), { repaired: 3, recreated: 1, removed: 1, missing: 0, channels: 50 });
  t.equal(await listed('#task-n3'), undefined);
  t.equal(await listed('#task-n4'), '[+HPinst 100:1d] Task #task-n4');
  t.equal(await listed('#task-half'), '[+HPinst 100:1d] Half done', 'a creation that a crash cut off');
  t.match((await witness.ask('NAMES #task-half')).join(' '), /em-bot/);
  t.match(await listed('#task-free'), /\[\+nt\]/, 'not ours');
  t.match(
    again.logged.find(({ msg, channel }) => msg === 'channel repaired' && channel === '#task-n5'),
    { changed: ['modes -k theirs'] },
  );
  t.match(
    again.logged.find(({ msg, channel }) => msg === 'channel repaired' && channel === '#task-n4'),
    { channel: '#task-n4', changed: ['modes -m+i', 'topic'] },
  );
});

t.test('CHAN-22 a read model that lags or has halted repairs nothing', async (t) => {
  const place = await servers(t);
  const log = await openLog(t, place.nats.url);
  const directory = await openDirectory(t, log);
  const first = await startKeeper(t, place, { log, read: directory.read });
  await first.channels.create(creation('#task-den', { topic: 'Before' }), asker);
  await first.stop();
  const witness = await operatorOn(t, place.ircd);
  await witness.ask('SAMODE #task-den -i+m', 'SATOPIC #task-den :of somebody else');
  await witness.ask('SAJOIN witness #task-den');

  let behind = true;
  const read: Keeper['read'] = async (query, after) => {
    if (behind && after) throw new Unavailable('read_model_behind', 'The read model lags', 1);
    return await directory.read(query, after);
  };
  const starting = startKeeper(t, place, { log, read });
  const seen = () => witness.raw.filter((line) => /^\S*:channelserv\S* (MODE|TOPIC|KICK|JOIN) /.test(line));
  await eventually('the bot to be on the network', async () =>
    (await witness.ask('ISON channelserv')).some((line) => / 303 .*channelserv/.test(line)),
  );
  for (let n = 0; n < 20; n += 1) await witness.ask('PING :now'); // time to do harm in
  await delay(1_000);
  await witness.ask('PING :later');
  t.same(seen(), [], 'nothing is done with what may be of yesterday');

  behind = false;
  t.match(await reconciled(await starting), { repaired: 1, channels: 1 });
  t.match((await witness.ask('TOPIC #task-den')).join(' '), /:Before/);
});

t.test('CHAN-10 an event opens a channel once, also after its deletion', async (t) => {
  const keeper = await startKeeper(t, await servers(t), {
    limits: { creations: 1, deletions: 1, memberOperations: 1 },
  });
  const { channels } = keeper;
  const by = (event_seq: number) => creation('#task-once', { event_seq });
  const close = (event_seq: number, immediate = false) =>
    ({ name: '#task-once', reason: 'x', immediate, cause: 'automation', event_seq }) as const;
  t.match(await channels.create(by(3), asker), { created: true });
  for (let n = 0; n < 5; n++) await channels.create(creation(`#task-more${n}`), asker);
  await t.rejects(channels.create(by(3), asker), { code: 'channel_exists', status: 409 });
  t.match(await channels.remove(close(5), asker), { is: 'archived' });
  t.match(await channels.remove(close(5), asker), { is: 'archived' }, 'again');
  t.match(await channels.remove(close(6, true), asker), { is: 'deleted' });
  await t.rejects(channels.create(by(3), asker), { code: 'channel_exists' }, 'the event was acted upon');
  t.match(await channels.create(by(9), asker), { created: true });
  await t.rejects(channels.remove(close(5), asker), { code: 'not_found' }, 'not this life of the channel');
  t.equal((await directory(keeper)).find(({ name }) => name === '#task-once')?.archived_at, null);
});

t.test('CHAN-10 an event brings in whom its room lacks when its opening is asked for again', async (t) => {
  const place = await servers(t);
  const { channels } = await startKeeper(t, place);
  const ann = await observe(place.ircd.port, { nick: 'ann' });
  t.teardown(() => ann.stop());
  const name = '#task-half';
  await channels.create(creation(name, { event_seq: 3 }), asker);
  const asked = { name, nicks: ['ann'], event_seq: 3, modes: '+int' };
  t.match(await channels.invite(asked, asker), { invited: ['ann'] }, 'whoever made it may have ended before');
  await ann.ask(`PART ${name}`);
  t.match(
    await channels.invite({ ...asked, event_seq: 2 }, asker),
    { invited: [] },
    'not for an older event',
  );
  await channels.remove({ name, reason: 'x', immediate: false, cause: 'automation', event_seq: 5 }, asker);
  t.match(await channels.invite(asked, asker), { invited: [] }, 'not into an archived one');
});

t.test('CHAN-86 a nick service that is away since before our start is waited for', async (t) => {
  const place = await servers(t);
  let accounts: () => Promise<boolean> = async () => {
    throw new Unavailable('read_model_building', 'gone');
  };
  const { channels } = await startKeeper(t, place, { hasAccounts: () => accounts() });
  const ann = await observe(place.ircd.port, { nick: 'ann' });
  t.teardown(() => ann.stop());
  const open = (name: string) => channels.create(creation(name, { invite_list: ['ann'] }), asker);
  t.match(await open('#task-unknown'), { invited: [], failed_invites: ['ann'] }, 'nobody can tell');
  accounts = async () => false;
  t.match(await open('#task-without'), { invited: ['ann'] }, 'there is none');
  accounts = async () => true;
  t.match(await open('#task-away'), { invited: [], failed_invites: ['ann'] }, 'it is away');
  await ann.waitFor(({ command, text }) => command === 'NOTICE' && /#task-away.*service is away/.test(text));
});

t.test(
  'CHAN-05 CHAN-21 a keeper that comes back waits for who is away, and leaves alone who has left',
  async (t) => {
    const place = await servers(t);
    const first = await startKeeper(t, place);
    const ann = await observe(place.ircd.port, { nick: 'ann' });
    t.teardown(() => ann.stop());
    const created = await first.channels.create(
      creation('#task-guests', { invite_list: ['ann', 'bob', 'carl'] }),
      asker,
    );
    t.same([created.invited, created.failed_invites], [['ann'], ['bob', 'carl']]);
    await ann.ask('PART #task-guests');
    await first.channels.members(
      { name: '#task-guests', action: 'sapart', nicks: ['carl'], reason: '' },
      asker,
    );
    await first.stop();
    const second = await startKeeper(t, place, { log: first.log, read: first.read });
    for (const nick of ['bob', 'carl']) {
      const guest = await observe(place.ircd.port, { nick });
      t.teardown(() => guest.stop());
    }
    const witness = await operatorOn(t, place.ircd);
    const inside = async () => (await witness.ask('NAMES #task-guests')).join(' ');
    await eventually('bob to be brought in', async () => /\bbob\b/.test(await inside()));
    t.notMatch(await inside(), /\bann\b/);
    t.match(await inside(), /\bcarl\b/, 'a nick that was nowhere was not parted');
    t.ok(second.irc.session()?.oper);
  },
);

t.test('CHAN-27 a bot that is shut out, or whose nick is taken, comes back with pauses', async (t) => {
  const place = await servers(t);
  const { ircd } = place;
  const keeper = await startKeeper(t, place);
  const witness = await operatorOn(t, ircd);
  await witness.ask('KILL channelserv :away with you');
  const thief = await observe(ircd.port, { nick: 'channelserv' });
  t.teardown(() => thief.stop());
  await reconciled(keeper, 2);
  t.equal(keeper.irc.session()?.nick, 'channelserv', 'has its nick again');
  const ended = keeper.logged.filter(({ msg }) => msg === 'irc connection');
  t.match(ended[0], { rejected: true });
  t.ok((ended[0]!.nextMs as number) >= 1_000, `a pause of ${ended[0]!.nextMs} ms after a KILL`);
  await witness.ask('KILL channelserv :and again');
  await reconciled(keeper, 3);
  const pauses = keeper.logged
    .filter(({ msg }) => msg === 'irc connection')
    .map(({ nextMs }) => nextMs as number);
  t.ok(pauses.length <= 3 && pauses[1]! >= 2_000, `pauses of ${pauses} ms`);
});
