import { LRUCache } from 'lru-cache';

/**
 * A cache of at most so many entries, which forgets those that were used least recently. `ttl` is in milliseconds.
 *
 * With `max`, lru-cache reserves room for all of them at once. What rarely fills would cost as much as what is full, so
 * this counts entries as sizes.
 */
export function boundedCache<Key extends {}, Value extends {}>(
  most: number,
  options: { ttl?: number } = {},
): LRUCache<Key, Value> {
  return new LRUCache({ ...options, maxSize: most, sizeCalculation: () => 1 });
}
