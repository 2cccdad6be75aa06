import { createHash } from 'node:crypto';
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { createApp } from '../../src/app/app.js';
import { lockExport } from '../../src/cli/transfer/export-lock.js';
import { readConfig } from '../../src/config/config.js';
import { Log } from '../../streams/core/index.js';
import { streams } from '../../streams/index.js';
import { Lease, leaseHolder } from '../../workers/core/lease.js';
import { eventually, hangMs } from '../support/eventually.js';
import { startNats, type TestNats } from '../support/nats.js';
import { temporaryDirectory } from '../support/sql.js';
import { run } from './service-process.js';
import { relay } from './terminal.js';

const names = streams.map(({ name }) => name);
const logger = pino({ level: 'silent' });
const placement = { replicas: 1, maxBytes: 500_000_000 };

async function openLog(t: Test, url: string, importing = false): Promise<Log> {
  const log = await Log.open({ urls: url, name: 'test', streams, ...placement, logger, importing });
  t.teardown(() => log.close());
  return log;
}

const publish = async (log: Log, subject: string, data: string | Uint8Array) => {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  const { error } = (await log.connection.request(subject, bytes, { timeout: 30_000 })).json<{
    error?: object;
  }>();
  if (error) throw new Error(JSON.stringify(error));
};

/** A log with all that can be in one: odd bytes, and gaps at the beginning, inside and at the end. */
async function fill(log: Log, count: number): Promise<void> {
  const odd = [
    '\u2028 and \u2029',
    '\ufeff{"bom":true}',
    '',
    '"\\\n\r\t\0',
    Buffer.from([0xc3, 0x28, 0xff, 0]),
  ];
  for (const [index, data] of odd.entries()) await publish(log, `market.event.odd-${index}`, data);
  for (let n = 0; n < count; n++)
    await publish(log, `market.event.n-${n}`, JSON.stringify({ n, text: 'é😀' }));
  for (let n = 0; n < 10; n++) await publish(log, 'delivery.lines', `line ${n}`);
  for (let n = 0; n < 3; n++) await publish(log, 'operations.projection.x', `skip ${n}`);
  const { streams } = log.manager;
  for (const seq of [1, 2, 9, 10, 11, 20]) await streams.deleteMessage('MARKET', seq, false);
  for (const seq of [3, 9, 10]) await streams.deleteMessage('DELIVERY', seq, false);
  await streams.purge('OPERATIONS');
}

/** Everything that a log holds, as its readers see it. */
async function contents(log: Log): Promise<object> {
  const found: Record<string, unknown> = {};
  for (const stream of streams) {
    const { state } = await log.manager.streams.info(stream.name, { deleted_details: true });
    const { messages, first_seq, last_seq, deleted = [] } = state;
    const entries: unknown[] = [];
    for await (const batch of log.follow(stream, {
      after: 0,
      batch: 500,
      signal: new AbortController().signal,
    })) {
      if (batch.length === 0) break;
      for (const { seq, subject, at, data } of batch)
        entries.push([seq, subject, at.toISOString(), Buffer.from(data).toString('base64')]);
    }
    found[stream.name] = { messages, first_seq, last_seq, deleted, entries };
  }
  return found;
}

/** An export as an earlier version would have written it. */
const withoutChecksums = (text: string) =>
  text.replace('"relay_export":2', '"relay_export":1').replaceAll(/,"sum":"[0-9a-f]{8}"\}$/gm, '}');

/** A source that is filled and exported, and an empty target. */
async function openPair(t: Test, count: number) {
  const [from, to] = await Promise.all([startNats(t), startNats(t)]);
  const source = await openLog(t, from.url, true);
  await fill(source, count);
  const directory = await temporaryDirectory(t);
  const file = `${directory}/export.jsonl`;
  const at = (nats: TestNats) => ({ NATS_URL: nats.url, STREAMS_MAX_BYTES: '500000000' });
  return { to, source, directory, file, atSource: at(from), atTarget: at(to) };
}

