import { Lease } from '../../../workers/core/lease.js';
import { PushIdentity } from '../../../workers/identity/push/index.js';
import type { Config } from '../../config/config.js';
import type { BotParts } from './bot.js';

/** Makes the telling of identity changes ready to be held by one process at a time; `undefined` without a receiver. */
export function createPush(config: Config, parts: BotParts): Lease | undefined {
  const { log, logger, holder } = parts;
  const { EM_IDENTITY_WEBHOOK_URL: url, EM_IDENTITY_WEBHOOK_SECRET: secret, EM_SOURCE: source } = config;
  if (url === '' || secret === '') return undefined;
  return new Lease({
    ...{ log, logger, holder, name: 'push-identity', replicas: config.NATS_REPLICAS },
    begin: () => new PushIdentity({ log, logger, source, receiver: { url, secret } }),
  });
}
