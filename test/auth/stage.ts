import { createSignerClient, type SignOptions } from '@slicekit/erc8128';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { keepRawBodies, rawBodyOf } from '../../src/auth/json-bodies.js';
import { authRoutes } from '../../src/http/nonces.js';
import { createServer } from '../../src/http/server.js';
import '../support/contract.js';
import { Nonces } from '../../src/auth/erc8128/nonces.js';
import { Wallets } from '../../src/auth/erc8128/wallets.js';
import { Log } from '../../streams/core/index.js';

/** The host that signatures in these tests are for; nobody is asked there. */
export const publicUrl = 'https://api.relay.example';

/** How the server of these tests differs from the usual one. */
export interface GuardedOptions {
  natsUrl: string;
  publicUrl?: string;
  nonceRateLimit?: number;
  /** Now for nonces. */
  now?: () => Date;
}

/** A server with the routes of wallet signatures, and `/guarded`, which tells whose wallet signed. */
export async function guardedServer(options: GuardedOptions): Promise<{
  server: FastifyInstance;
  nonces: Nonces;
  log: Log;
}> {
  const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const log = await Log.open({
    urls: options.natsUrl,
    name: 'guarded',
    streams: [],
    replicas: 1,
    maxBytes: 100_000_000,
    logger,
  });
  const now = options.now;
  const nonces = new Nonces({ log, replicas: 1, ...(now ? { now } : {}) });
  const wallets = new Wallets({ publicUrl: options.publicUrl ?? publicUrl, nonces });
  const server = await createServer({ logger, rateLimit: 600 });
  await server.register(authRoutes, {
    nonces,
    authority: wallets.authority,
    nonceRateLimit: options.nonceRateLimit ?? 0,
  });
  await server.register(async (scope) => {
    keepRawBodies(scope);
    for (const method of ['GET', 'POST', 'DELETE'] as const)
      scope.route({
        method,
        url: '/guarded',
        handler: async (request) => ({
          wallet: await wallets.verify(request, rawBodyOf(request)),
          body: request.body ?? null,
        }),
      });
  });
  server.addHook('onClose', () => log.close());
  return { server, nonces, log };
}

/** A wallet of its own that signs requests as the published client does. */
export function newWallet(chainId = 8453) {
  const account = privateKeyToAccount(generatePrivateKey());
  const client = createSignerClient({
    chainId,
    address: account.address,
    signMessage: (raw) => account.signMessage({ message: { raw } }),
  });
  return {
    account,
    /** The headers and the body of a signed request. */
    async sign(url: string, init: RequestInit, options: SignOptions) {
      const signed = await client.signRequest(url, init, { ttlSeconds: 300, ...options });
      const body = init.body as string | undefined;
      return { headers: Object.fromEntries(signed.headers), body };
    },
    client,
  };
}
