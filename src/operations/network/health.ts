import type { Log } from '../../../streams/core/index.js';
import { defineOperation } from '../core/operation.js';
import { type EventsParts, queueOf } from '../events/queue.js';
import { type IrcState, ircStateView, troubleView } from './irc-state.js';
import type { NetworkParts } from './reads.js';

/** What the health of the bridge is made of. */
export interface BridgeHealthParts extends EventsParts, NetworkParts {
  log: Log;
  startedAt: Date;
  bridge: {
    /** State of the marketplace bot's connection, in whichever process it is. */
    irc(): Promise<IrcState | undefined>;
  };
}

/** Whether the bridge between the marketplace and the network is well. */
export const bridgeHealth = defineOperation('bridgeHealth', {
  remote: { service: 'bridge', method: 'get', path: '/health' },
  run: async (_input, _caller, parts: BridgeHealthParts) => {
    const irc = await parts.bridge.irc().catch(() => undefined);
    const recorder = await parts.network.recorder().catch(() => undefined);
    const queue = await queueOf(parts).catch(() => undefined);
    return {
      status: irc?.connected && recorder?.connected && parts.log.connected && queue ? 'ok' : 'degraded',
      ...(irc ? { irc: ircStateView(irc) } : {}),
      ...(recorder ? { recorder: ircStateView(recorder) } : {}),
      ...troubleView(irc, recorder),
      ...(queue ? { em_queue: queue } : {}),
      uptime: Math.round((Date.now() - parts.startedAt.getTime()) / 1000),
    };
  },
});
