import { type Call, createCall } from '../../src/operations/core/call.js';
import type { ServiceName } from '../../src/operations/core/operation.js';
import { remoteService } from '../../src/remote/client.js';

/** Calls operations in this process, with what they work with. */
export const callHere = (parts: unknown): Call => createCall({ parts, remote: () => undefined });

/** Calls the operations of some services where they run, as a process that has none of them does. */
export function callElsewhere(
  services: Partial<Record<ServiceName, string>>,
  options: { parts?: unknown; timeoutMs?: number } = {},
): Call {
  return createCall({
    parts: options.parts,
    remote: (service) => {
      const url = services[service];
      return url === undefined
        ? undefined
        : remoteService(service, { url, timeoutMs: options.timeoutMs ?? 5_000 });
    },
  });
}
