// The program of a thread that dies in the middle of its work, whatever it is.
import { serveCatchUps } from '../../projections/core/catch-up-worker.js';
import { tally } from './tally.js';

let batches = 0;
await serveCatchUps([
  {
    ...tally(),
    apply: async (...args) => {
      if (++batches > 3) setImmediate(() => process.exit(7));
      await tally().apply(...args);
    },
  },
]);
