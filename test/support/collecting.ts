import v8 from 'node:v8';
import vm from 'node:vm';
import type { Teardown } from './server-process.js';

let users = 0;
let collecting = false;

/** Has garbage collected again and again until the test is over: what nobody holds is gone before it is needed. */
export function collectGarbage(t: Teardown): void {
  users += 1;
  t.teardown(() => {
    users -= 1;
  });
  if (!collecting) collectAgain();
}

function collectAgain(): void {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const again = () => {
    collecting = users > 0;
    if (!collecting) return;
    const began = performance.now();
    collect();
    // a large heap takes long, and what is tested has to get on
    setTimeout(again, Math.max(100, 3 * (performance.now() - began)));
  };
  collecting = true;
  setTimeout(again, 100);
}
