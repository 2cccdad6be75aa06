import pino from 'pino';
import t from 'tap';
import { z } from 'zod';
import { type Decider, defineStream, type FactOf, Log, Refusal } from '../../streams/core/index.js';
import { startNats, type TestNats } from '../support/nats.js';

const things = defineStream({
  name: 'THINGS',
  description: 'Things of a test.',
  subjects: ['things.>'],
  facts: {
    'thing.taken': z.object({ name: z.string(), by: z.string() }),
    'thing.counted': z.object({ n: z.number() }),
  },
});
type ThingFact = FactOf<typeof things>;
const logger = pino({ level: 'silent' });

function openLog(nats: TestNats, options: { maxBytes?: number; importing?: boolean } = {}): Promise<Log> {
  const maxBytes = options.maxBytes ?? 100_000_000;
  return Log.open({
    urls: nats.url,
    name: 'test',
    streams: [things],
    replicas: 1,
    maxBytes,
    logger,
    importing: options.importing ?? false,
  });
}

const counted = (n: number) => ({ type: 'thing.counted' as const, data: { n } });

/** One holder per thing: whoever comes second is refused. */
const ownership: Decider<{ holder?: string }, { name: string; by: string }, ThingFact> = {
  initial: () => ({}),
  subject: ({ name }) => `things.${name}`,
  evolve: (state, fact) => {
    if (fact.type === 'thing.taken') state.holder = fact.data.by;
  },
  decide: (command, state) => {
    if (state.holder === command.by) return undefined;
    if (state.holder) throw new Refusal({ code: 'taken', status: 409 }, 'taken');
    return { type: 'thing.taken', data: command };
  },
};

