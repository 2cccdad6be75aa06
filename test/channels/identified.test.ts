import t from 'tap';
import { identity, registrySubject } from '../../streams/identity/index.js';
import { startAccountNetwork, withoutAnope } from '../support/anope.js';
import { postEvent, startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startNats } from '../support/nats.js';
import { openLog } from './keeper.js';
import { askOf, environmentOf, operatorOn, untilKept } from './stage.js';

const options = { skip: withoutAnope, timeout: 120_000 };
const told = (user: Observer, room: string) =>
  user.waitFor(
    ({ command, nick, text }) =>
      command === 'NOTICE' && nick === 'channelserv' && text.includes(room) && /IDENTIFY/.test(text),
  );

t.test('CHAN-86 who may be somebody else is not brought into a closed room', options, async (t) => {
  const [nats, network] = await Promise.all([startNats(t), startAccountNetwork(t)]);
  const { ircd, register, identify } = network;
  const password = ircd.serverPassword;
  const user = async (nick: string) => {
    const observer = await observe(ircd.port, { nick, password });
    t.teardown(() => observer.stop());
    return observer;
  };
  const alice = await user('alice');
  await register(alice, 'alice-password');
  await alice.stop();
  const { url } = await startApp(t, environmentOf({ nats, ircd }));
  await untilKept(url);
  const log = await openLog(t, nats.url);
  const data = { nick: 'bob', wallet_address: `0x${'b'.repeat(40)}`, identified: true };
  await log.append(identity, registrySubject, { type: 'identity.linked', data }, { by: 'test' });
  await eventually('the link', async () => (await askOf(url, 'GET', '/identity/by-nick/bob')).status === 200);

  const [impostor, bob, carl, witness] = await Promise.all([
    user('alice'),
    user('bob'),
    user('carl'),
    operatorOn(t, ircd),
  ]);
  let events = 0;
  const assign = async (id: string, worker_nick: string, publisher_nick: string) => {
    const payload = { id, title: 'Secret', worker_nick, publisher_nick };
    const event = { event_id: `evt-${++events}`, event_type: 'task.assigned', source: 'market', payload };
    t.equal((await postEvent(url, event)).status, 202);
  };
  const isIn = async (nick: string, room: string) =>
    (await witness.ask(`NAMES ${room}`)).some((line) => new RegExp(`353 .*[ :+]${nick}( |$)`).test(line));
  const sees = (observer: Observer, room: string) =>
    observer.raw.some((line) => line.includes(`JOIN :${room}`));

  await t.test('of a registered nick, until they are identified', async (t) => {
    const room = '#task-regist01';
    await assign('regist01-1', 'alice', 'carl');
    await carl.waitFor(({ channel, text }) => channel === room && text.includes('[ASSIGNED]'));
    await told(impostor, room);
    t.notOk(await isIn('alice', room));
    t.notOk(impostor.raw.some((line) => line.includes('Secret')));
    await impostor.ask('NICK mallory');
    const second = await user('alice');
    await told(second, room);
    t.notOk(await isIn('alice', room), 'nor whoever has the nick next');
    await identify(second, 'alice', 'alice-password');
    await eventually('the owner to be in the room', () => isIn('alice', room));
    t.notOk(await isIn('mallory', room));
    await second.stop();
  });

  await t.test('of a linked nick that is not registered', async (t) => {
    const room = '#task-linked01';
    await assign('linked01-1', 'bob', 'carl');
    await carl.waitFor(({ channel, text }) => channel === room && text.includes('[ASSIGNED]'));
    await told(bob, room);
    t.notOk(await isIn('bob', room));
    await register(bob, 'bob-password');
    await eventually('bob to be in the room', () => isIn('bob', room));
    const asked = bob.raw.filter((line) => line.includes('NOTICE') && line.includes(`expected in ${room}`));
    t.equal(asked.length, 1, 'who waits is told once');
  });

  await t.test('who sat in the room already and may be somebody else is put out', async (t) => {
    const room = '#task-seated01';
    const seated = await user('alice');
    await seated.join(room);
    await assign('seated01-1', 'alice', 'carl');
    await carl.waitFor(({ channel, text }) => channel === room && text.includes('[ASSIGNED]'));
    await told(seated, room);
    t.notOk(await isIn('alice', room));
    t.notOk(seated.texts(room).some((text) => text.includes('ASSIGNED')));
    await identify(seated, 'alice', 'alice-password');
    await eventually('the owner to be in the room', () => isIn('alice', room));
  });

  await t.test('another account than the nick’s is not enough', async (t) => {
    const room = '#task-second01';
    await bob.ask('NICK dave');
    const data = { nick: 'dave', wallet_address: `0x${'d'.repeat(40)}`, identified: true };
    await log.append(identity, registrySubject, { type: 'identity.linked', data }, { by: 'test' });
    await eventually('it', async () => (await askOf(url, 'GET', '/identity/by-nick/dave')).status === 200);
    await assign('second01-1', 'dave', 'carl');
    await carl.waitFor(({ channel, text }) => channel === room && text.includes('[ASSIGNED]'));
    await told(bob, room);
    t.notOk(await isIn('dave', room));
    t.notOk(sees(bob, room));
  });
});
