import t from 'tap';
import type { Call } from '../../src/operations/core/call.js';
import type { Caller } from '../../src/operations/core/caller.js';
import { catchUp } from '../../src/operations/network/catch-up.js';
import { turn } from '../../streams/core/clock.js';

/** Reads of channels that are answered when the test says so. */
class Reads {
  /** The channels that are being read, with who asks. */
  readonly open: { channel: string; answer(): void }[] = [];

  readonly call = (async (_operation: unknown, { channel }: { channel: string }) =>
    await new Promise((resolve) => {
      this.open.push({ channel, answer: () => resolve([]) });
    })) as unknown as Call;

  async channels(): Promise<string[]> {
    // longer than it takes to come to the next read
    for (let n = 0; n < 20; n++) await turn();
    return this.open.map(({ channel }) => channel);
  }

  answer(channel: string): void {
    const [found] = this.open.splice(
      this.open.findIndex((one) => one.channel === channel),
      1,
    );
    found!.answer();
  }
}

const from = (address: string): Caller => ({ is: 'none', actor: 'api', address });

t.test('SPEAK-14 whoever catches up again and again waits for their own', async (t) => {
  const reads = new Reads();
  const read = (caller: Caller, ...channels: string[]) =>
    catchUp.run({ channels, tokens: 2_000 } as never, caller, { call: reads.call } as never);
  const first = read(from('203.0.113.1'), '#a', '#b');
  const again = read(from('203.0.113.1'), '#again');
  t.same(await reads.channels(), ['#a'], 'one channel after the other, and one answer of an address');
  const other = read(from('203.0.113.2'), '#c');
  const third = read(from('203.0.113.3'), '#d');
  t.same(await reads.channels(), ['#a', '#c'], 'two answers at once');
  reads.answer('#a');
  t.same(await reads.channels(), ['#c', '#b']);
  reads.answer('#b');
  await first;
  t.same(await reads.channels(), ['#c', '#again'], 'in the order in which they were asked for');
  reads.answer('#c');
  await other;
  t.same(await reads.channels(), ['#again', '#d']);
  reads.answer('#again');
  reads.answer('#d');
  t.match(await Promise.all([again, third]), [
    { channels: [{ channel: '#again' }] },
    { channels: [{ channel: '#d' }] },
  ]);
});

t.test('SPEAK-39 a network of IPv6 is one reader', async (t) => {
  const reads = new Reads();
  const read = (address: string, channel: string) =>
    catchUp.run({ channels: [channel], tokens: 2_000 } as never, from(address), {
      call: reads.call,
    } as never);
  const first = read('2001:db8:1:2::1', '#a');
  const again = read('2001:db8:1:2:3:4:5:6', '#again');
  const other = read('2001:db8:1:3::1', '#b');
  t.same(await reads.channels(), ['#a', '#b'], 'its second address waits for the first');
  reads.answer('#a');
  t.same(await reads.channels(), ['#b', '#again']);
  reads.answer('#b');
  reads.answer('#again');
  await Promise.all([first, again, other]);
});

t.test('SPEAK-41 whoever asks again before the answer came has so many that wait', async (t) => {
  const reads = new Reads();
  const read = (address: string) =>
    catchUp.run({ channels: ['#a'], tokens: 2_000 } as never, from(address), { call: reads.call } as never);
  const asked = Array.from({ length: 11 }, () => read('203.0.113.6'));
  await t.rejects(read('203.0.113.6'), { code: 'rate_limited', status: 429, extra: { retryAfter: 5 } });
  asked.push(read('203.0.113.7'));
  t.same(await reads.channels(), ['#a', '#a'], 'others are answered');
  reads.answer('#a');
  await asked[0];
  asked.push(read('203.0.113.6'));
  let isOver = false;
  const all = Promise.all(asked).finally(() => {
    isOver = true;
  });
  while (!isOver) for (const channel of await reads.channels()) reads.answer(channel);
  t.equal((await all).length, 13, 'who waits is answered, and makes room');
});

t.test('SPEAK-14 a read that fails gives its turn back', async (t) => {
  const fails = (async () => {
    throw new Error('away');
  }) as unknown as Call;
  const ask = (call: Call) =>
    catchUp.run({ channels: ['#a'], tokens: 2_000 } as never, from('203.0.113.9'), { call } as never);
  for (let n = 0; n < 3; n++) await t.rejects(ask(fails), { message: 'away' });
  t.match(await ask((async () => []) as unknown as Call), { channels: [{ channel: '#a' }] });
});

t.test(
  'SPEAK-14 the largest channels are chosen, and the list that others read stays in its order',
  async (t) => {
    const channels = [3, 9, 5].map((users) => ({ name: `#with-${users}`, users, topic: '' }));
    const call = (async ({ id }: { id: string }) =>
      id === 'listIrcChannels' ? channels : []) as unknown as Call;
    const answer = await catchUp.run({ tokens: 2_000 } as never, from('203.0.113.4'), { call } as never);
    t.same(
      answer.channels.map(({ channel }) => channel),
      ['#with-9', '#with-5', '#with-3'],
    );
    t.same(
      channels.map(({ users }) => users),
      [3, 9, 5],
    );
  },
);

t.test(
  'SPEAK-40 what is said while channels are read comes the next time, and nothing is lost',
  async (t) => {
    const names = ['#a', '#b', '#c'];
    const record: { channel: string; id: string; nick: string; text: string; time: string }[] = [];
    const say = () => {
      for (const channel of names) {
        const id = `${record.length + 1}-0`;
        record.push({ channel, id, nick: 'bob', text: id, time: '2026-01-31T12:00:00.000Z' });
      }
    };
    const call = (async (
      _operation: unknown,
      { channel, before = '999-0', limit }: { channel: string; before?: string; limit: number },
    ) => {
      const isWanted = (one: { channel: string; id: string }) =>
        one.channel === channel && Number.parseInt(one.id, 10) < Number.parseInt(before, 10);
      const found = record.filter(isWanted).slice(-limit);
      say();
      return found;
    }) as unknown as Call;
    say();
    const heard: string[] = [];
    for (let next: string | undefined, n = 0; n < 3; n++) {
      const input = { channels: names, after: next, tokens: 20_000 };
      const answer = await catchUp.run(input as never, from('203.0.113.5'), { call } as never);
      t.match(answer.channels, [{ complete: true }, { complete: true }, { complete: true }]);
      heard.push(...answer.channels.flatMap(({ lines }) => lines.map((line) => line.split(' ').at(-1)!)));
      next = answer.next!;
    }
    const order = (a: string, b: string) => Number.parseInt(a, 10) - Number.parseInt(b, 10);
    t.ok(heard.length > 10);
    t.same(heard.sort(order), record.map(({ id }) => id).slice(0, heard.length));
  },
);
