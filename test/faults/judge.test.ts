import t from 'tap';
import { observe } from '../support/irc-observer.js';
import { randomFrom } from './fault.js';
import { judge } from './judge.js';
import { Stage } from './stage.js';

t.test('the judge sees what must not be', { timeout: 240_000 }, async (t) => {
  const stage = await Stage.open(t, randomFrom(1), { channels: 2 });
  const { load, ircd, witness } = stage;
  await load.post(6);
  t.same((await judge(stage)).violations, [], 'nothing, as long as nothing is wrong');

  const liar = await observe(ircd.port, { nick: 'liar', password: ircd.serverPassword });
  t.teardown(() => liar.stop());
  await liar.join('#cat-c00');
  await liar.ask(`OPER ${ircd.operName} ${ircd.operPassword}`, 'SAMODE #cat-c00 +v liar');
  await liar.ask('PRIVMSG #cat-c00 :[NEW] e0000002 | again');
  await witness.waitFor(({ nick }) => nick === 'liar');
  // the witness has not seen the first one yet, and a third one has overtaken it
  const lines = witness.lines.filter(({ channel }) => channel === '#cat-c01');
  [lines[0]!.text, lines[1]!.text] = [lines[1]!.text, lines[0]!.text];
  const now = performance.now();
  const channels = ['#bounties', '#cat-c01'];
  load.events.set('e0009999', { id: 'e0009999', channels, postedAt: now, acceptedAt: now });

  const verdict = await judge(stage);
  t.same(verdict.twice, ['#cat-c00 e0000002']);
  t.same(verdict.outOfOrder, ['#cat-c01 e0000001']);
  t.same(verdict.lost, ['#bounties e0009999', '#cat-c01 e0009999']);
  t.same(verdict.falselyAccepted, ['e0009999']);
  t.match(verdict.violations.join('\n'), /lost.*twice.*out of order.*not on the log.*API/s);
});
