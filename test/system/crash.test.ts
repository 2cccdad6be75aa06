import t, { type Test } from 'tap';
import { postEvent } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startIrcd, type TestIrcd } from '../support/ircd.js';
import { startNats, type TestNats } from '../support/nats.js';
import { startService, type TestService } from '../support/service.js';
import { startTcpRelay } from '../support/tcp-relay.js';

/** How many events a fault has to survive, over the feed channel and one of these. */
const count = 500;
const categories = ['one', 'two', 'three', 'four', 'five'];
const channels = ['#bounties', ...categories.map((name) => `#cat-${name}`)];

const idOf = (n: number) => `e${String(n).padStart(7, '0')}`;
const channelsOf = (n: number) => ['#bounties', `#cat-${categories[n % categories.length]}`];
const eventOf = (n: number) => ({
  event_id: `evt-${idOf(n)}`,
  event_type: 'task.published',
  source: 'marketplace',
  payload: { id: idOf(n), title: `Task ${n}`, bounty_usdc: 5, category: categories[n % categories.length] },
});

interface Bench {
  nats: TestNats;
  ircd: TestIrcd;
  service: TestService;
  observer: Observer;
}

/** The whole chain on real servers, with every channel made by the bot before the observer comes in. */
async function setUp(t: Test, through?: (ircd: TestIrcd) => Promise<string>): Promise<Bench> {
  const nats = await startNats(t, { sync: 'always' });
  const ircd = await startIrcd(t);
  const service = await startService(t, { nats, ircd, ...(through ? { ircUrl: await through(ircd) } : {}) });
  for (let n = 0; n < categories.length; n++) {
    await postEvent(service.url, {
      ...eventOf(n),
      event_id: `warm-${n}`,
      payload: { ...eventOf(n).payload, id: `warm${n}` },
    });
  }
  await eventually('the channels to be made', async () => (await statistics(service)).pending === 0);
  const observer = await observe(ircd.port, { nick: 'witness', channels });
  t.teardown(() => observer.stop());
  return { nats, ircd, service, observer };
}

/** A producer that never gives up: repeats each event until it was accepted, eight at a time. */
async function produce(service: TestService, onAccepted: (accepted: number) => void): Promise<void> {
  let next = 0;
  let accepted = 0;
  const worker = async () => {
    for (let n = next++; n < count; n = next++) {
      await eventually(
        `event ${n} to be accepted`,
        async () => (await postEvent(service.url, eventOf(n))).status < 300,
        60_000,
      );
      onAccepted(++accepted);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

async function statistics(service: TestService): Promise<{ pending: number; dead_letter: number }> {
  return (await (await fetch(`${service.url}/hooks/em/stats`)).json()) as {
    pending: number;
    dead_letter: number;
  };
}

/** Every event once in each of its channels, and no dead letters. Lines are told by the id that is in them. */
async function judge(
  t: Test,
  { service, observer }: Bench,
  options: { replayCounts?: boolean } = {},
): Promise<void> {
  await eventually(
    'everything to be delivered',
    async () => (await statistics(service)).pending === 0,
    60_000,
  );
  t.equal((await statistics(service)).dead_letter, 0, 'no dead letters');
  const seen = new Map<string, number>();
  const take = () => {
    seen.clear();
    const lines = options.replayCounts ? [...observer.lines, ...onlyReplayed(observer)] : observer.lines;
    for (const { channel, text } of lines) {
      const id = /^\[NEW\] (e\d{7})/.exec(text)?.[1];
      if (id) seen.set(`${channel} ${id}`, (seen.get(`${channel} ${id}`) ?? 0) + 1);
    }
    return seen.size >= count * 2;
  };
  await eventually('the witness to have seen every line', take, 20_000).catch(() => {});
  const lost: string[] = [];
  for (let n = 0; n < count; n++) {
    for (const channel of channelsOf(n))
      if (!seen.has(`${channel} ${idOf(n)}`)) lost.push(`${channel} ${idOf(n)}`);
  }
  t.same(lost, [], 'nothing is lost');
  t.same(
    [...seen].filter(([, times]) => times > 1),
    [],
    'nothing is shown twice',
  );
}

/** Lines that the witness knows from a channel's history only: shown while it was away itself. */
function onlyReplayed(observer: Observer) {
  const live = new Set(observer.lines.map((line) => `${line.channel} ${line.text}`));
  const known = new Set<string>();
  return observer.replayed.filter(({ channel, text }) => {
    const key = `${channel} ${text}`;
    if (live.has(key) || known.has(key)) return false;
    known.add(key);
    return true;
  });
}

/** The channels' lines in the order in which the log has their events: the feed has all, so it tells the order. */
function judgeOrder(t: Test, observer: Observer): void {
  const ids = (channel: string) =>
    observer.texts(channel).flatMap((text) => /^\[NEW\] (e\d{7})/.exec(text)?.[1] ?? []);
  const place = new Map(ids('#bounties').map((id, index) => [id, index]));
  for (const channel of channels.slice(1)) {
    const places = ids(channel).map((id) => place.get(id) ?? -1);
    t.same(
      places,
      [...places].sort((a, b) => a - b),
      `${channel} has the order of the feed`,
    );
  }
}

t.test(
  'QUEUE-12 QUEUE-11 kill -9 of the service in the middle of 500 events',
  { timeout: 120_000 },
  async (t) => {
    const bench = await setUp(t);
    const kills: Promise<void>[] = [];
    await produce(bench.service, (accepted) => {
      if (accepted !== 100 && accepted !== 300) return;
      kills.push(bench.service.kill().then(() => bench.service.start()));
    });
    await Promise.all(kills);
    t.equal(kills.length, 2);
    await judge(t, bench);
    judgeOrder(t, bench.observer);
  },
);

t.test(
  'QUEUE-13 QUEUE-11 kill -9 of the log server in the middle of 500 events',
  { timeout: 120_000 },
  async (t) => {
    const bench = await setUp(t);
    const kills: Promise<void>[] = [];
    await produce(bench.service, (accepted) => {
      if (accepted === 150 || accepted === 350) kills.push(bench.nats.kill().then(() => bench.nats.start()));
    });
    await Promise.all(kills);
    await judge(t, bench);
    judgeOrder(t, bench.observer);
  },
);

t.test('QUEUE-14 kill -9 of the IRC server in the middle of 500 events', { timeout: 120_000 }, async (t) => {
  const bench = await setUp(t);
  let killed: Promise<void> | undefined;
  await produce(bench.service, (accepted) => {
    if (accepted === 250) killed = bench.ircd.kill().then(() => bench.ircd.start());
  });
  await killed;
  await judge(t, bench, { replayCounts: true });
});

t.test('QUEUE-15 QUEUE-11 a cut connection in the middle of 500 events', { timeout: 120_000 }, async (t) => {
  let cut = () => {};
  const bench = await setUp(t, async (ircd) => {
    const relay = await startTcpRelay(t, ircd.port);
    cut = () => relay.cut();
    return relay.url;
  });
  await produce(bench.service, (accepted) => {
    if (accepted % 100 === 50) cut();
  });
  await judge(t, bench);
  judgeOrder(t, bench.observer);
});
