import type { Log } from '../../streams/core/index.js';
import type { Config } from '../config/config.js';
import { type AddressCounter, challengesOfAddress } from '../operations/core/challenge-limit.js';
import { networkOf } from '../operations/core/network-of.js';
import { SharedCounts, type SharedCountsOptions } from '../stores/shared-counts.js';

/** Counts the challenges of a kind that client addresses request, over all processes and restarts. */
export function challengeCounts(
  config: Config,
  log: Log,
  options: Pick<SharedCountsOptions, 'name' | 'description'>,
): AddressCounter {
  const { count: most, inMs: windowMs } = challengesOfAddress;
  const counts = new SharedCounts({ log, replicas: config.NATS_REPLICAS, most, windowMs, ...options });
  return { networkOf, take: (network) => counts.take(network) };
}
