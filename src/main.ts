import { runProcess } from './cli/core/process.js';
import { runCommandLine } from './cli/core/run.js';
import { startCommand } from './cli/service/start.js';

// `npm start` is `relay start`
void runProcess((terminal, stop) =>
  runCommandLine(['start', ...process.argv.slice(2)], { commands: [startCommand], terminal, stop }),
);
