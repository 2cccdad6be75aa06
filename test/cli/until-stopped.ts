// Runs until it is stopped, as a command of `relay` does; says in the file that it ended in order.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { runProcess } from '../../src/cli/core/process.js';

const [, , file = ''] = process.argv;
void runProcess(async (_terminal, stop) => {
  const running = setInterval(() => {}, 1_000);
  console.log('running');
  await once(stop, 'abort');
  clearInterval(running);
  writeFileSync(file, 'ended');
  return 0;
});
