import { execFileSync } from 'node:child_process';

/** What V8 of this Node.js can be told. Its options come and go with its versions, and one that it does not know ends a process. */
const ofV8 = new Set(
  execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8', maxBuffer: 2 ** 24 })
    .split('\n')
    .flatMap((line) => /^\s+(--[\w-]+) \(/.exec(line)?.[1] ?? []),
);

function known(options) {
  return options.filter((option) => ofV8.has(option.split('=', 1)[0]));
}

/** What node is told for test files: most of their code runs a few times only. */
export const ofTests = [
  '--enable-source-maps',
  ...known([
    // PGlite's WebAssembly is optimised again in each process, which takes longer than the tests then use it
    '--liftoff-only',
    '--wasm-lazy-compilation',
    '--wasm-lazy-validation',
    // most of the code that a test runs does not run often enough to be worth optimising
    '--interrupt-budget=2000000',
  ]),
];

/**
 * What it is told for many simulated runs. They leave much garbage in a short time. With one process per processor, each
 * collects its own.
 */
export const ofSimulations = [
  '--enable-source-maps',
  ...known(['--max-semi-space-size=32', '--single-threaded-gc']),
];
