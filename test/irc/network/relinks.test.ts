import t from 'tap';
import { pause } from '../../../streams/core/index.js';
import { Relinks, tellsOfRelink } from '../../../workers/channels/relinks.js';
import { parseLine } from '../../../workers/irc/line.js';
import { runIn } from '../../simulation/scenario.js';
import { World } from '../../simulation/world.js';

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
  const world = new World(1);
  await runIn(world, 60_000, async () => {
    let looks: number[] = [];
    const pauses = { firstMs: 10, longestMs: 400, calmMs: 500 };
    const look = async () => void looks.push(world.elapsed);
    const relinks = new Relinks(look, pauses);
    const line = parseLine(':far.relay.internal MODE #task-1 +m');
    await pause(1_000);
    const from = world.elapsed;
    for (let n = 0; n < 1_000; n += 5) {
      relinks.see(line);
      await pause(5);
    }
    const waits = looks.map((at, n) => at - (looks[n - 1] ?? from));
    t.same(waits, [10, 40, 160, 400], 'each look is followed by a sign at once');
    relinks.stop();
    looks = [];
    await pause(pauses.longestMs + pauses.calmMs);
    t.same(looks, [], 'none after the stop');
    const rested = new Relinks(look, pauses);
    const signAt = world.elapsed;
    rested.see(line);
    await pause(pauses.calmMs);
    t.same(looks, [signAt + pauses.firstMs], 'a look soon after the first sign');
  });
});
