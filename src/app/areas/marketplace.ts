import { MarketplaceCalls } from '../../operations/marketplace/calls.js';
import type { MarketplaceParts } from '../../operations/marketplace/passing-on.js';
import { Marketplace } from '../../operations/marketplace/upstream.js';
import type { Area, AreaParts } from './area.js';

/** The task marketplace that this service passes requests to, and the record of changes made there. */
export function marketplaceArea({ config, log, logger }: AreaParts): Area {
  const reads = config.EM_URL
    ? new Marketplace({ url: config.EM_URL, apiKey: config.EM_API_KEY, timeoutMs: config.PROXY_TIMEOUT })
    : undefined;
  const marketplace: MarketplaceParts['marketplace'] = reads && {
    reads,
    calls: new MarketplaceCalls({ log, logger, marketplace: reads }),
  };
  return { parts: { marketplace }, stop: async () => await reads?.close() };
}
