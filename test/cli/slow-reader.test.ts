import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { Log } from '../../streams/core/index.js';
import { eventToken, market, marketSubject } from '../../streams/events/index.js';
import { streams } from '../../streams/index.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { nodeArgs, programFile } from '../support/programs.js';

const count = 2_000;
/** More than all pipes and buffers between a command and its reader have room for. */
const factBytes = 2_000;

/** A log with facts of some size, and the environment of commands that read it. */
async function filledLog(t: Test): Promise<Record<string, string>> {
  const nats = await startNats(t);
  const placement = { replicas: 1, maxBytes: 100_000_000, logger: pino({ level: 'silent' }) };
  const log = await Log.open({ urls: nats.url, name: 'test', streams, ...placement });
  const payload = { id: 't1', note: 'x'.repeat(factBytes) };
  const event = { event_id: 'evt-1', event_type: 'task.expired', source: 'test', payload };
  const data = { ...event, target_channels: ['#bounties'], formatted_message: '[EXPIRED] Task t1' };
  const fact = { type: 'event.received', data } as const;
  await log.appendOnce(market, marketSubject(eventToken('evt-1')), fact, { by: 'test' });
  const { data: bytes } = await log.manager.streams.getMessage(market.name, { seq: 1 });
  for (let n = 2; n <= count; n++) log.connection.publish(marketSubject(eventToken(`evt-${n}`)), bytes);
  await eventually('all to be stored', async () => (await log.head(market)) === count);
  await log.close();
  return { NATS_URL: nats.url };
}

/** Starts a program that nobody reads yet. */
function startUnread(t: Test, args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, nodeArgs(...args), {
    env: { PATH: process.env.PATH, TMPDIR: tmpdir(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let err = '';
  const said = new Map<string, () => void>();
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
    for (const [words, seen] of said) if (err.includes(words)) seen();
  });
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  return {
    child,
    exit,
    err: () => err,
    /** Resolves when the error output has these words, or the program has ended. */
    says: (words: string) =>
      Promise.race([
        exit,
        new Promise<void>((seen) => said.set(words, seen)),
        ...(err.includes(words) ? [0] : []),
      ]),
  };
}

/** Reads slower than a command writes, to the end. */
async function readSlowly(child: ChildProcess, seen: (text: string) => void): Promise<void> {
  for await (const chunk of child.stdout!.setEncoding('utf8')) {
    seen(chunk);
    await delay(20);
  }
}

t.test('START-22 a slow reader', async (t) => {
  const env = await filledLog(t);

  for (const [command, lines] of [
    [['export'], count + 2],
    [['events', 'market'], count],
    [['events', 'market', '--json'], count],
  ] as const) {
    await t.test(`relay ${command.join(' ')} gives it everything`, async (t) => {
      const program = startUnread(t, ['src/cli.ts', ...command], env);
      let text = '';
      await readSlowly(program.child, (chunk) => {
        text += chunk;
      });
      t.same(await program.exit, [0, null], program.err());
      t.equal(text.split('\n').length - 1, lines);
      t.ok(text.endsWith('\n'));
    });
  }

  await t.test('an export goes no further than it is read', async (t) => {
    const program = startUnread(t, ['src/cli.ts', 'export'], env);
    let read = 0;
    let readAtEnd: number | undefined;
    const atEnd = program.says('100%').then(() => {
      readAtEnd = read;
    });
    await readSlowly(program.child, (chunk) => {
      read += chunk.length;
    });
    await atEnd;
    t.ok(readAtEnd! > read / 2, `${readAtEnd} of ${read} characters were read when all was written`);
  });

  await t.test('one that never reads holds up no signal', async (t) => {
    const program = startUnread(t, ['src/cli.ts', 'export'], env);
    await program.says('exporting: ');
    program.child.kill('SIGINT');
    t.same(await program.exit, [1, null]);
    t.match(program.err(), /^relay: the export was interrupted$/m);
  });
});

t.test('START-22 a command that is done waits for its reader, and can be stopped', async (t) => {
  const program = `
    import { runProcess } from './${programFile('src/cli/core/process.ts')}';
    await runProcess(async (terminal) => {
      for (let n = 0; n < 1_000; n++) terminal.out('x'.repeat(1_000));
      setTimeout(() => terminal.err('done'), 50);
      return 0;
    });`;
  const start = () => startUnread(t, ['--input-type=module', '--eval', program]);
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const unread = start();
    await unread.says('done');
    unread.child.kill(signal);
    t.same(await unread.exit, [code, null], signal);
  }
  const left = start();
  await left.says('done');
  left.child.stdout!.destroy();
  t.same(await left.exit, [0, null], 'a reader that goes has seen enough');
});
