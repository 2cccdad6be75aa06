import { commands } from './ops/commands.js';
import { runProcess } from './ops/process.js';
import { runCommandLine } from './ops/run.js';

// `npm start` is `relay start`
void runProcess((terminal, stop) =>
  runCommandLine(['start', ...process.argv.slice(2)], { commands, terminal, stop }),
);
