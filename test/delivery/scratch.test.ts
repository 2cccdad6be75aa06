import t from 'tap';
import { Stage, someEvents } from './stage.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { setTimeout as delay } from 'node:timers/promises';

t.test('log connection cut under load', async (t) => {
  const stage = await Stage.open(t, 20);
  const relay = await startTcpRelay(t, stage.nats.port);
  const w = await stage.start({ natsUrl: `nats://127.0.0.1:${relay.port}` });
  const began = Date.now();
  let on = true;
  const cutting = (async () => { let n = 0; while (on && n < 12) { n++; await delay(150 + Math.random()*300); relay.cut(); } return n })();
  for (let round = 0; round < 15; round++) { await stage.publish(someEvents(`b${round}-`, 3000, stage.channels)); await delay(100);}
  on = false;
  t.comment(`${await cutting} cuts`);
  await stage.settled(20_000).catch((e) => t.comment(e.message));
  t.comment(`${Date.now() - began} ms in hand ${w.deliver.inHand} log ${w.log.connected} irc ${JSON.stringify(w.irc.status())} ended ${stage.outcomes.ended.size} of ${stage.events.size}`);
  for await (const c of w.log.manager.consumers.list('MARKET')) t.comment(JSON.stringify(c));
  await stage.judge(t);
});
