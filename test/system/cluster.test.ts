import t, { type Test } from 'tap';
import { randomFrom } from '../faults/fault.js';
import { judge } from '../faults/judge.js';
import { eventOf } from '../faults/load.js';
import { queueOf, Stage } from '../faults/stage.js';
import { postEvent } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { startService, type TestService } from '../support/service.js';

async function healthOf({ url }: TestService) {
  return (await (await fetch(`${url}/health`)).json()) as {
    services: { bridge: { irc?: { connected: boolean; nick: string } } };
  };
}

/** Everything posted up to now has been shown once and in order. */
async function allIsWell(t: Test, stage: Stage): Promise<void> {
  const { violations, lost, twice, outOfOrder } = await judge(stage);
  t.same({ violations, lost, twice, outOfOrder }, { violations: [], lost: [], twice: [], outOfOrder: [] });
}

t.test('roles in two processes each, on a cluster of three log servers', { timeout: 280_000 }, async (t) => {
  const stage = await Stage.open(t, randomFrom(1), { shape: 'cluster', channels: 10 });
  const service = (name: string) => stage.services.get(name)!;
  const apis = [service('api-1'), service('api-2')] as const;

  await t.test('SCALE-01 the same event at both replicas at once is accepted once', async (t) => {
    for (let round = 0; round < 20; round++) {
      const n = stage.load.reserve();
      const { event } = eventOf(n, 'cat-c00');
      const answers = await Promise.all(apis.map(({ url }) => postEvent(url, event)));
      t.same(answers.map(({ status }) => status).sort(), [200, 202]);
      await stage.load.send(n, 0); // known, and judged with the others
    }
    await allIsWell(t, stage);
  });

  await t.test('SCALE-02 replicas count what was posted', async (t) => {
    const received = async (url: string) => {
      const stats = (await queueOf(url)) as { last_event_received?: string };
      return Date.parse(stats.last_event_received ?? '');
    };
    for (const [mine, other] of [apis, [apis[1], apis[0]] as const]) {
      const before = await received(mine.url);
      const n = stage.load.reserve();
      t.equal((await postEvent(mine.url, eventOf(n, 'cat-c00').event)).status, 202);
      const now = await received(mine.url);
      t.ok(now > before, 'at once where it was posted');
      await eventually('the other replica to count it', async () => (await received(other.url)) >= now);
      await stage.load.send(n, 0);
    }
  });

  await t.test('SCALE-03 one delivers, and both replicas tell its state', async (t) => {
    const [holder, standby] = stage.deliverers;
    const taken = /"lease":"deliver-to-irc".*"lease taken"/;
    t.match(holder.log(), taken);
    t.notMatch(standby.log(), taken);
    for (const api of apis) {
      t.match(await healthOf(api), { services: { bridge: { irc: { connected: true, nick: 'em-bot' } } } });
    }
  });

  await t.test('SCALE-04 a projector is killed, and the one beside it goes on', async (t) => {
    for (const name of ['projections-1', 'projections-2']) {
      const killed = service(name);
      await killed.kill();
      await stage.load.post(50);
      await allIsWell(t, stage);
      await killed.start();
    }
  });

  await t.test('SCALE-05 each role stops in order under load', async (t) => {
    const [holder] = stage.deliverers;
    for (const stopped of [holder, service('projections-1'), apis[1]]) {
      const posting = stage.load.post(100, { perSecond: 100 });
      t.equal(await stopped.kill('SIGTERM'), 0, 'it ended by itself');
      t.notMatch(stopped.log(), /did not stop/, 'every part of it in time');
      await posting;
      await allIsWell(t, stage);
      await stopped.start();
    }
  });
});

t.test('SCALE-06 a process of one role is ready without the others', { timeout: 240_000 }, async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  // nothing answers there: who delivers has no use for the read models
  const environment = { DATABASE_URL: 'postgres://relay@127.0.0.1:1/none', ROLES: 'irc' };
  const irc = await startService(t, { nats, ircd }, environment);
  await eventually('the bot to be connected', () => irc.log().includes('lease taken'));
  t.equal(await irc.kill('SIGTERM'), 0);
});
