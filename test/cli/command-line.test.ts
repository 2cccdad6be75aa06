import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import t from 'tap';
import { commands } from '../../src/cli/commands.js';
import { isAgreed } from '../../src/cli/core/agreement.js';
import { showProgress } from '../../src/cli/core/progress.js';
import { askOn, bytes, cut, moment, printable, writeTable } from '../../src/cli/core/terminal.js';
import { loadSecrets } from '../../src/servers/secrets.js';
import { freePort } from '../support/ports.js';
import { recordingTerminal, relay } from './terminal.js';

t.test('usage', async (t) => {
  const cases: [string, string[], RegExp][] = [
    ['no command', [], /Usage: relay <command>/],
    ['an unknown command', ['strems'], /there is no command "strems": do you mean "streams"\?/],
    ['a command and an unknown option', ['strems', '--foo'], /there is no command "strems"/],
    ['an unknown option', ['streams', '--foo'], /unknown option --foo\nusage: relay streams/],
    ['an unknown short option', ['streams', '-x'], /unknown option -x/],
    ['an unknown option without a command', ['--foo'], /unknown option --foo/],
    ['an option of another command', ['streams', '--follow'], /unknown option --follow/],
    ['half a command', ['keys'], /"keys" needs one of: keys new, keys list, keys revoke/],
    [
      'an unknown second word',
      ['projections', 'rebiuld'],
      /there are: projections rebuild, projections skip/,
    ],
    ['a missing argument', ['events'], /<stream> is missing\nusage: relay events <stream>/],
    ['an argument too many', ['keys', 'new', 'a', 'b'], /"b" is one argument too many/],
    ['an option without its value', ['events', 'MARKET', '--from'], /--from needs a value: --from SEQ/],
    ['an option in the place of a value', ['events', 'MARKET', '--from', '--json'], /--from needs a value/],
    ['a switch with a value', ['events', 'MARKET', '--follow=yes'], /--follow takes no value/],
    ['a wrong option of no command', ['--json=1'], /--json takes no value\nusage: relay <command>/],
    ['an option given twice', ['events', 'MARKET', '--from', '1', '--from', '2'], /--from is given twice/],
    [
      'a number that is none',
      ['events', 'MARKET', '--from', '1.5'],
      /--from must be a whole number from 1 on/,
    ],
    ...['-1', '-5', '-.5', '-1e3'].map((number): [string, string[], RegExp] => [
      `the negative number ${number}`,
      ['events', 'MARKET', '--from', number],
      /--from must be a whole number from 1 on\nusage: relay events/,
    ]),
    ['a negative limit', ['dead-letters', '--limit', '-1'], /--limit must be a whole number from 1 on/],
    [
      'help for an unknown command',
      ['bogus', '--help'],
      /there is no command "bogus"\nusage: relay <command>/,
    ],
    ['help for a command in its short form', ['strems', '-h'], /do you mean "streams"\?/],
    [
      'help for an unknown one of a group',
      ['keys', 'old', '--help'],
      /"keys" needs one of: keys new, keys list, keys revoke/,
    ],
    ['an unknown stream', ['events', 'nothing'], /there is no stream "nothing": MARKET, DELIVERY/],
    [
      'an end before the beginning',
      ['events', 'market', '--from', '5', '--to', '4'],
      /--to is before --from/,
    ],
    [
      'a redelivery that ends before it begins',
      ['redeliver', '--from', '20', '--to', '10', '--yes'],
      /--to is before --from\nusage: relay redeliver/,
    ],
    [
      'OPERATE-23 a redelivery from a day that does not exist',
      ['redeliver', '--from', '2026-02-30', '--to', '2026-04-01', '--yes'],
      /--from must be a sequence, or a time like/,
    ],
    [
      'OPERATE-23 a redelivery up to a time of a day that does not exist',
      ['redeliver', '--from', '2024-02-29', '--to', '2026-02-29T12:00:00Z', '--yes'],
      /--to must be a sequence, or a time like/,
    ],
    ...['2026-02-30', '2025-02-29', '2026-04-31T23:00:00+02:00'].map((day): [string, string[], RegExp] => [
      `OPERATE-23 a replay to ${day}`,
      ['replay', 'delivery_queue', '--to', day],
      /--to must be a sequence, STREAM=SEQ,..., or a time in ISO 8601/,
    ]),
    ['both sources of a payload', ['emit', 'a', '--file', 'x', '--payload', '{}'], /exclude each other/],
    ['a type without a sample', ['emit', 'task.publishd'], /no sample for task\.publishd: give --payload/],
    ['a payload that is not JSON', ['emit', 'a', '--payload', '{'], /--payload is not JSON/],
    ['a payload that is no object', ['emit', 'a', '--payload', '[]'], /--payload must be a JSON object/],
    ['a setting without a value', ['emit', 'task.expired', '--set', 'x'], /--set must be FIELD=VALUE/],
    ['an address that is none', ['projections', '--url', 'localhost:8100'], /--url must be an address/],
    ['neither one event nor all', ['dead-letters', 'redrive'], /say which: one event_id, or --all/],
    ['one event and all', ['dead-letters', 'redrive', 'a', '--all'], /say which/],
    [
      'a skip without a reason',
      ['projections', 'skip', 'a', '--stream', 's', '--seq', '1'],
      /--reason is missing/,
    ],
    [
      'a needed option that is missing is shown without brackets',
      ['projections', 'skip', 'a'],
      /usage: relay projections skip <name> --stream STREAM --seq SEQ --reason TEXT \[--url URL\]/,
    ],
    ['a key name with a colon', ['keys', 'new', 'a:b'], /the name of a key has/],
    ['help for what there is not', ['help', 'nothing'], /there is no command "nothing"/],
  ];
  const env = { EM_WEBHOOK_SECRET: 's' };
  for (const [what, argv, message] of cases) {
    await t.test(`${what} is wrong usage`, async (t) => {
      const { code, out, err } = await relay(argv, { env });
      t.equal(code, 2);
      t.match(err, message);
      t.equal(out, '', 'the output is for results only');
      if (argv.length === 0) return;
      const machine = await relay([...argv, '--json'], { env });
      const both = JSON.parse(machine.err) as { code: string; error: string };
      t.match(both, { code: 'usage', error: String });
    });
  }

  t.test('a configuration that cannot be used', async (t) => {
    const { code, err } = await relay(['projections'], { env: { PORT: 'x', LOG_LEVEL: 'loud' } });
    t.equal(code, 2);
    t.match(err, /PORT: [\s\S]*LOG_LEVEL: /);
    const machine = await relay(['projections', '--json'], { env: { PORT: 'x' } });
    t.match(JSON.parse(machine.err), { code: 'config_invalid' });
  });

  t.test('a port that nobody knows', async (t) => {
    const { code, err } = await relay(['projections'], { env: { PORT: '0' } });
    t.equal(code, 2);
    t.match(err, /PORT is 0.*--url/);
  });
});

