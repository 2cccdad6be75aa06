import pino from 'pino';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { decodeFact, defineStream, Log } from '../../streams/core/index.js';
import { newNatsServer, oldNatsServer, startNats, type TestNats } from '../support/nats.js';

const things = defineStream({
  name: 'THINGS',
  subjects: ['things.>'],
  facts: { 'thing.counted': z.object({ n: z.number(), text: z.string().optional() }) },
});
const counted = (n: number, text?: string) => ({
  type: 'thing.counted' as const,
  data: { n, ...(text === undefined ? {} : { text }) },
});
const by = { by: 'test' };

async function openLog(t: Test, nats: TestNats, maxBytes = 200_000_000): Promise<Log> {
  const logger = pino({ level: 'silent' });
  const log = await Log.open({
    urls: nats.url,
    name: 'test',
    streams: [things],
    replicas: 1,
    maxBytes,
    logger,
  });
  t.teardown(() => log.close());
  return log;
}

/** Results of appends that were all asked for in the same moment. */
function together<T>(count: number, append: (n: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> {
  return Promise.allSettled(Array.from({ length: count }, (_, n) => append(n)));
}

/** The values on the log, in its order. */
async function stored(log: Log): Promise<{ subject: string; n: number; seq: number; id: string }[]> {
  const found: Awaited<ReturnType<typeof stored>> = [];
  const stopping = new AbortController();
  for await (const entries of log.follow(things, { after: 0, batch: 1_000, signal: stopping.signal })) {
    for (const entry of entries) {
      const { id, subject, seq, data } = decodeFact(things, entry.data, entry);
      found.push({ subject, n: data.n, seq, id });
    }
    if (entries.length === 0) stopping.abort();
  }
  return found;
}

/** How many messages of the stream were stored in a group. */
async function inGroups(log: Log): Promise<number> {
  const head = await log.head(things);
  let count = 0;
  for (let seq = 1; seq <= head; seq++)
    if ((await log.manager.streams.getMessage(things.name, { seq })).header?.has('Nats-Batch-Id')) count += 1;
  return count;
}

const knowsGroups = (log: Log) => Number(log.connection.info!.version.split('.')[1]) >= 12;

t.test('LOG-11 appends', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats);

  t.test('that come together are stored together, each under its own sequence', async (t) => {
    const results = await together(300, (n) => log.appendOnce(things, `things.a${n}`, counted(n), by));
    const facts = await stored(log);
    t.equal(facts.length, 300);
    for (const [n, result] of results.entries()) {
      const appended = result.status === 'fulfilled' ? result.value : undefined;
      const fact = facts.find(({ seq }) => seq === appended?.seq);
      t.match(fact, { n, id: appended?.id });
    }
    if (knowsGroups(log)) t.ok((await inGroups(log)) >= 256);
    else t.equal(await inGroups(log), 0);
  });

  t.test('that come alone go alone', async (t) => {
    const before = await inGroups(log);
    for (let n = 0; n < 5; n++) await log.append(things, 'things.alone', counted(n), by);
    t.equal(await inGroups(log), before);
  });

  t.test('whose subject is taken are told so, and the others of their group are stored', async (t) => {
    const known = Array.from({ length: 20 }, (_, n) => `things.known${n}`);
    for (const subject of known) await log.appendOnce(things, subject, counted(0), by);
    const head = await log.head(things);
    const isKnown = (n: number) => n % 10 === 9;
    // 200 posters of 5 events each: every tenth repeats a known one
    const answers = await together(200, async (poster) => {
      const own: boolean[] = [];
      for (let n = 0; n < 5; n++) {
        const subject = isKnown(poster + n) ? known[poster % known.length]! : `things.p${poster}-${n}`;
        own.push((await log.appendOnce(things, subject, counted(n), by)) !== undefined);
      }
      return own;
    });
    let accepted = 0;
    for (const [poster, answer] of answers.entries()) {
      const own = answer.status === 'fulfilled' ? answer.value : [];
      t.same(
        own,
        Array.from({ length: 5 }, (_, n) => !isKnown(poster + n)),
      );
      accepted += own.filter(Boolean).length;
    }
    t.equal(await log.head(things), head + accepted, 'none lost, none twice');
    t.equal(new Set((await stored(log)).map(({ id }) => id)).size, head + accepted);
  });

  t.test('to one subject keep their order, also when their group is refused', async (t) => {
    await log.appendOnce(things, 'things.taken', counted(0), by);
    const results = await together(400, (n) =>
      n % 50 === 49
        ? log.appendOnce(things, 'things.taken', counted(n), by)
        : log.append(things, `things.line${n % 2}`, counted(n), by),
    );
    t.equal(results.filter(({ status }) => status === 'fulfilled').length, 400);
    for (const line of ['things.line0', 'things.line1']) {
      const order = (await stored(log)).filter(({ subject }) => subject === line).map(({ n }) => n);
      t.same(
        order,
        [...order].sort((a, b) => a - b),
      );
      t.ok(order.length > 190);
    }
  });

  t.test('that race for a subject among others have one winner', async (t) => {
    const results = await together(200, (n) =>
      log.appendOnce(things, n % 4 === 0 ? 'things.crown' : `things.c${n}`, counted(n), by),
    );
    const won = results.map((result) => result.status === 'fulfilled' && result.value !== undefined);
    t.equal(won.filter((isWinner, n) => isWinner && n % 4 === 0).length, 1);
    t.equal(won.filter((isWinner, n) => isWinner && n % 4 !== 0).length, 150);
  });

  t.test('of which some repeat an id are stored once', async (t) => {
    const first = await log.append(things, 'things.repeated', counted(1), { by: 'test', id: 'known-id' });
    const results = await together(100, (n) =>
      log.append(things, `things.r${n}`, counted(n), { by: 'test', id: n % 25 === 0 ? 'known-id' : `r${n}` }),
    );
    const seqs = results.map((result) => (result.status === 'fulfilled' ? result.value.seq : undefined));
    for (const [n, seq] of seqs.entries()) if (n % 25 === 0) t.equal(seq, first.seq);
    t.equal(new Set(seqs).size, 97);
  });

  t.test('of which one is too big fail alone', async (t) => {
    const big = 'x'.repeat(300_000);
    const results = await together(60, (n) => {
      const text = n === 30 ? 'x'.repeat(1_100_000) : n % 20 === 0 ? big : 'x';
      return log.append(things, `things.big${n}`, counted(n, text), by);
    });
    for (const [n, { status }] of results.entries()) t.equal(status, n === 30 ? 'rejected' : 'fulfilled');
  });

  t.test('of two processes go each into its own place', async (t) => {
    const other = await openLog(t, nats);
    const head = await log.head(things);
    const results = await together(400, async (n) => {
      const fact = (await (n % 2 ? log : other).appendOnce(things, `things.two${n >> 1}`, counted(n), by))!;
      return fact && { ...fact, n };
    });
    const won = results.flatMap((result) =>
      result.status === 'fulfilled' && result.value ? [result.value] : [],
    );
    t.equal(won.length, 200);
    const facts = (await stored(log)).filter(({ seq }) => seq > head);
    t.same(
      facts.map(({ seq, n, id }) => ({ seq, n, id })),
      won.map(({ seq, n, id }) => ({ seq, n, id })).sort((a, b) => a.seq - b.seq),
    );
  });
});

