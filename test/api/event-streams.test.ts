import { connect, type Socket } from 'node:net';
import pino from 'pino';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { ApiKeys } from '../../src/auth/api-keys.js';
import { untilKeyEnds } from '../../src/http/key-ends.js';
import { createServer } from '../../src/http/server.js';
import { eventStreamRoutes } from '../../src/http/sse.js';
import { StreamPlaces } from '../../src/http/stream-places.js';
import { defineEventStream } from '../../src/operations/core/event-stream.js';
import { clock, useClock } from '../../streams/core/clock.js';
import { eventually } from '../support/eventually.js';

/** A server with one stream that never says anything, and what is known of its readers. */
async function startStream(t: Test, bounds: { most?: number; ofOneReader?: number } = {}) {
  const readers = { shown: 0, opened: 0, ended: 0, hold: Promise.resolve() };
  const silence = defineEventStream({
    id: 'silence',
    path: '/silence',
    tag: 'IRC',
    summary: '',
    description: '',
    says: '',
    example: '',
    most: 40,
    ofOneReader: 5,
    ...bounds,
    input: z.object({ after: z.string().optional() }),
    refusals: {},
    isEventId: () => true,
    open: async (_input, { signal }) => {
      readers.opened += 1;
      signal.addEventListener('abort', () => {
        readers.ended += 1;
      });
      await readers.hold;
      return (async function* () {
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      })();
    },
    viewers: (change) => {
      readers.shown += change;
    },
    close: () => {},
  });
  const app = await createServer({ logger: pino({ level: 'silent' }), rateLimit: 0, trustProxy: 1 });
  // a reader may be gone before anybody looks at its request
  app.addHook('onRequest', async ({ headers, raw }) => {
    if (headers['x-gone'] === undefined) return;
    raw.socket.destroy();
    await new Promise((resolve) => raw.socket.once('close', resolve));
  });
  await app.register(eventStreamRoutes, {
    streams: [silence],
    keys: new ApiKeys([]),
    isEnded: async () => false,
    parts: {},
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => {
    app.server.closeAllConnections();
    return app.close();
  });
  const dial = (count = 1, header = '') => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    socket.write(`GET /silence HTTP/1.1\r\nHost: x\r\n${header}\r\n`.repeat(count));
    return socket;
  };
  /** The answer to one more reader. */
  const ask = async (address?: string) => {
    const stop = new AbortController();
    const headers = address === undefined ? {} : { 'x-forwarded-for': address };
    const answer = await fetch(`${url}/silence`, { signal: stop.signal, headers });
    const body = answer.status === 200 ? undefined : ((await answer.json()) as { code: string });
    return { status: answer.status, code: body?.code, headers: answer.headers, stop: () => stop.abort() };
  };
  return { readers, dial, ask };
}

/** All of them at once, so that none is closed in order. */
const reset = (sockets: Socket[]) => {
  for (const socket of sockets) socket.resetAndDestroy();
};

t.test('readers that go at any moment leave no place taken', async (t) => {
  await t.test('while the stream is opened, and after', async (t) => {
    const { readers, dial, ask } = await startStream(t);
    let open = () => {};
    readers.hold = new Promise((resolve) => {
      open = resolve;
    });
    const early = Array.from({ length: 40 }, () => dial());
    await eventually('all of them to be opened', () => readers.opened === 40);
    t.match(await ask(), { status: 503, code: 'too_many_viewers' });
    reset(early);
    await eventually('all of them to be known as gone', () => readers.ended === 40);
    open();
    const late = Array.from({ length: 40 }, () => dial());
    await eventually('the places to be taken again', () => readers.shown === 40);
    reset(late);
    await eventually('nobody to be left', () => readers.shown === 0);
    t.equal(readers.ended, 80);
    t.equal((await ask()).status, 200);
  });

  await t.test('before anybody looked at their requests', async (t) => {
    const { readers, dial, ask } = await startStream(t);
    const sockets = Array.from({ length: 60 }, () => dial(1, 'X-Gone: 1\r\n'));
    await Promise.all(
      sockets.map((socket) => socket.closed || new Promise((done) => socket.once('close', done))),
    );
    t.equal((await ask()).status, 200);
    t.equal(readers.opened, 1);
  });

  await t.test('many on one connection, of which one is answered', async (t) => {
    const { readers, dial, ask } = await startStream(t);
    const socket = dial(40);
    await eventually('the places to be taken', () => readers.shown === 40);
    reset([socket]);
    await eventually('nobody to be left', () => readers.shown === 0);
    t.equal((await ask()).status, 200);
  });
});

t.test(
  'one address has so many places, a network of IPv6 is one, and this machine has them all',
  async (t) => {
    const { ask } = await startStream(t);
    const first = await Promise.all(Array.from({ length: 5 }, () => ask('198.51.100.7')));
    t.same(
      first.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
    const one = await ask('198.51.100.7');
    t.match(one, { status: 429, code: 'too_many_streams' });
    t.ok(one.headers.get('retry-after'));
    for (let n = 0; n < 5; n += 1) t.equal((await ask(`2001:db8:1:2::${n}`)).status, 200);
    t.match(await ask('2001:db8:1:2:3:4:5:6'), { status: 429 });
    t.equal((await ask('2001:db8:1:3::1')).status, 200, 'others are not held up');
    for (let n = 0; n < 8; n += 1) t.equal((await ask()).status, 200);
    first[0]!.stop();
    await eventually('a place of the address', async () => (await ask('198.51.100.7')).status === 200);
  },
);

t.test('places', async (t) => {
  const places = new StreamPlaces(3, 2);
  const free = places.take('a');
  const other = places.take('a');
  t.throws(() => places.take('a'), { code: 'too_many_streams' });
  const third = places.take(undefined);
  t.throws(() => places.take('b'), { code: 'too_many_viewers' });
  free();
  free();
  t.equal(places.count, 2, 'one place is given once');
  places.take('a');
  for (const one of [other, third]) one();
  t.equal(places.count, 1);
});

t.test('IRC-25 a stream that gives something each 15 seconds ends within 30 of its key', async (t) => {
  let now = 0;
  t.teardown(useClock({ ...clock, elapsed: () => now }));
  let isGood = true;
  let looks = 0;
  let isClosed = false;
  const hasEnded = async () => {
    looks += 1;
    return !isGood;
  };
  async function* silence() {
    try {
      for (;;) yield undefined;
    } finally {
      isClosed = true;
    }
  }
  const events = untilKeyEnds(silence(), hasEnded)[Symbol.asyncIterator]();
  for (; now <= 60_000; now += 100) t.notOk((await events.next()).done);
  t.ok(looks <= 8, 'a busy stream does not look at each event');
  isGood = false;
  const ended = now;
  // the last look was a moment before, and the next event comes a moment before the next look
  for (now += 7_300; !(await events.next()).done; now += 15_000) t.ok(now - ended < 30_000);
  t.ok(now - ended < 30_000);
  t.ok(isClosed, 'what is read for it ends too');

  const unknown = untilKeyEnds(silence(), async () => {
    throw new Error('away');
  })[Symbol.asyncIterator]();
  await unknown.next();
  now += 15_000;
  t.notOk((await unknown.next()).done, 'where nobody can tell, the key counts as good');
  const keyless = silence();
  t.equal(untilKeyEnds(keyless, undefined), keyless, 'without a key there is nothing to look at');
});
