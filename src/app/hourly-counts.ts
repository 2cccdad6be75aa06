import type { Log } from '../../streams/core/index.js';
import type { Config } from '../config/config.js';
import { SharedCounts, type SharedCountsOptions } from '../stores/shared-counts.js';

const hourMs = 3_600_000;

/** Counts what somebody does in an hour, over all processes and restarts. */
export const hourlyCounts = (
  config: Config,
  log: Log,
  options: Pick<SharedCountsOptions, 'name' | 'description' | 'most'>,
) => new SharedCounts({ log, replicas: config.NATS_REPLICAS, windowMs: hourMs, ...options });
