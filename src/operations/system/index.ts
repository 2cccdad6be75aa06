import { checkServices, getHealth, getReadiness } from './health.js';
import { describeService, getMetrics } from './process.js';
import {
  getProjection,
  listProjections,
  pruneProjections,
  rebuildProjection,
  skipFact,
} from './read-models.js';
import { listStreams } from './streams.js';
import { listWorkers, skipWork } from './workers.js';

/** How the service is, and what whoever runs it sees and mends. */
export const systemOperations = [
  getHealth,
  getReadiness,
  checkServices,
  getMetrics,
  describeService,
  listProjections,
  getProjection,
  rebuildProjection,
  skipFact,
  pruneProjections,
  listStreams,
  listWorkers,
  skipWork,
];
