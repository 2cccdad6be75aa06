import t from 'tap';
import { channels } from '../../streams/channels/index.js';
import { postEvent, sampleEvent } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { asker, creation, reconciled, startKeeper } from './keeper.js';
import { channelStage, operatorOn } from './stage.js';

const atOnce = { deleteAfterMs: 1, geographicIdleMs: 1e12, endedTaskMs: 1e12 };

t.test('CHAN-30 a channel that is always there is nobody’s to manage', async (t) => {
  const stage = await channelStage(t, { IRC_CHANNELS: '#bounties,#Lobby,#city-lisbon' });
  const { ask, witness } = stage;
  const isReserved = { status: 409, body: { code: 'channel_reserved' } };
  for (const name of ['#bounties', '#lobby', '#city-lisbon']) {
    t.match(await ask('POST', '/channels', { name, type: 'special', modes: '+i' }), isReserved, name);
    const path = `/channels/${name.slice(1)}`;
    for (const [method, rest, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { topic: 'x' }],
      ['DELETE', '', { immediate: true }],
      ['POST', '/members', { action: 'sapart', nicks: ['ann'] }],
    ] as const)
      t.match(await ask(method, path + rest, body), { status: 404 }, `${method} ${path}${rest}`);
  }
  await witness.join('#city-lisbon');
  const { payload } = sampleEvent('evt-1');
  const event = sampleEvent('evt-1', { payload: { ...payload, location: 'Lisbon, PT' } });
  t.equal((await postEvent(stage.app.url, event)).status, 202);
  await witness.waitFor(({ channel }) => channel === '#city-lisbon');
  const outcomes = async () => {
    const text = await (await fetch(`${stage.app.url}/metrics`)).text();
    const line = /relay_channel_operations_total\{[^}]*outcome="channel_reserved"[^}]*\} (\d+)/.exec(text);
    return Number(line?.[1] ?? 0);
  };
  // three requests, automation and the delivery of the line
  await eventually('automation to have asked', async () => (await outcomes()) === 5);
  t.equal((await ask('GET', '/channels')).body.total, 0);
});

t.test('CHAN-30 nothing is done to one that an older record has as managed', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const older = await startKeeper(t, { nats, ircd }, { lifetimes: atOnce });
  for (const name of ['#lobby', '#payments', '#disputes'])
    await older.channels.create(creation(name, { modes: '+nt', topic: 'Ours' }), asker);
  const { log, read } = older;
  const close = { reason: 'Over', cause: 'automation' as const };
  await older.channels.remove({ ...close, name: '#payments', immediate: false }, asker);
  await older.channels.remove({ ...close, name: '#disputes', immediate: true }, asker);
  await older.stop();

  const witness = await operatorOn(t, ircd);
  await witness.join('#lobby', '#payments', '#disputes');
  await witness.ask('SAMODE #disputes +P', 'SAMODE #lobby +s-t', 'SATOPIC #lobby :Everybody’s');
  const reserved = ['#lobby', '#payments', '#disputes'];
  const schedule = { firstMs: 50, everyMs: 50 };
  const keeper = await startKeeper(t, { nats, ircd }, { log, read, reserved, lifetimes: atOnce, schedule });
  const head = await log.head(channels);
  const isReserved = { code: 'channel_reserved', status: 409 };
  const change = { topic: 'x', modes: [], voice: [], devoice: [], op: [], deop: [] };
  for (const name of ['#lobby', '#payments']) {
    await t.rejects(keeper.channels.create(creation(name), asker), isReserved, name);
    await t.rejects(keeper.channels.update({ name, ...change }, asker), isReserved, name);
    await t.rejects(keeper.channels.remove({ ...close, name, immediate: true }, asker), isReserved, name);
    const members = { name, action: 'sapart' as const, nicks: ['witness'], reason: '' };
    await t.rejects(keeper.channels.members(members, asker), isReserved, name);
  }
  await t.rejects(keeper.channels.update({ name: '#disputes', ...change }, asker), { code: 'not_found' });
  await eventually('time to have come for what is archived', () =>
    keeper.logged.some(({ msg, deleted }) => msg === 'channel lifecycle' && deleted === 1),
  );
  await witness.ask('KILL channelserv :begin a new session');
  await reconciled(keeper, 2);
  const shown = (await witness.ask(...reserved.flatMap((name) => [`NAMES ${name}`, `MODE ${name}`]))).join(
    '\n',
  );
  for (const name of reserved) {
    t.match(shown, new RegExp(` 353 \\S+ . ${name} :[^\\n]*witness`), `nobody was parted from ${name}`);
    t.notMatch(shown, new RegExp(` 353 \\S+ . ${name} :[^\\n]*channelserv`), name);
    t.notMatch(shown, new RegExp(` 324 \\S+ ${name} \\S*i`), name);
  }
  t.match(shown, / 324 \S+ #lobby \+\S*s/, 'left as it was found');
  t.notMatch(
    JSON.stringify(keeper.logged),
    /cannot be managed/,
    'what is due does not keep the others waiting',
  );
  t.equal(await log.head(channels), head, 'nothing was decided');
});