t.test('OPERATE-09 OPERATE-10 an export is imported byte by byte', async (t) => {
  const { to, source, directory, file, atSource, atTarget } = await openPair(t, 700);
  const original = await contents(source);
  const exported = await relay(['export', '--out', file, '--json'], { env: atSource });
  t.equal(exported.code, 0, exported.err);
  t.match(JSON.parse(exported.out), { written: 706, streams: { MARKET: 705, DELIVERY: 10, OPERATIONS: 3 } });
  const text = await readFile(file, 'utf8');
  const lines = text.trimEnd().split('\n');
  t.match(JSON.parse(lines[0]!), { relay_export: 2, streams: names });
  t.match(JSON.parse(lines[1]!), { stream: 'MARKET', seq: 3, data: '' });
  t.match(JSON.parse(lines[3]!), { seq: 5, base64: 'wyj/AA==' });
  t.equal((await relay(['export'], { env: atSource })).out, text.trimEnd(), 'the same on the output');

  const imported = await relay(['import', '--in', file], { env: atTarget });
  t.match(imported, { code: 0, out: '706 facts imported, there already: 0' }, imported.err);
  const absent = 705 - lines.filter((line) => JSON.parse(line).stream === 'MARKET').length;
  t.ok(absent > 0);
  t.match(imported.err, new RegExp(`^${absent} sequences of MARKET are not in the export`, 'm'));
  let target = await openLog(t, to.url);
  t.same(await contents(target), original, 'sequences, gaps, subjects, bytes and times');
  await target.close();
  await to.kill('SIGTERM');
  await to.start();
  target = await openLog(t, to.url);
  t.same(await contents(target), original, 'after a restart of the log server too');

  await t.test('repeated, both change nothing', async (t) => {
    t.match(await relay(['export', '--out', file], { env: atSource }), {
      code: 0,
      out: /^0 facts written/,
      err: /is there already, and is continued/,
    });
    t.equal(await readFile(file, 'utf8'), text);
    const copy = `${directory}/copy.jsonl`;
    t.match(await relay(['export', '--out', copy], { env: atTarget }), { code: 0 });
    t.equal(await readFile(copy, 'utf8'), text, 'an export of the import is the same file');
    t.match(await relay(['import', '--in', copy, '--json'], { env: atTarget }), {
      code: 0,
      out: /^\{"imported":0,"already":706,/,
    });
    t.same(await contents(target), original);
    t.match(await relay(['import', '--in', file], { env: atSource }), { code: 0, out: /^0 facts imported/ });
    t.same(await contents(source), original, 'into its own log');
  });

  await t.test('what came later follows', async (t) => {
    await publish(source, 'market.event.later', 'later');
    await publish(source, 'operations.projection.x', 'after the purge');
    t.match(await relay(['export', '--out', file], { env: atSource }), { code: 0, out: /^2 facts written/ });
    t.ok((await readFile(file, 'utf8')).startsWith(text), 'behind what was there');
    t.match(await relay(['import', '--in', file], { env: atTarget }), {
      code: 0,
      out: '2 facts imported, there already: 706',
    });
    t.same(await contents(await openLog(t, to.url)), await contents(source));
  });
});

t.test('OPERATE-10 OPERATE-13 interruptions', async (t) => {
  const { to, source, file, atSource, atTarget } = await openPair(t, 3_000);
  const interruptAt = (part: number) => {
    const stop = new AbortController();
    const status = (text: string) => {
      const [, label, percent] = /^(\w+) .* (\d+)%/.exec(text) ?? [];
      if (label !== 'checking' && Number(percent) >= part) stop.abort();
    };
    return { stop: stop.signal, terminal: { status } };
  };
  const argv = ['export', '--out', file];
  t.match(await relay(argv, { env: atSource, ...interruptAt(40) }), {
    code: 1,
    err: /interrupted\nThe same command goes on/,
  });
  const { length } = await readFile(file);
  t.match(await relay(['import', '--in', file], { env: atTarget }), { code: 1, err: /is not whole/ });
  await truncate(file, length - 7); // as a crash leaves a line
  t.match(await relay(argv, { env: atSource }), { code: 0 });
  const whole = (await relay(['export'], { env: atSource })).out;
  t.equal((await readFile(file, 'utf8')).trimEnd(), whole, 'the export that was never interrupted');

  t.match(await relay(['import', '--in', file], { env: atTarget, ...interruptAt(50) }), {
    code: 1,
    err: /the import was interrupted\nNo service starts on this log now/,
  });
  const target = await openLog(t, to.url, true);
  const { last_seq } = (await target.manager.streams.info('MARKET')).state;
  t.ok(last_seq > 0 && last_seq < 3_005, `it stopped at ${last_seq}`);
  const settings = { ...atTarget, DATA_DIR: await temporaryDirectory(t), PORT: '0', ROLES: 'api' };
  await t.rejects(createApp(readConfig(settings), logger), /import into this event log was not finished/);
  t.match(await relay(['import', '--in', file], { env: atTarget }), { code: 0, out: /there already: \d+$/ });
  t.same(await contents(await openLog(t, to.url)), await contents(source));
});

t.test(
  'OPERATE-10 OPERATE-11 into a log that a service was started on, which lets nothing be removed',
  async (t) => {
    const { to, source, file, atSource, atTarget } = await openPair(t, 20);
    await (await openLog(t, to.url)).close();
    t.match(await relay(['export', '--out', file], { env: atSource }), { code: 0 });
    t.match(await relay(['import', '--in', file], { env: atTarget }), { code: 0 });
    // what was imported a log learns when it is opened
    const imported = async () => await contents(await openLog(t, to.url));
    t.same(await imported(), await contents(source), 'nothing was in it');

    await publish(source, 'market.event.more', 'more');
    t.match(await relay(['export', '--out', file], { env: atSource }), { code: 0 });
    t.match(await relay(['import', '--in', file], { env: atTarget }), { code: 0, out: /^1 fact imported/ });
    t.same(await imported(), await contents(source), 'all that is missing is in the export');

    const before = await imported();
    for (const n of [1, 2]) await publish(source, `market.event.gap-${n}`, 'more');
    const { last_seq } = (await source.manager.streams.info('MARKET')).state;
    await source.manager.streams.deleteMessage('MARKET', last_seq - 1, false);
    t.match(await relay(['export', '--out', file], { env: atSource }), { code: 0 });
    t.match(await relay(['import', '--in', file], { env: atTarget }), {
      code: 1,
      err: /MARKET: a service was started on this log.*Nothing was changed/s,
    });
    t.same(await imported(), before);
    t.match(await relay(['export', '--out', `${file}.own`], { env: atTarget }), { code: 0 });
  },
);

t.test('OPERATE-11 what does not fit is refused, and nothing is changed', async (t) => {
  const { to, source, directory, file, atSource, atTarget } = await openPair(t, 20);
  await relay(['export', '--out', file], { env: atSource });
  const text = (await readFile(file, 'utf8')).trimEnd();
  const lines = text.split('\n');
  const old = withoutChecksums(text).split('\n');
  const target = await openLog(t, to.url, true);
  const empty = await contents(target);
  const importing = async (given: string[]) => {
    const path = `${directory}/given.jsonl`;
    await writeFile(path, `${given.join('\n')}\n`);
    return await relay(['import', '--in', path], { env: atTarget });
  };
  const cases: [string, string[], RegExp][] = [
    ['an empty line', [], /given\.jsonl is no export that this version knows/],
    ['something else', ['{"hello":1}'], /given\.jsonl is no export that this version knows\nName a file/],
    ['no JSON', ['# Relay Network', ''], /^relay: \S+given\.jsonl is no export that this version knows$/m],
    ['no JSON further down', [old[0]!, '# Relay'], /line 2: it is no line of an export/],
    ['no head', lines.slice(1), /line 1: the head is not where it should be/],
    ['no end', lines.slice(0, -1), /is not whole/],
    ['a line twice', [...old.slice(0, 3), ...old.slice(2)], /line 4: MARKET 4 does not come after/],
    ['an unknown stream', [old[0]!.replace('MARKET', 'OTHER'), ...old.slice(1)], /has no stream OTHER/],
    [
      'a stream outside its head',
      [old[0]!.replace('"DELIVERY",', ''), ...old.slice(1)],
      /does not name DELIVERY/,
    ],
    [
      'a later version',
      [lines[0]!.replace('"relay_export":2', '"relay_export":3'), ...lines.slice(1)],
      /is no export that this version knows/,
    ],
  ];
  for (const [what, given, message] of cases)
    t.match(await importing(given), { code: 1, err: message }, what);
  // the input is kept in a file of ours, which nobody knows
  const fromInput = run(t, ['src/cli.ts', 'import'], atTarget);
  t.match(await fromInput.ended(), {
    code: 1,
    err: /^relay: standard input is empty: there is no export\n$/,
  });
  const partial = `${directory}/partial.jsonl`;
  t.match(await relay(['export', '--streams', 'market', '--out', partial], { env: atSource }), { code: 0 });
  t.match(await relay(['import', '--in', partial], { env: atTarget }), { code: 1, err: /has only MARKET/ });
  t.match(await relay(['import', '--in', `${directory}/none`], { env: atTarget }), {
    code: 1,
    err: /cannot be read/,
  });
  t.match(await relay(['export', '--streams', 'x'], { env: atSource }), {
    code: 2,
    err: /there is no stream "x"/,
  });
  t.match(await relay(['export', '--streams', 'market', '--out', file], { env: atSource }), {
    code: 1,
    err: /is an export of MARKET, DELIVERY, /,
  });
  t.same(await contents(target), empty);

  for (const device of ['/dev/zero', '/dev/full', '/dev/null'])
    t.match(
      await relay(['export', '--out', device], { env: atSource }),
      { code: 1, err: /is no file[\s\S]*Without --out/ },
      device,
    );

  await t.test('another log', async (t) => {
    t.match(await relay(['import', '--in', file], { env: atTarget }), { code: 0 });
    await publish(target, 'market.event.own', 'of its own');
    const own = await contents(target);
    t.match(await relay(['import', '--in', file], { env: atTarget }), {
      code: 1,
      err: /MARKET 26: the log has more than the export/,
    });
    await publish(source, 'market.event.other', 'of the source');
    t.match(await relay(['export', '--out', file], { env: atSource }), { code: 0 });
    t.match(await relay(['import', '--in', file], { env: atTarget }), {
      code: 1,
      err: /MARKET 26: it is another fact in the log\nNothing was changed/,
    });
    await target.manager.streams.deleteMessage('MARKET', 12, false);
    t.match(await relay(['import', '--in', file], { env: atTarget }), {
      code: 1,
      err: /MARKET 12: the log has no/,
    });
    t.same(
      ((await contents(target)) as { DELIVERY: object }).DELIVERY,
      (own as { DELIVERY: object }).DELIVERY,
    );
    t.match(await relay(['export', '--out', file], { env: atTarget }), {
      code: 1,
      err: /an export of another log/,
    });
  });

  await t.test('a log that any worker has a lease of', async (t) => {
    const begin = () => ({ stop: async () => {} });
    const lease = new Lease({
      log: target,
      logger,
      name: 'resolve-payments',
      holder: 'one',
      replicas: 1,
      begin,
    });
    lease.start();
    t.teardown(() => lease.stop());
    await eventually(
      'it to be taken',
      async () => (await leaseHolder(target, 'resolve-payments')) !== undefined,
    );
    t.match(await relay(['import', '--in', file], { env: atTarget }), {
      code: 1,
      err: /a service works with this event log \(one has resolve-payments\)/,
    });
    await lease.stop();
  });

  await t.test('a log that a service works with', async (t) => {
    const app = await createApp(
      readConfig({
        ...atSource,
        DATA_DIR: await temporaryDirectory(t),
        PORT: '0',
        ROLES: 'irc',
        IRC_URL: 'irc://127.0.0.1:9',
      }),
      logger,
    );
    t.teardown(() => app.stop());
    const before = await contents(source);
    const deadline = Date.now() + hangMs;
    let refused = await relay(['import', '--in', file], { env: atSource });
    // until the service holds its lease the import finds nothing to do in its own log
    while (refused.code === 0 && Date.now() < deadline)
      refused = await relay(['import', '--in', file], { env: atSource });
    t.match(refused, { code: 1, err: /a service works with this event log/ });
    t.same(await contents(source), before);
  });
});

t.test('OPERATE-19 an export that is not as it was written is refused, with the line', async (t) => {
  const { to, source, directory, file, atSource, atTarget } = await openPair(t, 20);
  await relay(['export', '--out', file], { env: atSource });
  await publish(source, 'market.event.later', `\ufffd${'x'.repeat(10_000)}`);
  await relay(['export', '--out', file], { env: atSource });
  const target = await openLog(t, to.url, true);
  const empty = await contents(target);
  const text = await readFile(file, 'latin1'); // one character a byte
  const lines = text.trimEnd().split('\n');
  const lineOf = (part: string) => lines.findIndex((line) => line.includes(part));
  const edited = (edit: (lines: string[]) => string[]) => `${edit([...lines]).join('\n')}\n`;
  const replaced = (part: string, by: string) => {
    const given = text.replace(part, by);
    t.not(given, text, part);
    return given;
  };

  t.equal(
    lines.filter((line) => line.startsWith('{"end"')).length,
    2,
    'one end, and one of the continuation',
  );
  let digest = '0'.repeat(64);
  const wrong: number[] = [];
  for (const [index, line] of lines.entries()) {
    const [, open, sum] = /^(.*),"sum":"([0-9a-f]{8})"\}$/.exec(line)!;
    digest = createHash('sha256').update(digest).update(open!, 'latin1').digest('hex');
    if (sum !== digest.slice(0, 8)) wrong.push(index + 1);
  }
  t.same(wrong, [], 'lines with another checksum');

  const n7 = lineOf('market.event.n-7"');
  const firstEnd = lineOf('{"end"');
  const cases: [what: string, given: string, line: number][] = [
    ['text of a fact', replaced('\\"n\\":7,', '\\"n\\":8,'), n7],
    ['a subject', replaced('market.event.n-7"', 'market.event.m-7"'), n7],
    ['a sequence', edited((all) => all.with(n7, all[n7]!.replace(/"seq":(\d)/, '"seq":9$1'))), n7],
    ['a checksum', edited((all) => all.with(n7, all[n7]!.replace(/"sum":"./, '"sum":"x'))), n7],
    ['no checksum', edited((all) => all.with(n7, all[n7]!.replace(/,"sum".*\}/, '}'))), n7],
    ['text that is no JSON any more', edited((all) => all.with(n7, all[n7]!.replace('"', ' '))), n7],
    ['bytes that read the same', replaced('\xef\xbf\xbd', '\xef\xbf'), lineOf('\xef\xbf\xbd')],
    ['a removed line', edited((all) => all.toSpliced(n7, 1)), n7],
    ['a line more', edited((all) => all.toSpliced(n7, 0, '')), n7],
    ['a line twice', edited((all) => all.toSpliced(n7, 0, all[n7 - 1]!)), n7],
    ['swapped lines', edited((all) => all.with(n7, all[n7 + 1]!).with(n7 + 1, all[n7]!)), n7],
    ['a cut tail of a stream', edited((all) => all.toSpliced(firstEnd - 4, 4)), firstEnd - 4],
    [
      'an end',
      edited((all) => all.with(-1, all.at(-1)!.replace(/"MARKET":\d+/, '"MARKET":99'))),
      lines.length - 1,
    ],
    ['line ends of another system', text.replaceAll('\n', '\r\n'), 0],
    ['a head', replaced('"whole":true', '"whole":true '), 0],
  ];
  const path = `${directory}/given.jsonl`;
  for (const [what, given, line] of cases) {
    await writeFile(path, given, 'latin1');
    const isBehind = line > 1 ? ` \\(after [A-Z]+ \\d+\\)` : '';
    const refusal = new RegExp(
      `line ${line + 1}${isBehind} is not as it was written: .*\\nNothing was changed\\. Take`,
    );
    t.match(await relay(['import', '--in', path], { env: atTarget }), { code: 1, err: refusal }, what);
    t.match(await relay(['export', '--out', path], { env: atSource }), { code: 1, err: refusal }, what);
    t.equal(await readFile(path, 'latin1'), given, `${what}: the file is left as it is`);
  }
  await writeFile(
    path,
    edited((all) => all.toSpliced(n7, 1)),
    'latin1',
  );
  const { err } = await relay(['import', '--in', path, '--json'], { env: atTarget });
  const before = JSON.parse(lines[n7 - 1]!) as { stream: string; seq: number };
  t.match(JSON.parse(err), { code: 'export_altered', error: `after ${before.stream} ${before.seq})` });
  t.same(await contents(target), empty);

  await t.test('one that was cut between two lines goes on, with the same checksums', async (t) => {
    const whole = (await relay(['export'], { env: atSource })).out;
    for (const kept of [1, 2, n7, firstEnd]) {
      await writeFile(path, `${whole.split('\n').slice(0, kept).join('\n')}\n`);
      t.match(await relay(['import', '--in', path], { env: atTarget }), { code: 1, err: /is not whole/ });
      t.match(await relay(['export', '--out', path], { env: atSource }), { code: 0 });
      t.equal((await readFile(path, 'utf8')).trimEnd(), whole, `${kept} lines`);
    }
    t.match(await relay(['import', '--in', file, '--json'], { env: atTarget }), {
      code: 0,
      out: /"checksums":true/,
    });
    t.same(await contents(await openLog(t, to.url)), await contents(source));
  });
});

t.test('OPERATE-21 a file that is no export is left alone, also without a line end', async (t) => {
  const { directory, atSource } = await openPair(t, 20);
  const whole = (await relay(['export'], { env: atSource })).out;
  const path = `${directory}/given`;
  const exporting = async (given: string) => {
    await writeFile(path, given);
    return await relay(['export', '--out', path, '--json'], { env: atSource });
  };
  for (const given of ['my notes', '\n', '{"a":1}', '{"relay_exports":1}', 'x'.repeat(3_000_000), '[1]\n']) {
    const { code, err } = await exporting(given);
    t.match({ exit: code, ...JSON.parse(err) }, { exit: 1, code: 'not_an_export' }, given.slice(0, 20));
    t.equal(await readFile(path, 'utf8'), given, 'it is as it was');
  }
  for (const given of ['', '{', '{"relay_e', whole.slice(0, 40)]) {
    t.match(await exporting(given), { code: 0 }, given);
    t.equal(
      (await readFile(path, 'utf8')).trimEnd(),
      whole,
      'what was cut off in its first line is begun again',
    );
  }
});

t.test('OPERATE-22 of two exports into one file the second is refused', async (t) => {
  const { directory, file, atSource } = await openPair(t, 3_000);
  const lock = `${file}.lock`;
  const exporting = () => relay(['export', '--out', file], { env: atSource });
  const whole = (await relay(['export'], { env: atSource })).out;

  const outcomes = await Promise.all(Array.from({ length: 4 }, exporting));
  t.ok(outcomes.some(({ code }) => code === 0));
  t.equal((await readFile(file, 'utf8')).trimEnd(), whole, 'several that begin together');
  t.same(await readdir(directory), ['export.jsonl'], 'no lock is left');

  const unlock = await lockExport(file);
  const refused = await exporting();
  t.match(refused, { code: 1, err: `relay: process ${process.pid} exports into ${file} (${lock})` });
  await unlock();
  t.match(await exporting(), { code: 0 });

  const killed = run(t, ['--eval', '0']);
  await killed.ended();
  await writeFile(lock, `relay export: process ${killed.child.pid} of ${hostname()}, begun at 1\n`);
  t.match(await exporting(), { code: 0 }, 'a lock of a process that was killed');
  await writeFile(lock, `relay export: process ${process.pid} of ${hostname()}, begun at 1\n`);
  t.match(await exporting(), { code: 0 }, 'a lock of one whose number another process has now');
  t.same(await readdir(directory), ['export.jsonl']);

  for (const [text, error] of [
    ['relay export: process 1 of elsewhere, begun at 1\n', /process 1 of elsewhere exports into/],
    ['', /is in the way: it is no lock/],
    ['left-pad@1.0.0', /is in the way: it is no lock/],
  ] as const) {
    await writeFile(lock, text);
    t.match(await exporting(), { code: 1, err: error });
    t.equal(await readFile(lock, 'utf8'), text, 'it is left alone');
  }
});

t.test('OPERATE-20 an export of an earlier version is continued and imported, with a warning', async (t) => {
  const { to, source, file, atSource, atTarget } = await openPair(t, 20);
  const old = withoutChecksums(`${(await relay(['export'], { env: atSource })).out}\n`);
  t.notMatch(old, /"sum"/);
  await writeFile(file, old);
  await publish(source, 'market.event.later', 'later');
  const warning = /is of an earlier version, without checksums: what was altered in it is not noticed/;
  t.match(await relay(['export', '--out', file], { env: atSource }), {
    code: 0,
    out: /^1 fact /,
    err: warning,
  });
  const continued = await readFile(file, 'utf8');
  t.ok(continued.startsWith(old));
  t.notMatch(continued, /"sum"/);
  t.match(await relay(['import', '--in', file, '--json'], { env: atTarget }), {
    code: 0,
    out: /"checksums":false/,
    err: warning,
  });
  t.same(await contents(await openLog(t, to.url)), await contents(source));

  const mixed = `${(await relay(['export'], { env: atSource })).out}\n`.replace('export":2', 'export":1');
  await writeFile(file, mixed);
  t.match(
    await relay(['import', '--in', file], { env: atTarget }),
    { code: 1, err: /is no export that this version knows/ },
    'a head of an earlier version has no checksum',
  );
});

t.test('OPERATE-09 the log of a data directory, without the service', async (t) => {
  const { file, atSource } = await openPair(t, 30);
  await relay(['export', '--out', file], { env: atSource });
  const DATA_DIR = `${await temporaryDirectory(t)}/data`;
  t.match(await relay(['export'], { env: { DATA_DIR } }), { code: 1, err: /there is no event log in/ });
  const imported = await relay(['import', '--in', file], { env: { DATA_DIR } });
  t.match(imported, { code: 0 }, imported.err);
  t.equal((await relay(['export'], { env: { DATA_DIR } })).out, (await readFile(file, 'utf8')).trimEnd());
});

t.test('OPERATE-25 an export of a log without a stream that a newer version has', async (t) => {
  const { source, file, atSource, atTarget } = await openPair(t, 30);
  const absent = names.at(-1)!;
  await source.manager.streams.delete(absent);
  const exported = await relay(['export', '--out', file], { env: atSource });
  t.match(exported, { code: 0, out: /^36 facts written/ }, exported.err);
  const [head = ''] = (await readFile(file, 'utf8')).split('\n');
  t.match(JSON.parse(head), { streams: names.slice(0, -1), whole: true });
  t.match(await relay(['import', '--in', file], { env: atTarget }), { code: 0, out: /^36 facts imported/ });

  const named = ['export', '--json', '--streams'];
  const refused = async (env: NodeJS.ProcessEnv, ...argv: string[]) => {
    const { code, out, err } = await relay(argv, { env });
    t.match({ code, out, ...JSON.parse(err) }, { code: 'no_streams', out: '' }, err);
    return (JSON.parse(err) as { error: string }).error;
  };
  t.equal(await refused(atSource, ...named, absent), `the log server has no stream ${absent}`);
  const empty = { NATS_URL: (await startNats(t)).url };
  t.equal(await refused(empty, 'export', '--json'), 'the log server has none of the streams yet');
});
