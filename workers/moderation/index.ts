import { atMost } from '../../streams/core/clock.js';
import { Decisions } from './decisions.js';
import { guardEvents } from './events.js';
import { GatewayHosts } from './gateway-hosts.js';
import { Held } from './held.js';
import { HearIdentified } from './identified.js';
import { InHand } from './in-hand.js';
import { GuardLines } from './lines.js';
import { NewAccounts } from './new-accounts.js';
import type { GuardOptions } from './options.js';
import { Sanctions } from './sanctions.js';

export { takeAppeals } from './appeals.js';
export { GatewayHosts } from './gateway-hosts.js';
export { tellIdentified } from './identified.js';
export { type GuardOptions, guard } from './options.js';

/**
 * Moderation: scores every recorded line and has the network act upon what looks like an attack, records what was
 * withheld of events, and lifts mutes and bans in time.
 */
export class GuardChannels {
  readonly #parts: { start(): void; stop(): Promise<void> }[];

  constructor(options: GuardOptions) {
    const decisions = new Decisions(options);
    const accounts = new NewAccounts(options);
    const gateway = new GatewayHosts(options);
    const inHand = new InHand();
    const held = new Held(options, accounts, gateway, inHand);
    const sanctions = new Sanctions(options, inHand, [decisions, held]);
    // until they can be seen to, it is looked again and again
    const orSoon = async (seeing: Promise<unknown>) => {
      await seeing.catch((error: unknown) => {
        sanctions.soon();
        throw error;
      });
    };
    const appeared = async (seen: Parameters<Held['appeared']>[0], channel: string) => {
      await Promise.all([decisions.appeared(seen), orSoon(held.appeared(seen, channel))]);
    };
    const lines = new GuardLines(options, accounts, gateway, inHand, appeared);
    const identified = new HearIdentified(options, (seen) => orSoon(held.heard(seen)));
    this.#parts = [lines, guardEvents(options), sanctions, identified];
  }

  start(): void {
    for (const part of this.#parts) part.start();
  }

  /** Takes no more lines and lets what is under way come to its end. Bounded. */
  async stop(): Promise<void> {
    const idle = Promise.all(this.#parts.map((part) => part.stop()));
    await atMost(idle, stopBoundMs);
  }
}

const stopBoundMs = 3_000;