t.test('LOG-09 of a group that does not fit into a stream the part that fits is stored', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats, 20_000);
  const results = await together(300, (n) => log.append(things, `things.${n}`, counted(n), by));
  const fulfilled = results.filter(({ status }) => status === 'fulfilled').length;
  t.ok(fulfilled > 20 && fulfilled < 300, `${fulfilled} fit`);
  t.equal(await log.head(things), fulfilled);
});

t.test('LOG-07 appends in groups survive a server that is killed again and again', async (t) => {
  const nats = await startNats(t, { sync: 'always' });
  const log = await openLog(t, nats);
  const acknowledged = new Map<string, number>();
  const done = new AbortController();
  const poster = async (own: number) => {
    for (let n = 0; !done.signal.aborted; n++) {
      const subject = `things.${own}.${n}`;
      const id = `${own}-${n}`;
      for (let isStored = false; !isStored; ) {
        try {
          const { seq } = await log.append(things, subject, counted(n), { by: 'test', id });
          acknowledged.set(subject, seq);
          isStored = true;
        } catch (error) {
          if ((error as { code?: string }).code !== 'log_unavailable') throw error;
        }
      }
    }
  };
  const posters = Array.from({ length: 100 }, (_, own) => poster(own));
  for (let kill = 1; kill <= 4; kill++) {
    const enough = acknowledged.size + 400;
    while (acknowledged.size < enough)
      await log.append(things, 'things.pace', counted(kill), by).catch(() => {});
    await nats.kill();
    await nats.start();
  }
  done.abort();
  await Promise.all(posters);
  const facts = (await stored(log)).filter(({ subject }) => subject !== 'things.pace');
  t.equal(facts.length, acknowledged.size, 'none twice');
  for (const { subject, seq } of facts)
    if (acknowledged.get(subject) !== seq) t.fail(`${subject} is at ${seq}`);
  t.ok(facts.length > 1_600);
});

