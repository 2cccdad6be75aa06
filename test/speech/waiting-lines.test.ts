import t from 'tap';
import { lineSubject, lineToken, speech } from '../../streams/speech/index.js';
import { openLog } from '../identity/log.js';
import { startFakeServer } from '../irc/fake-server.js';
import { eventually } from '../support/eventually.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { alice, hourMs, stage } from './stage.js';

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

t.test('SPEAK-18 a line counts among those of its agent until it ends', async (t) => {
  const { ircd, log, gateway, say } = await stage(t);
  const relay = await startTcpRelay(t, ircd.port);
  const one = await gateway({ url: relay.url, most: 1 });
  await one.connect(alice);
  relay.refuse(true);
  relay.cut();
  // nobody waits for these
  for (let n = 0; n < 20; n++) {
    const { by, key, ...line } = say(`line ${n}`, `k${n}`);
    const data = { ...line, id: lineToken('alice', key) };
    await log.append(speech, lineSubject('alice', data.id), { type: 'line.requested', data }, { by });
  }
  // lines are taken in hand in the order of the log
  const other = { ...say('no place for me', 'k'), nick: 'bob', by: 'agent:bob:1' };
  await t.rejects(one.say(other), { code: 'too_many_agents' });
  const more = say('one more', 'more');
  await t.rejects(one.say(more), { code: 'rate_limited' });
  const asked = one.say(say('line 0', 'k0'));
  relay.refuse(false);
  await t.resolves(asked, 'one of them is asked for again');
  await eventually('one more', async () => (await one.say(more)).is === 'shown');
});

t.test('SPEAK-10 a line whose time is over when its channel is entered is not said', async (t) => {
  const { nats, gateway, say } = await stage(t);
  const log = await openLog(t, nats);
  const now = log.now.bind(log);
  let passedMs = 0;
  log.now = () => new Date(now().getTime() + passedMs);
  const server = await startFakeServer(t, (line) => {
    if (line.endsWith(' JOIN #lobby')) passedMs = hourMs;
    return undefined;
  });
  const one = await gateway({ log, url: server.url });
  let asked = 0;
  const isShown = async () => {
    const { is } = await one.say({ ...say('in time', `${asked++}`), to: 'witness' });
    return is === 'shown';
  };
  // what is asked for while it takes over is in doubt
  await eventually('it to have the lines', isShown);
  const late = [say('too late', 'k1'), { ...say('too late', 'k2'), to: '#payments' }];
  for (const said of await Promise.all(late.map((line) => one.say(line))))
    t.match(said, { is: 'expired', in_doubt: false });
  t.notOk(server.received.some((line) => /too late|JOIN #payments/.test(line)));
  passedMs = 0;
  t.ok(await isShown(), 'the next one is said');
});
