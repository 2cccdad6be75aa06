import { headers as natsHeaders } from 'nats';
import { pino } from 'pino';
import t from 'tap';
import { importedHeader, Log, markImport } from '../../streams/core/index.js';
import { eventToken, market, marketSubject } from '../../streams/events/index.js';
import { streams } from '../../streams/index.js';
import { hangMs } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { relay } from './terminal.js';

const count = 7;

t.test('the event log, read past the service', async (t) => {
  const nats = await startNats(t);
  const env = { NATS_URL: nats.url, LOG_LEVEL: 'silent' };
  const json = async (...argv: string[]) => {
    const { code, out, err } = await relay([...argv, '--json'], { env });
    t.equal(code, 0, err);
    return out === '' ? [] : out.split('\n').map((line) => JSON.parse(line));
  };

  t.match(await relay(['streams'], { env }), { code: 1, err: /none of the streams yet/ });
  t.match(await relay(['events', 'MARKET'], { env }), { code: 1, err: /has no stream MARKET yet/ });

  const logger = pino({ level: 'silent' });
  const log = await Log.open({
    urls: nats.url,
    name: 'test',
    streams,
    replicas: 1,
    maxBytes: 100_000_000,
    logger,
  });
  t.teardown(() => log.close());
  const append = async (n: number) => {
    const event_id = `evt-${n}`;
    const data = {
      event_id,
      event_type: 'task.expired',
      source: 'test',
      payload: { id: `t${n}`, note: 'a\u009bb' },
    };
    const fact = { ...data, target_channels: ['#bounties'], formatted_message: `[EXPIRED] Task t${n}` };
    await log.appendOnce(
      market,
      marketSubject(eventToken(event_id)),
      { type: 'event.received', data: fact },
      { by: 'test' },
    );
  };
  t.same(await json('events', 'market'), [], 'an empty stream has nothing to print');
  for (let n = 1; n <= count; n++) await append(n);

  t.test('streams', async (t) => {
    const plain = await relay(['streams'], { env });
    t.equal(plain.code, 0);
    const [head, ...rows] = plain.out.split('\n');
    t.match(head, /^STREAM +FACTS +FIRST +LAST +SIZE +LIMIT +NEWEST$/);
    t.match(rows[0], /^MARKET +7 +1 +7 +\d+(\.\d)? k?B +\S+ MB +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/);
    t.match(rows[1], /^DELIVERY +0 +\d +0 +0 B +\S+ MB +-$/);
    const [document] = await json('streams');
    t.match(document.streams[0], {
      stream: 'MARKET',
      subjects: ['market.>'],
      facts: count,
      first_seq: 1,
      last_seq: count,
    });
  });

  t.test('events', async (t) => {
    const plain = await relay(['events', 'market'], { env });
    const lines = plain.out.split('\n');
    t.equal(lines.length, count);
    t.match(
      lines[0],
      /^1 {2}\S+ \S+Z {2}event\.received {2}market\.event\.evt-1 {2}by test {2}\{"event_id":"evt-1",/,
    );
    t.match(lines[0], 'a\\u{9b}b', 'what a terminal would act on is shown as an escape');
    const narrow = await relay(['events', 'market'], { env, terminal: { columns: 80 } });
    for (const line of narrow.out.split('\n')) t.equal(line.length, 80);

    const seqs = async (...argv: string[]) => (await json('events', 'MARKET', ...argv)).map(({ seq }) => seq);
    t.same(await seqs(), [1, 2, 3, 4, 5, 6, 7]);
    t.same(await seqs('--from', '6'), [6, 7]);
    t.same(await seqs('--from', '2', '--to', '3'), [2, 3]);
    t.same(await seqs('--to', '99'), [1, 2, 3, 4, 5, 6, 7]);
    t.same(await seqs('--from', '99'), []);
    const beyond = { code: 0, out: '', err: 'MARKET ends at 7: 99 has not come yet' };
    t.same(await relay(['events', 'market', '--from', '99'], { env }), beyond);
    t.same(await relay(['events', 'market', '--from', '99', '--json'], { env }), beyond);
    t.equal((await relay(['events', 'market', '--from', '7', '--json'], { env })).err, '');
    t.match(await relay(['events', 'delivery'], { env }), { code: 0, out: '', err: '' });
    t.same(await seqs('--subject', 'market.event.evt-5'), [5]);
    t.same(await seqs('--subject', 'market.*.evt-5', '--from', '6'), []);
    t.same(await seqs('--subject', 'market.event.nobody'), []);
    t.match((await json('events', 'market', '--to', '1'))[0], {
      ...{
        stream: 'MARKET',
        seq: 1,
        type: 'event.received',
        by: 'test',
        cause: null,
        subject: 'market.event.evt-1',
      },
      data: { event_id: 'evt-1', target_channels: ['#bounties'] },
    });
    const foreign = await relay(['events', 'market', '--subject', 'delivery.lines'], { env });
    t.match(foreign, {
      code: 2,
      err: /no fact of MARKET has the subject delivery\.lines: they match market\.>/,
    });
    t.match(await relay(['events', 'market', '--subject', 'a b'], { env }), { code: 2 });
  });

  t.test('START-22 events waits until each line is taken', async (t) => {
    const stop = new AbortController();
    let written = 0;
    const out = () => void written++;
    const room = async () => stop.abort(); // as one who never reads, and is told to stop
    const events = ['events', 'market'];
    t.match(await relay(events, { env, terminal: { out, room }, stop: stop.signal }), { code: 0 });
    t.equal(written, 1);
  });

  t.test('events --follow goes on until it is told to stop, or until its end', async (t) => {
    const stop = new AbortController();
    const lines: string[] = [];
    let seen = (_: number) => {};
    const reached = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the new facts were not printed')), hangMs);
      seen = (seq) => {
        if (seq !== count + 2) return;
        clearTimeout(timer);
        resolve();
      };
    });
    const terminal = {
      out: (line: string) => {
        lines.push(line);
        seen(JSON.parse(line).seq);
      },
    };
    const argv = ['events', 'market', '--follow', '--json'];
    const following = relay([...argv, '--from', String(count)], { env, terminal, stop: stop.signal });
    await append(count + 1);
    const bounded = relay([...argv, '--to', String(count + 2)], { env });
    await append(count + 2);
    await reached;
    stop.abort();
    t.equal((await following).code, 0);
    t.same(
      lines.map((line) => JSON.parse(line).seq),
      [count, count + 1, count + 2],
    );
    t.equal((await bounded).out.split('\n').length, count + 2);
  });

  t.test('OPERATE-09 an imported fact is as old as it was', async (t) => {
    const at = new Date('2026-01-02T03:04:05.678Z');
    const headers = natsHeaders();
    headers.set(...importedHeader(at));
    const { seq } = await log.connection.jetstream().publish('audit.imported', 'x', { headers });
    await markImport(log.manager, 'AUDIT', seq);
    const [{ streams: listed }] = await json('streams');
    const [shown] = await json('events', 'audit');
    const { last_at } = listed.find(({ stream }: { stream: string }) => stream === 'AUDIT');
    t.same([last_at, shown.at], [at.toISOString(), at.toISOString()]);
    t.match((await relay(['streams'], { env })).out, /^AUDIT .* 2026-01-02 03:04:05Z$/m);
  });

  t.test('a fact that nobody can decode does not end the list', async (t) => {
    await log.connection.request('market.event.broken', 'no \x9b fact', { timeout: 30_000 });
    const plain = await relay(['events', 'market', '--from', String(count + 3)], { env });
    t.match(plain, { code: 0, out: /^10 {2}\S+ \S+Z {2}cannot be decoded: \S/ });
    t.match((await json('events', 'market')).at(-1), { seq: count + 3, error: /JSON/ });
  });
});
