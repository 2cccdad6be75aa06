import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { nodeArgs } from '../support/programs.js';

// from util-linux: runs a command in a terminal of its own
const skip = spawnSync('script', ['--version']).status !== 0 && 'there is no script command here';

t.test('START-14 a program ends in order when its terminal is closed', { skip }, async (t) => {
  const file = join(t.testdir(), 'ended');
  const command = [process.execPath, ...nodeArgs('test/cli/until-stopped.ts'), file].join(' ');
  const terminal = spawn('script', ['-qfec', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'] });
  t.teardown(() => terminal.kill('SIGKILL'));
  await once(terminal.stdout, 'data');
  terminal.kill('SIGKILL');
  t.equal(await eventually('its end', async () => readFileSync(file, 'utf8')), 'ended');
});

t.test('START-14 without a terminal the signal is left alone', async (t) => {
  const file = join(t.testdir(), 'ended');
  const program = spawn(process.execPath, [...nodeArgs('test/cli/until-stopped.ts'), file], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => program.kill('SIGKILL'));
  await once(program.stdout, 'data');
  program.kill('SIGHUP');
  const [, signal] = await once(program, 'exit');
  t.equal(signal, 'SIGHUP', 'no handler is in the way of nohup, which has the signal ignored');
});
