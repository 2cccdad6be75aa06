import t from 'tap';
import { startFakeServer } from '../irc/fake-server.js';
import { alice, stage } from './stage.js';

t.test('SPEAK-06 who is kicked as it comes in is told so, and stays out', async (t) => {
  const { gateway, say } = await stage(t);
  const server = await startFakeServer(t, (line) => {
    const [, label] = /^@label=(\w+)\S* JOIN #lobby$/.exec(line) ?? [];
    if (label === undefined) return undefined;
    return [`@label=${label} :alice!u@h JOIN #lobby`, ':witness!w@h KICK #lobby alice :not you'];
  });
  const one = await gateway({ url: server.url });
  const kicked = { code: 'refused_by_network', message: 'Kicked at once by witness' };
  await t.rejects(one.say(say('hello', 'k1')), kicked);
  await t.rejects(one.join({ ...alice, channel: '#lobby' }), kicked);
  t.equal(server.received.filter((line) => line.endsWith(' JOIN #lobby')).length, 2, 'once for each request');
  t.match(await one.say({ ...say('psst', 'k2'), to: 'witness' }), { is: 'shown' }, 'nothing is held up');
});
