import { runProcess } from './ops/process.js';
import { runCommandLine } from './ops/run.js';
import { startCommand } from './ops/start-command.js';

// `npm start` is `relay start`
void runProcess((terminal, stop) =>
  runCommandLine(['start', ...process.argv.slice(2)], { commands: [startCommand], terminal, stop }),
);