t.test('with one log server', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(nats);
  t.teardown(() => log.close());

  t.test('LOG-01 an appended fact is read back as it was recorded', async (t) => {
    const position = await log.append(things, 'things.a', counted(7), { by: 'ann', cause: 'because' });
    const fact = await log.at(things, position.seq);
    t.match(fact, {
      type: 'thing.counted',
      data: { n: 7 },
      by: 'ann',
      cause: 'because',
      subject: 'things.a',
    });
    t.equal(fact?.id, position.id);
    t.ok(Math.abs(fact!.at.getTime() - log.now().getTime()) < 5_000, 'stamped by the log server');
  });

  t.test('a fact says when it was made, and the log server what its stream is about', async (t) => {
    const before = log.now().getTime();
    const { seq } = await log.append(things, 'things.a', counted(8), { by: 'ann' });
    const { data } = await log.manager.streams.getMessage(things.name, { seq });
    const { time, ...others } = JSON.parse(new TextDecoder().decode(data)) as { time: string };
    t.equal(new Date(time).toISOString(), time);
    t.ok(Date.parse(time) >= before - 1 && Date.parse(time) <= log.now().getTime(), time);
    t.match(others, { type: 'thing.counted', v: 1, by: 'ann', cause: null, data: { n: 8 } });
    const { config } = await log.manager.streams.info(things.name);
    t.equal(config.description, 'Things of a test.');
  });

  t.test('a fact of an older version has no time of its own, and is read', async (t) => {
    const old = { id: 'old', type: 'thing.counted', v: 1, by: 'bob', cause: null, data: { n: 9 } };
    const { seq } = await log.connection.jetstream().publish('things.old', JSON.stringify(old));
    t.match(await log.at(things, seq), { id: 'old', by: 'bob', data: { n: 9 }, at: Date });
  });

  t.test('LOG-02 a fact that its schema does not allow is never appended', async (t) => {
    const head = await log.head(things);
    await t.rejects(log.append(things, 'things.a', counted('x' as never), { by: 'ann' }));
    t.equal(await log.head(things), head);
  });

  t.test('LOG-03 appendOnce takes one fact per subject, whoever races', async (t) => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        log.appendOnce(things, 'things.once', counted(n), { by: 'racer' }),
      ),
    );
    t.equal(answers.filter((answer) => answer !== undefined).length, 1);
    const facts = [];
    for await (const fact of log.subject(things, 'things.once')) facts.push(fact);
    t.equal(facts.length, 1);
  });

  t.test('LOG-04 of fifty racers one command wins and the others get the domain answer', async (t) => {
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        log.handle(things, ownership, { name: 'crown', by: `racer${n}` }, { by: 'test' }),
      ),
    );
    t.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
    for (const result of results) if (result.status === 'rejected') t.equal(result.reason.code, 'taken');
  });

  t.test('LOG-04 also when they come from two processes with their own state', async (t) => {
    const other = await openLog(nats);
    t.teardown(() => other.close());
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 ? log : other).handle(things, ownership, { name: 'sceptre', by: `racer${n}` }, { by: 'test' }),
      ),
    );
    t.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
  });

  t.test('LOG-17 a command with an id is recorded once, also where another subject has it', async (t) => {
    const other = await openLog(nats);
    t.teardown(() => other.close());
    const origin = { by: 'test', id: 'one-thing' };
    const answers = await Promise.all([
      log.handle(things, ownership, { name: 'orb', by: 'ann' }, origin),
      other.handle(things, ownership, { name: 'globe', by: 'bob' }, origin),
    ]);
    t.equal(answers.filter(({ fact }) => fact).length, 1);
    t.equal(answers[0].position.seq, answers[1].position.seq);
    const [owned, free] = answers[0].fact ? ['orb', 'globe'] : ['globe', 'orb'];
    t.equal(await log.last(things, `things.${free}`), undefined);
    await t.rejects(log.handle(things, ownership, { name: owned!, by: 'eve' }, { by: 'test' }), {
      code: 'taken',
    });
    for (const process of [log, other]) {
      const again = await process.handle(things, ownership, { name: `${free}`, by: 'eve' }, origin);
      t.equal(again.fact, undefined, 'it is not recorded there later either');
    }
    const { fact } = await other.handle(things, ownership, { name: free!, by: 'eve' }, { by: 'test' });
    t.match(fact, { data: { name: free, by: 'eve' } }, 'nothing of it is left in what a process knows');
  });

  t.test('LOG-05 repeating an append with the same id stores it once', async (t) => {
    const first = await log.append(things, 'things.b', counted(1), { by: 'ann', id: 'same-id' });
    const second = await log.append(things, 'things.b', counted(1), { by: 'ann', id: 'same-id' });
    t.equal(second.seq, first.seq);
  });

  t.test(
    'LOG-06 following gives everything in order, then says that it has seen all, then what is new',
    async (t) => {
      const stopping = new AbortController();
      const seen: number[] = [];
      let endsSeen = 0;
      const head = await log.head(things);
      for await (const entries of log.follow(things, { after: 0, batch: 10, signal: stopping.signal })) {
        t.ok(entries.length <= 10, 'no batch is larger than asked');
        for (const entry of entries) seen.push(entry.seq);
        if (entries.length === 0 && ++endsSeen === 1) {
          for (let n = 0; n < 25; n++) await log.append(things, 'things.new', counted(n), { by: 'ann' });
        }
        if (seen.length === head + 25) stopping.abort();
      }
      t.same(
        seen,
        Array.from({ length: head + 25 }, (_, n) => n + 1),
      );
    },
  );
});

t.test(
  'LOG-07 appends survive a killed server: acknowledged facts are there, repeated ones once',
  async (t) => {
    const nats = await startNats(t);
    const log = await openLog(nats);
    t.teardown(() => log.close());
    const acknowledged: number[] = [];
    const append = async (n: number) => {
      for (let tries = 0; tries < 20; tries++) {
        try {
          acknowledged[n] = (
            await log.append(things, `things.n${n}`, counted(n), { by: 'ann', id: `id-${n}` })
          ).seq;
          return;
        } catch (error) {
          if ((error as { code?: string }).code !== 'log_unavailable') throw error;
        }
      }
    };
    const following: number[] = [];
    const stopping = new AbortController();
    const reader = (async () => {
      for await (const entries of log.follow(things, { after: 0, batch: 100, signal: stopping.signal })) {
        for (const entry of entries) following.push(entry.seq);
        if (following.length >= 600) stopping.abort();
      }
    })();
    const appends = Array.from({ length: 300 }, (_, n) => append(n));
    await nats.kill();
    await nats.start();
    await Promise.all([...appends, ...Array.from({ length: 300 }, (_, n) => append(300 + n))]);
    await reader;
    t.equal(new Set(acknowledged).size, 600, 'each one stored under its own sequence');
    t.equal(await log.head(things), 600, 'none stored twice');
    t.same(
      following,
      Array.from({ length: 600 }, (_, n) => n + 1),
      'the reader lost nothing and saw nothing twice',
    );
  },
);

