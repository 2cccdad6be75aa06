import v8 from 'node:v8';
import vm from 'node:vm';
import type { Teardown } from './server-process.js';

/** Has garbage collected again and again until the test is over: what nobody holds is gone before it is needed. */
export function collectGarbage(t: Teardown): void {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const again = () => {
    const began = performance.now();
    collect();
    // a large heap takes long, and what is tested has to get on
    collecting = setTimeout(again, Math.max(100, 3 * (performance.now() - began)));
  };
  let collecting = setTimeout(again, 100);
  t.teardown(() => clearTimeout(collecting));
}
