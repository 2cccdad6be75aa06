import type { Config } from '../config/config.js';
import type { Metrics } from '../metrics/metrics.js';
import { type Call, createCall, nobody } from '../operations/core/call.js';
import type { ServiceName } from '../operations/core/operation.js';
import { operations } from '../operations/index.js';
import type { HealthParts } from '../operations/system/health.js';
import { remoteService } from '../remote/client.js';

/** Asks each internal service how it is, wherever it runs. */
export function healthOf(call: Call): HealthParts['system']['health'] {
  const checks = new Map(
    operations.flatMap((operation) =>
      operation.remote?.path === '/health' ? [[operation.remote.service, operation] as const] : [],
    ),
  );
  // what the network does not work without is told of first
  const services = [...new Set<ServiceName>(['bridge', 'turnstile', ...checks.keys()])];
  return Object.fromEntries(
    services.map((service) => [service, () => call(checks.get(service)!, {}, nobody)]),
  );
}

/** How operations are called: `here`, whatever is set, and `anywhere`, where their service runs. */
export interface Calls {
  here: Call;
  anywhere: Call;
}

/** Makes both ways to call operations. */
export function createCalls(config: Config, parts: object, observe: Metrics['call']): Calls {
  const services = {
    bridge: config.BRIDGE_URL,
    turnstile: config.TURNSTILE_URL,
    guardian: config.GUARDIAN_URL,
    mrserv: config.MRSERV_URL,
    channelserv: config.CHANNELSERV_URL,
    sentinel: config.SENTINEL_URL,
    multibrain: config.MULTIBRAIN_URL,
    verification: config.VERIFICATION_URL,
  };
  const elsewhere = new Map(
    Object.entries(services)
      .filter(([, url]) => url !== '')
      .map(([name, url]) => {
        const service = name as ServiceName;
        return [service, remoteService(service, { url, timeoutMs: config.PROXY_TIMEOUT })];
      }),
  );
  return {
    here: createCall({ parts, observe, remote: () => undefined, inside: true }),
    anywhere: createCall({ parts, observe, remote: (service) => elsewhere.get(service) }),
  };
}
