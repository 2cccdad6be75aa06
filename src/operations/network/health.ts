import type { Log } from '../../../streams/core/index.js';
import { healthOf, type IrcState, ircStateView, secondsSince, troubleView } from '../core/health.js';
import { defineOperation } from '../core/operation.js';
import type { NetworkParts } from './reads.js';

/** What the health of the bridge is made of. */
export interface BridgeHealthParts extends NetworkParts {
  log: Log;
  startedAt: Date;
  bridge: {
    /** State of the marketplace bot's connection, in whichever process it is. */
    irc(): Promise<IrcState | undefined>;
    /** The numbers of the queue of events. */
    queue(): Promise<object>;
  };
}

/** Whether the bridge between the marketplace and the network is well. */
export const bridgeHealth = defineOperation('bridgeHealth', {
  remote: healthOf('bridge'),
  run: async (_input, _caller, parts: BridgeHealthParts) => {
    const irc = await parts.bridge.irc().catch(() => undefined);
    const recorder = await parts.network.recorder().catch(() => undefined);
    const queue = await parts.bridge.queue().catch(() => undefined);
    return {
      status: irc?.connected && recorder?.connected && parts.log.connected && queue ? 'ok' : 'degraded',
      ...(irc ? { irc: ircStateView(irc) } : {}),
      ...(recorder ? { recorder: ircStateView(recorder) } : {}),
      ...troubleView(irc, recorder),
      ...(queue ? { em_queue: queue } : {}),
      uptime: secondsSince(parts.startedAt),
    };
  },
});
