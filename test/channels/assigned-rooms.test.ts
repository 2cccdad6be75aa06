import t, { type Test } from 'tap';
import { postEvent } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { channelStage } from './stage.js';

const key = { 'x-api-key': 'k'.repeat(32) };

async function stage(t: Test) {
  const place = await channelStage(t, { API_KEYS: `ops:${key['x-api-key']}` });
  const password = place.ircd.serverPassword;
  const user = async (nick: string) => {
    const observer = await observe(place.ircd.port, { nick, password });
    t.teardown(() => observer.stop());
    return observer;
  };
  const [worker, stranger] = await Promise.all([user('worker'), user('stranger')]);
  let events = 0;
  const post = async (event_type: string, payload: Record<string, unknown>) => {
    const event_id = `evt-${++events}`;
    const event = { event_id, event_type, source: 'marketplace', payload };
    t.equal((await postEvent(place.app.url, event)).status, 202, event_type);
  };
  const assign = (id: string) => post('task.assigned', { id, title: 'Secret', worker_nick: 'worker' });
  const shown = (room: string, text: string) =>
    worker.waitFor(({ channel, text: line }) => channel === room && line.includes(text));
  return { ...place, worker, stranger, post, assign, shown };
}

const wasPutOut = (stranger: Observer, room: string) =>
  stranger.raw.some(
    (line) => line.includes(` KICK ${room} stranger :`) && /assigned now: only people/.test(line),
  );

/** A stranger to the task is not in the room, does not see it, and was not told anything. */
async function isClosedTo(t: Test, stranger: Observer, room: string): Promise<void> {
  await stranger.waitUntil(() => wasPutOut(stranger, room), 'the reason why it was put out');
  t.same(
    stranger.texts(room).filter((text) => /Secret|ASSIGNED/.test(text)),
    [],
  );
  t.notOk(stranger.raw.some((line) => line.includes('Secret')));
  t.match((await stranger.ask(`JOIN ${room}`)).join('\n'), / 473 /);
  t.notMatch(
    (await stranger.ask('LIST', `NAMES ${room}`, `WHO ${room}`)).join('\n'),
    /worker|em-bot|322 .*#task/,
  );
}

t.test('CHAN-85 whoever sat in the name of a task’s room is put out when it is assigned', async (t) => {
  const { stranger, worker, assign, shown, modes, names } = await stage(t);
  const room = '#task-early001';
  await stranger.join(room);
  await stranger.ask(`MODE ${room} +H 100:1d`);
  stranger.send(`PRIVMSG ${room} :send your wallet to me`);
  await assign('early001-1');
  await shown(room, '[ASSIGNED]');
  await isClosedTo(t, stranger, room);
  t.equal(await modes(room), 'HPinst 100:1d');
  t.same(await names(room), ['@channelserv', 'em-bot', 'worker']);
  t.notOk(worker.raw.some((line) => line.includes('send your wallet')));
});

t.test('CHAN-85 a room that another event opened is closed by the assignment', async (t) => {
  const { ask, stranger, worker, post, assign, shown, modes, names } = await stage(t);
  const room = '#task-other001';
  await worker.join('#bounties');
  await post('rating.created', { id: 'other001-1', score: 5, comment: 'first of all' });
  await eventually('the room', async () => (await modes(room)) !== undefined);
  await stranger.join(room);
  await stranger.waitUntil(() => stranger.replayed.length + stranger.texts(room).length > 0);
  stranger.send(`PRIVMSG ${room} :send your wallet to me`);
  const seen = stranger.texts(room).length;
  await assign('other001-1');
  await shown(room, '[ASSIGNED]');
  await isClosedTo(t, stranger, room);
  t.equal(stranger.texts(room).length, seen, 'nothing since');
  t.equal(await modes(room), 'HPinst 100:1d');
  t.notOk((await names(room)).some((nick) => /stranger/.test(nick)));
  t.notOk(
    worker.raw.some((line) => line.includes('send your wallet')),
    'nor is what was said before shown',
  );
  const isClosed = async () =>
    /i/.test((await ask('GET', `/channels/${room.slice(1)}`, undefined, key)).body.modes);
  await eventually('the directory to say so', isClosed);
  t.equal((await ask('GET', `/channels/${room.slice(1)}`)).status, 404, 'nobody without a key sees it');
  await post('rating.created', { id: 'other001-1', score: 5, comment: 'last of all' });
  await shown(room, 'last of all');
  t.notOk(stranger.raw.some((line) => line.includes('last of all')));
});

t.test('CHAN-85 what an operator closed before is closed to whoever the task does not name', async (t) => {
  const { ask, stranger, assign, shown } = await stage(t);
  const room = '#task-kept0001';
  const create = { name: room, type: 'special', modes: '+nt' };
  t.equal((await ask('POST', '/channels', create, key)).status, 201);
  await stranger.join(room);
  t.equal((await ask('PATCH', `/channels/${room.slice(1)}`, { modes: '+i' }, key)).status, 200);
  await assign('kept0001-1');
  await shown(room, '[ASSIGNED]');
  await isClosedTo(t, stranger, room);
});

t.test('CHAN-85 what was said in a closed room is not shown to who comes when it is opened', async (t) => {
  const { ask, worker, stranger, modes } = await stage(t);
  for (const [room, closed, opened] of [
    ['#den-one', '+i', '-i'],
    ['#den-two', '+k secret', '-k'],
    ['#den-three', '+s', '-s'],
  ] as const) {
    const create = { name: room, type: 'special', modes: `+nt${closed.slice(1)}`, invite_list: ['worker'] };
    t.equal((await ask('POST', '/channels', create, key)).status, 201);
    await worker.waitUntil(() => worker.raw.some((line) => line.includes(` 366 worker ${room} `)));
    await worker.ask(`PRIVMSG ${room} :between us`);
    t.equal((await ask('PATCH', `/channels/${room.slice(1)}`, { modes: opened }, key)).status, 200);
    await worker.ask(`PRIVMSG ${room} :for all`);
    t.match(await modes(room), /^HPnt 100:1d$/);
    await stranger.join(room);
    await stranger.waitUntil(() => stranger.raw.some((line) => line.includes(`${room} :for all`)));
    t.notOk(
      stranger.raw.some((line) => line.includes(`${room} :between us`)),
      room,
    );
  }
});
