import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { Relinks, tellsOfRelink } from '../../../workers/channels/relinks.js';
import { parseLine } from '../../../workers/irc/line.js';
import { eventually } from '../../support/eventually.js';

t.test('NET-02 what tells that servers were joined', async (t) => {
  const tells = [
    ':irc.relay.internal NOTICE channelserv :*** LINK: Received end of netburst from \x02far.relay.internal\x02',
    ':irc.relay.internal NOTICE channelserv :*** REMOTELINK: Received end of netburst from far.relay.internal',
    ':far.relay.internal MODE #task-1 +m',
    ':irc.relay.internal MODE #TASK-1 -HitnPv relay',
    '@time=2026-11-21T03:00:25.586Z :irc.relay.internal TOPIC #task-1 :',
  ];
  for (const line of tells) t.ok(tellsOfRelink(parseLine(line)), line);
  const tellsNot = [
    ':ann!ann@host MODE #task-1 +m',
    ':ann!ann@host TOPIC #task-1 :end of netburst',
    ':ann!ann@host NOTICE channelserv :*** LINK: Received end of netburst from me',
    ':irc.relay.internal MODE channelserv +s',
    ':irc.relay.internal MODE #Not.managed +m',
    ':irc.relay.internal NOTICE channelserv :*** LINK: Server far.relay.internal split',
    ':irc.relay.internal 324 channelserv #task-1 +nt',
  ];
  for (const line of tellsNot) t.notOk(tellsOfRelink(parseLine(line)), line);
});

t.test('NET-02 servers that never come to rest are looked at ever more seldom', async (t) => {
  let looks = 0;
  const pauses = { firstMs: 10, longestMs: 400, calmMs: 500 };
  const relinks = new Relinks(async () => void looks++, pauses);
  const line = parseLine(':far.relay.internal MODE #task-1 +m');
  const until = performance.now() + 1_000;
  while (performance.now() < until) {
    relinks.see(line);
    await delay(5);
  }
  // after 10, 40, 160 and 400 ms
  t.ok(looks >= 3 && looks <= 5, `${looks} looks in a second`);
  relinks.stop();
  const before = looks;
  await delay(pauses.calmMs + 200);
  t.equal(looks, before, 'none after the stop');
  const rested = new Relinks(async () => void looks++, pauses);
  rested.see(line);
  await eventually('a look soon after the first sign', () => looks === before + 1, 300);
});