t.test('help', async (t) => {
  t.match((await relay(['replay', '--help'])).out, /without NATS_URL the service has it, and must run/);
  const all = await relay(['help']);
  t.equal(all.code, 0);
  for (const { name, summary } of commands)
    t.match(all.out, new RegExp(`^  ${name} +${summary.slice(0, 20)}`, 'm'));
  t.equal((await relay(['--help'])).out, all.out);
  t.equal((await relay(['-h'])).out, all.out);

  const one = await relay(['help', 'events']);
  t.match(one.out, /Usage: relay events <stream> \[options\][\s\S]*--subject SUBJECT +only facts/);
  t.equal((await relay(['events', '--help'])).out, one.out, 'without the argument that it needs');
  t.equal((await relay(['events', '--help', '--foo'])).out, one.out, 'whatever else is wrong');
  t.match(
    (await relay(['projections', 'skip', '--help'])).out,
    /skip <name> --stream STREAM .* \[options\]\n/,
  );
  t.same(await relay(['keys', '--help']), await relay(['help', 'keys']), 'of all of a group');
  const group = await relay(['help', 'projections']);
  for (const word of ['rebuild <name>', 'skip <name>', 'prune'])
    t.match(group.out, `relay projections ${word}`);
  const machine = JSON.parse((await relay(['help', '--json'])).out) as { name: string; usage: string }[];
  t.same(
    machine.map(({ name }) => name),
    commands.map(({ name }) => name),
  );
  for (const line of (await relay(['help', 'emit'])).out.split('\n')) t.ok(line.length <= 120, line);
});

