import { connect } from 'node:net';
import t from 'tap';
import { lineSubject, lineToken } from '../../streams/speech/index.js';
import type { Dial } from '../../workers/irc/transport.js';
import { eventually } from '../support/eventually.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { alice, owner, stage } from './stage.js';

t.jobs = 2;

t.test('SPEAK-12 a line of the former owner puts nobody out', async (t) => {
  const { ircd, witness, gateway, say, facts } = await stage(t);
  const relay = await startTcpRelay(t, ircd.port);
  let dials = 0;
  const dial: Dial = (to) => {
    dials += 1;
    return connect(to);
  };
  relay.refuse(true);
  const one = await gateway({ connection: { url: relay.url, dial } });
  const early = one.say(say('of the former owner', 'k1')).catch(() => undefined);
  await eventually('the line to be in hand', () => dials > 0);
  const coming = one.connect(owner).catch(() => undefined);
  relay.refuse(false);
  await Promise.all([coming, early]);
  await eventually('the owner to be there', async () => (await one.connect(owner)).connected);
  const [, end] = await eventually('the end of the line', async () => {
    const found = await facts(lineSubject('alice', lineToken('alice', 'k1')));
    return found.length === 2 && found;
  });
  t.match(end, { type: 'line.refused', data: { code: 'nick_in_use' } });
  t.match(await one.look(owner), { connected: true });
  await witness.ask();
  t.same(witness.texts('#lobby'), []);
  t.match(await one.say({ ...say('of the owner', 'k2'), ...owner }), { is: 'shown' });
});

t.test('SPEAK-12 a line of an operator is said by whoever has the nick', async (t) => {
  const { witness, gateway, say } = await stage(t);
  const one = await gateway();
  const before = await one.join({ ...alice, channel: '#lobby' });
  const line = { ...say('for her', 'k1'), person: undefined, by: 'ops' };
  t.match(await one.say(line), { is: 'shown' });
  t.same(await one.look(alice), before);
  await witness.ask();
  t.notOk(
    witness.raw.some((raw) => /:alice!\S+ QUIT/.test(raw)),
    'it has not left for that',
  );
});

t.test('SPEAK-12 a new owner neither sees nor steers the connection of the former one', async (t) => {
  const { witness, gateway } = await stage(t);
  const one = await gateway();
  await one.join({ ...alice, channel: '#lobby' });
  const before = await one.away({ ...alice, message: 'With bob' });
  const absent = {
    connected: false,
    nick: 'alice',
    since: null,
    identified: false,
    channels: [],
    away: null,
  };
  t.same(await one.look(owner), absent);
  t.same(await one.part({ ...owner, channel: '#lobby' }), absent);
  t.same(await one.away({ ...owner, message: null }), absent);
  t.same(await one.look({ nick: 'alice', by: 'ops' }), before, 'an operator sees whoever is there');
  t.match(before, { connected: true, channels: ['#lobby'], away: { message: 'With bob' } });
  t.same(await one.disconnect(owner), absent);
  await witness.waitUntil(() => witness.raw.some((raw) => /:alice!\S+ QUIT/.test(raw)));
  t.same(await one.look(alice), absent, 'the nick is free');
  t.match(await one.connect(owner), { connected: true, channels: [], away: null });
});
