/** What node is told for test files: most of their code runs a few times only. */
export const ofTests = [
  '--enable-source-maps',
  // PGlite's WebAssembly is optimised again in each process, which takes longer than the tests then use it
  '--liftoff-only',
  '--wasm-lazy-compilation',
  '--wasm-lazy-validation',
  // most of the code that a test runs does not run often enough to be worth optimising
  '--interrupt-budget=2000000',
];

/**
 * What it is told for many simulated runs. They leave much garbage in a short time. With one process per processor, each
 * collects its own.
 */
export const ofSimulations = ['--enable-source-maps', '--max-semi-space-size=32', '--single-threaded-gc'];
