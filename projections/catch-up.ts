// The program of the thread that folds what lags far.
import { serveCatchUps } from './core/catch-up-worker.js';
import { projections } from './index.js';

await serveCatchUps(projections);
