import v8 from 'node:v8';
import vm from 'node:vm';
import type { Teardown } from './server-process.js';

/** Has garbage collected again and again until the test is over: what nobody holds is gone before it is needed. */
export function collectGarbage(t: Teardown): void {
  v8.setFlagsFromString('--expose-gc');
  const collecting = setInterval(vm.runInNewContext('gc') as () => void, 100);
  t.teardown(() => clearInterval(collecting));
}
