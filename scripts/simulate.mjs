// Compiles, then plays seeds: test/simulation/main.ts says which and how many.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { compile, compiledDir } from './compile.mjs';

await compile();
const program = join(compiledDir, 'test/simulation/main.js');
// runs leave much garbage in a short time; with one process per processor, each collects its own
const options = ['--enable-source-maps', '--max-semi-space-size=32', '--single-threaded-gc'];
const played = spawn(process.execPath, [...options, program, ...process.argv.slice(2)], { stdio: 'inherit' });
// the terminal signals the program too, and the program reports its results
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => played.kill(signal));
played.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
