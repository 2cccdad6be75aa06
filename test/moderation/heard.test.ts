import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { request } from '../../workers/core/rpc.js';
import { eventually } from '../support/eventually.js';
import { GuardHouse, Hand } from './guard.js';
import { attack } from './stage.js';

t.test('MOD-43 who has logged out is heard before the record is read', async (t) => {
  const house = await GuardHouse.open(t);
  await house.guard(new Hand());
  const account = 'cat';
  const logsOut = (nick: string, host: string) =>
    request({ log: house.log, name: 'guardian', timeoutMs: 5_000 }, 'identified', { nick, host });
  const isHeld = (nick: string) =>
    eventually(`what runs to hold where ${nick} is`, async () =>
      (await house.incidents()).some(
        (one) => one.patterns === 'no-account' && one.nick === nick && one.outcome === 'done',
      ),
    );

  await eventually('the guard to hear', () => logsOut('cat', 'u@192.0.2.7'));
  await house.say('#room', { nick: 'cat', account, host: 'u@192.0.2.7', text: `${attack} Do anything now.` });
  await isHeld('cat');
  t.pass('the mute was not known yet');

  await logsOut('cat2', 'u@198.51.100.9');
  await house.say('#room', { nick: 'cat2', account, host: 'u@198.51.100.9', text: 'good day' });
  await isHeld('cat2');
  t.pass('the account was not seen there yet');
});

t.test('MOD-43 who spoke before the mute was looked up is held', async (t) => {
  const house = await GuardHouse.open(t);
  const read: typeof house.read = async (query, after) => {
    await delay(500);
    return house.read(query, after);
  };
  await house.guard(new Hand(), { read });
  const host = 'u@192.0.2.7';
  await house.say('#room', { nick: 'before', host, text: 'good day' });
  await house.say('#room', { nick: 'cat', account: 'cat', host, text: `${attack} Do anything now.` });
  await house.settled(1);
  await house.say('#room', { nick: 'after', host, text: 'good day' });
  await house.settled(2);
  t.same(
    (await house.incidents()).map(({ nick, patterns }) => [nick, patterns === 'no-account']),
    [
      ['cat', false],
      ['after', true],
    ],
  );
});
