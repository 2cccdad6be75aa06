import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { App } from '../../src/app/app.js';
import { type Answer, askOf } from '../channels/stage.js';
import { startApp } from '../support/app.js';
import { startNats, type TestNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';

/** The service without bots, and a way to ask it. */
export interface IdentityStage {
  nats: TestNats;
  app: App & { url: string };
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  link(nick: string, wallet_address: string): Promise<Answer>;
  /** Asks for a challenge, signs it with a wallet and sends the signature. */
  verify(nick: string, wallet: PrivateKeyAccount): Promise<Answer>;
}

/** Roles that need no network. */
export const withoutIrc = 'api,services,projections,workers,schedule';

/** A wallet that nobody else has. */
export function newWallet(): PrivateKeyAccount {
  return privateKeyToAccount(`0x${randomBytes(32).toString('hex')}`);
}

/** Starts a log, if none is given, and the service; `environment` is added to the service's. */
export async function identityStage(
  t: Teardown,
  environment: Record<string, string> = {},
  nats?: TestNats,
): Promise<IdentityStage> {
  const server = nats ?? (await startNats(t));
  const app = await startApp(t, { NATS_URL: server.url, ROLES: withoutIrc, ...environment });
  const ask: IdentityStage['ask'] = (...request) => askOf(app.url, ...request);
  return {
    nats: server,
    app,
    ask,
    link: (nick, wallet_address) => ask('POST', '/identity/link', { nick, wallet_address }),
    verify: async (nick, wallet) => {
      const { body } = await ask('POST', '/identity/verify-challenge', { nick });
      const signature: Hex = await wallet.signMessage({ message: body.challenge });
      return await ask('POST', '/identity/verify-signature', { nick, signature });
    },
  };
}
