import { killAll, killDelivery, killIrcd, killNats, killNatsNode, killService } from './crashes.js';
import type { Fault } from './fault.js';
import { cut, freeze, pauseIrcd, pauseNats } from './network.js';
import { outageBeyondTtl, poison } from './outcomes.js';
import { backlog, slowClients } from './pressure.js';
import { clocks, duplicateStorm, replay } from './producers.js';
import { soak } from './soak.js';
import { diskFull, tornCopy } from './storage.js';

/** Every fault of the suite, in the order of the table. */
export const faults: Fault[] = [
  killService,
  killDelivery,
  killNats,
  killNatsNode,
  killIrcd,
  killAll,
  cut,
  freeze,
  pauseNats,
  pauseIrcd,
  duplicateStorm,
  replay,
  clocks,
  poison,
  outageBeyondTtl,
  diskFull,
  tornCopy,
  backlog,
  slowClients,
  soak,
];
