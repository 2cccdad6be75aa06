import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { nodeArgs } from '../support/programs.js';
import { needsDisk, smallDisk } from '../support/small-disk.js';

/** A program that logs into a file; `log` answers with what it then tells. */
function startLogging(t: Test, file: string) {
  const output = openSync(file, 'a');
  const child = spawn(process.execPath, nodeArgs('test/cli/log-lines.ts'), {
    stdio: ['pipe', output, 'pipe'],
  });
  closeSync(output);
  t.teardown(() => child.kill('SIGKILL'));
  const { stdin, stderr } = child;
  if (!stdin || !stderr) throw new Error('it has no pipes');
  const told = createInterface({ input: stderr })[Symbol.asyncIterator]();
  const log = async (bytes: number, level: 'info' | 'fatal', times = 1) => {
    stdin.write(`${bytes} ${level} ${times}\n`);
    return (await told.next()).value;
  };
  return log;
}

const noDevice = { skip: existsSync('/dev/full') ? false : 'needs /dev/full' };

t.test('START-16 a log that is always full', noDevice, async (t) => {
  const log = startLogging(t, '/dev/full');
  t.equal(await log(10, 'info'), 'logged 1');
  t.equal(await log(10, 'fatal'), 'logged 2', 'what pino does after a fatal line does not wait for ever');
  t.equal(await log(1_000_000, 'info', 20), 'logged 22', 'more than may wait');
});

t.test('START-16 a log that is full for a while', needsDisk, async (t) => {
  const disk = smallDisk(t, 40);
  const file = `${disk.dir}/relay.log`;
  const log = startLogging(t, file);
  const written = () => {
    const lines = readFileSync(file, 'utf8').split('\n');
    t.equal(lines.pop(), '', 'whole lines');
    return lines.map((line) => (JSON.parse(line) as { count: number }).count);
  };
  await log(10, 'info');
  await disk.fill(0);
  await log(100, 'info', 99);
  await disk.clear();
  await log(100, 'info');
  t.same(
    written(),
    Array.from({ length: 101 }, (_, n) => n + 1),
    'every line once, in order',
  );

  await disk.fill(0);
  // each is too long to be joined with another one, and more than may wait
  await log(9_000, 'info', 2_500);
  await disk.clear();
  await log(100, 'info', 2);
  const counts = written();
  t.equal(counts.at(-1), 2_603, 'it is written again');
  t.ok(counts.length > 1_800, `${counts.length} lines`);
  t.equal(new Set(counts).size, counts.length, 'none twice');
  t.same(
    counts,
    counts.toSorted((a, b) => a - b),
    'in order',
  );
});
