import type { Log } from '../../../streams/core/index.js';
import { challengeMs, expiredMs } from '../../../streams/identity/index.js';
import { SharedRecords } from '../../stores/shared-records.js';

/** How many nicks may have challenges at a time; those not requested for longest are forgotten first. */
const mostNicks = 10_000;

/** Where the challenges of wallets are: on the log server for an hour at most. All processes see the same ones. */
export const walletChallenges = (log: Log, replicas: number) =>
  new SharedRecords(log, {
    name: 'RELAY_WALLET_CHALLENGES',
    description: 'Challenges of links that wait for the signature of their wallet.',
    maxAgeMs: challengeMs + expiredMs,
    maxEntries: mostNicks,
    whenFull: 'forget',
    storage: 'disk',
    replicas,
  });
