import t from 'tap';
import { moderation, personDecider, personSubject } from '../../streams/moderation/index.js';
import { eventually } from '../support/eventually.js';
import { GuardHouse, Hand } from './guard.js';
import { attack } from './stage.js';

t.test('MOD-43 a pardon lifts what holds at another host, also one with an IPv6 address', async (t) => {
  const house = await GuardHouse.open(t);
  await house.guard(new Hand());
  const account = 'cat';
  for (const [n, other] of ['192.0.2.7', '2001:db8:2::9'].entries()) {
    const channel = `#room-${n}`;
    await house.say(channel, {
      nick: 'cat',
      account,
      host: 'u@2001:db8:1::7',
      text: `${attack} Do anything now.`,
    });
    const mute = await eventually('the mute', async () =>
      (await house.incidents()).find(
        (one) => one.channel === channel && one.action === 'quiet' && one.outcome === 'done',
      ),
    );
    const held = await eventually('the mute of who has logged out elsewhere', async () => {
      await house.say(channel, { nick: 'cat', account, host: `u@${other}`, text: 'good day' });
      await house.say(channel, { nick: 'tom', host: `u@${other}`, text: 'good day' });
      return (await house.incidents()).find(
        (one) => one.channel === channel && one.patterns === 'no-account' && one.outcome === 'done',
      );
    });
    t.match(held, { nick: 'tom', action: 'quiet', lifted_at: null }, other);
    const fact = await house.log.at(moderation, mute.id);
    const { ref } = fact!.data as { ref: string };
    const pardon = { is: 'pardon' as const, subject: personSubject('account cat'), ref, reason: 'a test' };
    await house.log.handle(moderation, personDecider, pardon, { by: 'test' });
    const lifted = await eventually('both to be lifted', async () => {
      const both = (await house.incidents()).filter(({ id }) => id === mute.id || id === held.id);
      return both.every(({ lifted_at }) => lifted_at !== null) && both;
    });
    t.equal(lifted.length, 2, `at ${other}`);
  }
});
