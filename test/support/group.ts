import { appendFileSync, readFileSync } from 'node:fs';
import t from 'tap';

// Runs test files in one process, one after the other: they share what takes a process a second or two to load and to compile.
// `TEST_FILES` names them by their sources. What each took goes to the file `TEST_TIMES`

/** CPU time of this process and of those that it has waited for, in milliseconds. */
function computedMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

const { TEST_FILES = '', TEST_TIMES } = process.env;
let hasEnded = false;
// a file that ends the process leaves the others out
process.once('exit', () => {
  if (!hasEnded) process.exitCode ||= 1;
});
const tests = t.test.bind(t);
for (const file of TEST_FILES.split(' ')) {
  const [began, before] = [performance.now(), computedMs()];
  await tests(file, async (of) => {
    // what a file gets from tap is the root of this process: here, that is its own part
    Object.assign(t, { test: of.test.bind(of), teardown: of.teardown.bind(of) });
    Object.defineProperty(t, 'jobs', { set: (jobs: number) => (of.jobs = jobs), configurable: true });
    await import(new URL(`../../${file.replace(/ts$/, 'js')}`, import.meta.url).href);
  });
  const took = { file, ms: performance.now() - began, computed: computedMs() - before };
  if (TEST_TIMES) appendFileSync(TEST_TIMES, `${JSON.stringify(took)}\n`);
}
hasEnded = true;
