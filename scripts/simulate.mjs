// Compiles, then plays seeds: test/simulation/main.ts says which and how many.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { compile, compiledDir } from './compile.mjs';
import { ofSimulations } from './node-options.mjs';

await compile();
const program = join(compiledDir, 'test/simulation/main.js');
const played = spawn(process.execPath, [...ofSimulations, program, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
// the terminal signals the program too, and the program reports its results
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => played.kill(signal));
played.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
