// Logs as the service does. Each line of its input is a number of bytes and a level: it logs one line of so many, and tells on the
// error output.
import { createInterface } from 'node:readline';
import { openLogger } from '../../src/cli/service/logger.js';
import { recordingTerminal } from './terminal.js';

const logger = openLogger('info', recordingTerminal().terminal);
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
let count = 0;
createInterface({ input: process.stdin }).on('line', (line) => {
  const [bytes, level, times] = line.split(' ');
  for (let n = 0; n < Number(times); n++) {
    count += 1;
    logger[level as 'info' | 'fatal']({ count }, 'x'.repeat(Number(bytes)));
  }
  process.stderr.write(`logged ${count}\n`);
});