t.test('LOG-07 appends whose group is answered too late are stored once', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  await together(50, (n) => log.append(things, `things.before${n}`, counted(n), by));
  nats.pause();
  const appends = together(150, (n) => log.appendOnce(things, `things.late${n}`, counted(n), by));
  // the first try gives up after two seconds, the second one is under way then
  await new Promise((resolve) => setTimeout(resolve, 2_300));
  nats.resume();
  const results = await appends;
  t.ok(results.every((result) => result.status === 'fulfilled' && result.value !== undefined));
  t.equal(await log.head(things), 200);
});

t.test('LOG-11 streams of an older data folder take groups from the next start on', async (t) => {
  const nats = await startNats(t);
  const older = await openLog(t, nats);
  const { config } = await older.manager.streams.info(things.name);
  await older.manager.streams.delete(things.name);
  await older.manager.streams.add({ ...config, allow_atomic: false } as typeof config);
  const log = await openLog(t, nats);
  const now = (await log.manager.streams.info(things.name)).config as { allow_atomic?: boolean };
  t.equal(now.allow_atomic ?? false, knowsGroups(log));
  const results = await together(200, (n) => log.append(things, `things.${n}`, counted(n), by));
  t.ok(results.every(({ status }) => status === 'fulfilled'));
  t.equal((await inGroups(log)) > 0, knowsGroups(log));
});

const [oldest, newest] = [oldNatsServer(), newNatsServer()];
const skip = oldest && newest ? false : 'needs a nats-server of 2.10 and one of 2.12 or newer';

t.test(
  'LOG-11 a data folder that an old log server has made takes groups on a new one',
  { skip },
  async (t) => {
    const store = t.testdir();
    const old = await startNats(t, { store, program: oldest! });
    const before = await openLog(t, old);
    for (let n = 0; n < 20; n++) await before.append(things, `things.${n}`, counted(n), by);
    t.notOk(knowsGroups(before));
    await before.close();
    await old.kill('SIGTERM');

    const log = await openLog(t, await startNats(t, { store, program: newest! }));
    const results = await together(200, (n) => log.append(things, `things.${20 + n}`, counted(20 + n), by));
    t.ok(results.every(({ status }) => status === 'fulfilled'));
    t.same(
      (await stored(log)).map(({ n }) => n).sort((a, b) => a - b),
      Array.from({ length: 220 }, (_, n) => n),
    );
    t.ok((await inGroups(log)) > 0);
  },
);