t.test('--version', async (t) => {
  t.match(await relay(['--version']), { code: 0, out: /^\d+\.\d+\.\d+$/ });
  t.equal((await relay(['-v'])).out, (await relay(['--version'])).out);
  t.match(JSON.parse((await relay(['--version', '--json'])).out), { version: /^\d/ });
});

t.test('keys new', async (t) => {
  const plain = await relay(['keys', 'new']);
  t.match(plain, { code: 0, out: /^operator:[\w-]{43}$/, err: '' });
  t.not((await relay(['keys', 'new'])).out, plain.out);
  const { name, key, api_keys } = JSON.parse((await relay(['--json', 'keys', 'new', 'ann'])).out);
  t.equal(name, 'ann');
  t.equal(api_keys, `ann:${key}`);
  t.equal(Buffer.from(key, 'base64url').length, 32);
  t.match((await relay(['keys', 'new'], { terminal: { isTty: true } })).err, /API_KEYS/);
});

t.test('without a service', async (t) => {
  const dataDir = t.testdir();
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/json/ops/projections' ? 401 : 200;
    response.end(
      request.url === '/json/ops/projections' ? '{"error":"no key","code":"api_key_required"}' : 'a web page',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  t.teardown(() => server.close());
  const elsewhere = (path = '') => ['projections', '--url', `http://127.0.0.1:${port}${path}`];

  await t.test('something else answers', async (t) => {
    t.match(await relay(elsewhere()), { code: 1, err: /answers, but not as this service does/ });
  });
  await t.test('it says what it wants', async (t) => {
    t.match(await relay(elsewhere('/json')), {
      code: 1,
      err: /no key\nGive the key with --key or RELAY_API_KEY/,
    });
  });

  await t.test('other names of a command', async (t) => {
    for (const words of ['dead-letters list', 'projections status', 'projections list']) {
      const { code, err } = await relay([...words.split(' '), '--url', elsewhere('/json')[2]!]);
      t.notMatch({ code, err }, { code: 2 }, words);
    }
    t.match(await relay(['streams', 'list'], { env: { DATA_DIR: dataDir } }), { err: /no event log runs/ });
    t.match(await relay(['streams', 'list', 'more']), { code: 2, err: /"more" is one argument too many/ });
  });

  const silent = await freePort();
  const env = { DATA_DIR: dataDir, PORT: String(silent), EM_WEBHOOK_SECRET: 'secret' };
  const asking = [
    ['emit', 'task.expired'],
    ['projections'],
    ['projections', 'rebuild', 'a'],
    ['projections', 'prune'],
    ['dead-letters'],
    ['dead-letters', 'show', 'a'],
    ['dead-letters', 'redrive', '--all'],
  ];
  for (const argv of asking) {
    await t.test(`${argv.join(' ')}: nothing listens`, async (t) => {
      const { code, err } = await relay(argv, { env });
      t.equal(code, 1);
      t.match(
        err,
        `relay: nothing listens on http://127.0.0.1:${silent}\nStart the service with "relay start"`,
      );
      const machine = await relay([...argv, '--json'], { env });
      t.match(JSON.parse(machine.err), { code: 'service_not_running', hint: /relay start/ });
    });
  }
  const blocked = await relay(['dead-letters', '--url', 'http://127.0.0.1:1', '--json'], { env });
  t.match(JSON.parse(blocked.err), { code: 'port_blocked', error: /blocks its port/, hint: /another port/ });
  for (const argv of [['streams'], ['events', 'market']]) {
    await t.test(`${argv.join(' ')}: no log server`, async (t) => {
      t.match(await relay(argv, { env }), {
        code: 1,
        err: /no event log runs for the data directory .*\n.*relay start/,
      });
      const gone = await relay(argv, { env: { NATS_URL: `nats://me:secret@127.0.0.1:${silent}` } });
      t.match(gone, {
        code: 1,
        err: `the event log at nats://127.0.0.1:${silent} cannot be read: nothing listens there`,
      });
    });
  }
  await t.test('OPERATE-24 emit: no secret', async (t) => {
    t.match(await relay(['emit', 'task.expired'], { env: { DATA_DIR: dataDir } }), {
      code: 1,
      err: /no webhook secret to sign with\n.*secrets\.json/,
    });
    // one was made for our own IRC server, and events are not signed with it
    await loadSecrets(dataDir);
    const elsewhere = { DATA_DIR: dataDir, NATS_URL: 'nats://127.0.0.1:1' };
    t.match(await relay(['emit', 'task.expired'], { env: elsewhere }), {
      code: 1,
      err: /no webhook secret to sign with\nThe service makes none where NATS_URL, .* Set EM_WEBHOOK_SECRET/,
    });
  });
});

t.test('what is printed', async (t) => {
  t.test('tables are aligned, numbers on the right, and the last column fits', async (t) => {
    const rows = [
      ['a', 5, 'short'],
      [{ text: 'bcd\u009b\u202e', style: 'red' as const }, 12345, 'a text that is too long for this window'],
    ];
    const { terminal, out } = recordingTerminal({ columns: 50, colours: true });
    writeTable(terminal, ['NAME', 'COUNT', 'TEXT'], rows);
    const plain = out.map((line) => line.replace(/\x1b\[\d+m/g, ''));
    t.same(plain, [
      'NAME               COUNT  TEXT',
      'a                      5  short',
      'bcd\\u{9b}\\u{202e}  12345  a text that is too lo...',
    ]);
    t.match(out[2], '\x1b[31m');
  });

  t.test('nothing from outside reaches the terminal as a command', async (t) => {
    t.equal(printable('a\x1b[2J\r\n\u200b\u{e0041}é😀'), 'a\\u{1b}[2J\\u{d}\\u{a}\\u{200b}\\u{e0041}é😀');
  });

  t.test('sizes, times, cuts', async (t) => {
    t.same([0, 999, 1_000, 1_234_567, 8e9].map(bytes), ['0 B', '999 B', '1.0 kB', '1.2 MB', '8.0 GB']);
    t.equal(moment('2026-01-02T03:04:05.678Z'), '2026-01-02 03:04:05Z');
    t.same([null, undefined, 'soon'].map(moment), ['-', '-', '-']);
    t.same([cut('abcdef', 6), cut('abcdefg', 6)], ['abcdef', 'abc...']);
  });

  t.test('progress is a bar where somebody looks, else a line for each tenth', async (t) => {
    const statuses: string[] = [];
    const tty = recordingTerminal({ status: (text) => void statuses.push(text) });
    const bar = showProgress({ terminal: tty.terminal, json: false }, 'working');
    bar.to(1, 4);
    bar.to(4, 4);
    bar.end();
    t.same(statuses, [
      `working [${'#'.repeat(8)}${'.'.repeat(22)}] 25% (1 of 4)`,
      `working [${'#'.repeat(30)}] 100% (4 of 4)`,
      '',
    ]);
    const piped = recordingTerminal();
    const lines = showProgress({ terminal: piped.terminal, json: false }, 'working');
    for (let done = 0; done <= 1_000; done++) lines.to(done, 1_000);
    lines.end();
    t.equal(piped.err.length, 11);
    t.equal(piped.err[10], 'working: 100% (1000 of 1000)');
  });
});

t.test('OPERATE-26 agreement is a yes, and neither the end of the input nor a signal', async (t) => {
  const agreed = async (typed: (input: PassThrough, stop: AbortController) => void) => {
    const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
    const terminal = { ...recordingTerminal().terminal, ask: askOn({ input, output }) };
    const answer = isAgreed({ terminal, stop: stop.signal }, 'Do it?');
    typed(input, stop);
    return [await answer, String(output.read())];
  };
  t.same(await agreed((input) => input.write('y\n')), [true, 'Do it? [y/N] ']);
  t.same(await agreed((input) => input.write('n\n')), [false, 'Do it? [y/N] ']);
  t.same(
    await agreed((input) => input.end()),
    [false, 'Do it? [y/N] \n'],
    'what follows has a line of its own',
  );
  t.same(await agreed((_, stop) => stop.abort()), [false, 'Do it? [y/N] \r\n']);
  t.same(await agreed((input) => input.destroy(new Error('gone'))), [false, 'Do it? [y/N] \n']);
});

t.test('READ-24 a rebuild that is overtaken while it is waited for', async (t) => {
  const begun = { name: 'a', version: 2, schema: 'a_v2_g9' };
  const build = (of: object) => ({
    ...begun,
    state: 'building',
    streams: [],
    progress: null,
    error: null,
    ...of,
  });
  const own = build({});
  const read = build({ schema: 'a_v2_g8', state: 'live' });
  /** Lists the one after the other of these, and then the last one again and again. */
  const rebuild = async (...lists: object[][]) => {
    const server = createServer((request, response) => {
      const projections = lists.length > 1 ? lists.shift() : lists[0];
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(request.method === 'POST' ? begun : { projections, unused: [] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    return await relay(['projections', 'rebuild', 'a', '--url', `http://127.0.0.1:${port}`]);
  };
  const hint = '\nLook at what is built and read now: relay projections';
  t.match(await rebuild([], [read, own], [read, build({ schema: 'a_v2_g10' })]), {
    code: 1,
    err: `relay: a_v2_g9 is not built any more: a_v2_g10 was begun after it${hint}`,
  });
  t.match(await rebuild([], [build({ version: 3, schema: 'a_v3' })]), {
    code: 1,
    err: `relay: a_v2_g9 is not built any more: a_v3 was begun after it${hint}`,
  });
  const others = [read, build({ name: 'b', schema: 'b_v9' })];
  t.match(await rebuild([], others), {
    code: 1,
    err: `relay: a_v2_g9 is not built any more: the service does not have it among its builds any more${hint}`,
  });
  const live = { code: 0, out: 'a_v2_g9 is live' };
  const newer = build({ schema: 'a_v2_g10' });
  t.match(await rebuild(others, others, [read, own], [build({ state: 'live' }), newer]), live);
});

t.test('MCP-14 relay mcp without a service says in one line what to do', async (t) => {
  const serve = async (status: number, body: string) => {
    const server = createServer((_request, response) => response.writeHead(status).end(body));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const refusal = { error: { code: -32001, message: 'This API key is not known', data: {} } };
  const cases: [string, RegExp][] = [
    [nobody, new RegExp(`^relay: nothing listens on ${nobody}. Start the service with "relay start"`)],
    [
      await serve(200, '<html>'),
      /^relay: .* answers, but not as this service does \(200\)\. Say where .* with --url\.$/,
    ],
    [
      await serve(404, '{"message":"Not Found"}'),
      /^relay: .* answered 404, but not as MCP does\. Say where .* --url\.$/,
    ],
    [
      await serve(401, JSON.stringify(refusal)),
      /^relay: This API key is not known\. Give one with --key or RELAY_API_KEY\.$/,
    ],
  ];
  for (const [url, line] of cases) {
    const { code, out, err } = await relay(['mcp', '--url', url]);
    t.same([code, out, err.split('\n').length], [1, '', 1], err);
    t.match(err, line);
  }
  const { code, err } = await relay(['mcp', '--url', nobody, '--json']);
  t.match({ exit: code, ...JSON.parse(err) }, { exit: 1, code: 'service_not_running' });
});

t.test('bin/relay runs what is built next to it, from anywhere', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'relay-bin-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const relay = join(folder, 'bin/relay');
  await cp('bin', join(folder, 'bin'), { recursive: true });
  const run = () => promisify(execFile)(relay, ['a b', '--json'], { cwd: tmpdir() });
  await t.rejects(run(), { code: 1, stderr: /^relay: nothing is built here yet: [^\n]*\n$/ });
  await mkdir(join(folder, 'dist/src'), { recursive: true });
  await writeFile(join(folder, 'dist/src/cli.js'), 'console.log(JSON.stringify(process.argv.slice(2)))');
  t.same(JSON.parse((await run()).stdout), ['a b', '--json']);
});
