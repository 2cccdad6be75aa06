import t from 'tap';
import { Stage, someEvents } from './stage.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { setTimeout as delay } from 'node:timers/promises';

t.test('log connection cut under load', async (t) => {
  const stage = await Stage.open(t, 20);
  const relay = await startTcpRelay(t, stage.nats.port);
  const w = await stage.start({ natsUrl: `nats://127.0.0.1:${relay.port}` });
  const began = Date.now();
  await stage.publish(someEvents(`b`, 30000, stage.channels));
  let cuts = 0;
  while (stage.outcomes.ended.size < stage.events.size && Date.now() - began < 60000) {
    await delay(800 + Math.random() * 500);
    relay.cut();
    cuts++;
  }
  t.comment(`${cuts} cuts`);
  t.comment(`${Date.now() - began} ms in hand ${w.deliver.inHand} log ${w.log.connected} irc ${JSON.stringify(w.irc.status())} ended ${stage.outcomes.ended.size} of ${stage.events.size}`);
  await stage.judge(t);
});
