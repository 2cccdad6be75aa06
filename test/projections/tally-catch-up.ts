// The program of a thread that folds the tally of the tests.
import { serveCatchUps } from '../../projections/core/catch-up-worker.js';
import { tally } from './tally.js';

await serveCatchUps([tally()]);