t.test('LOG-08 without a server an append fails in bounded time and says so', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(nats);
  t.teardown(() => log.close());
  await nats.kill();
  const error = await log.append(things, 'things.a', counted(1), { by: 'ann' }).catch((e) => e);
  t.match(error, { kind: 'unavailable', code: 'log_unavailable', status: 503 });
});

t.test('LOG-09 streams keep their size unless another one is asked for', async (t) => {
  const nats = await startNats(t);
  const open = async (maxBytes: number, resize: boolean) => {
    const log = await Log.open({
      urls: nats.url,
      name: 'test',
      streams: [things],
      replicas: 1,
      maxBytes,
      resize,
      logger,
    });
    const { config } = await log.manager.streams.info(things.name);
    await log.close();
    return config.max_bytes;
  };
  t.equal(await open(5_000_000, false), 5_000_000);
  t.equal(await open(1_000_000, false), 5_000_000);
  t.equal(await open(2_000_000, true), 2_000_000);
});

t.test('a stream of an earlier version gets its description', async (t) => {
  const nats = await startNats(t);
  const open = (stream: typeof things) =>
    Log.open({ urls: nats.url, name: 'test', streams: [stream], replicas: 1, maxBytes: 5_000_000, logger });
  const { description: _, ...earlier } = things;
  for (const [stream, expected] of [
    [earlier, undefined],
    [things, 'Things of a test.'],
    [earlier, 'Things of a test.'],
  ] as const) {
    const log = await open(stream as typeof things);
    t.equal((await log.manager.streams.info(things.name)).config.description, expected);
    await log.close();
  }
});

t.test('LOG-09 a full stream refuses new facts and keeps the old ones', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(nats, { maxBytes: 20_000 });
  t.teardown(() => log.close());
  let stored = 0;
  let refused: unknown;
  for (let n = 0; n < 500 && !refused; n++) {
    await log.append(things, 'things.full', counted(n), { by: 'ann' }).then(
      () => stored++,
      (error) => {
        refused = error;
      },
    );
  }
  t.match(refused, { code: 'log_unavailable', status: 503 });
  t.match(log.troubleOf(things), /THINGS is full/, 'and is known to be full');
  t.match(await log.at(things, 1), { data: { n: 0 } });
  t.equal(await log.head(things), stored);
});

t.test('a fact can be removed by nobody, also not from streams of an earlier version', async (t) => {
  const nats = await startNats(t);
  const earlier = await openLog(nats, { importing: true });
  await earlier.append(things, 'things.a', counted(1), { by: 'ann' });
  await earlier.append(things, 'things.a', counted(2), { by: 'ann' });
  t.ok(await earlier.manager.streams.deleteMessage(things.name, 1), 'as it was before');
  await earlier.close();

  const log = await openLog(nats);
  t.teardown(() => log.close());
  const { streams } = log.manager;
  await t.rejects(streams.deleteMessage(things.name, 2), /message delete not permitted/);
  await t.rejects(streams.purge(things.name), /stream purge not permitted/);
  await t.rejects(streams.purge(things.name, { filter: 'things.a' }), /stream purge not permitted/);
  t.match(await log.last(things, 'things.a'), { data: { n: 2 } });
  const again = await openLog(nats, { importing: true });
  t.teardown(() => again.close());
  await t.rejects(again.manager.streams.purge(things.name), /stream purge not permitted/);
});
