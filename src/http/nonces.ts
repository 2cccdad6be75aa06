import type { FastifyInstance } from 'fastify';
import { Refusal } from '../../streams/core/index.js';
import { AddressLimit } from '../auth/address-limit.js';
import type { Nonces } from '../auth/erc8128/nonces.js';
import { nonceAliases, noncePath, signaturePolicy } from '../auth/erc8128/policy.js';

/** What one site is given, as IPv6 networks of 48 bits: nonces for so many of its networks a minute. */
const siteBits = 48;
const networksOfSite = 10;

/** What the route of nonces works with. */
export interface AuthRoutesOptions {
  nonces: Pick<Nonces, 'issue'>;
  /** The host that signatures must be for. */
  authority: string;
  /** Nonces a minute and address, for callers on this machine too; 0 lifts the limit. */
  nonceRateLimit: number;
}

/** `/auth/erc8128/nonce`: what a wallet needs to sign a request. */
export async function authRoutes(app: FastifyInstance, options: AuthRoutesOptions): Promise<void> {
  const { nonces, authority, nonceRateLimit } = options;
  const limit = nonceRateLimit > 0 ? new AddressLimit(nonceRateLimit) : undefined;
  // a site has many networks, and may not have all nonces
  const ofSite = new AddressLimit(nonceRateLimit * networksOfSite, { bits: siteBits });
  const message = `Sign one request to ${authority} with this nonce within ${signaturePolicy.nonceTtlSec} seconds`;

  for (const path of [noncePath, ...nonceAliases]) {
    // its own limit is the narrower one
    const config = limit ? { rateLimit: false as const } : {};
    app.get(path, { config, exposeHeadRoute: false }, async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const count = limit?.count(request.ip);
      if (limit && count) {
        reply.headers({
          'x-ratelimit-limit': limit.most,
          'x-ratelimit-remaining': count.remaining,
          'x-ratelimit-reset': count.resetSec,
        });
        // what is refused takes nothing of the site's
        const { allowed, resetSec } = count.allowed ? ofSite.count(request.ip) : count;
        if (!allowed)
          throw new Refusal('nonce_rate_limited', `Too many nonces: at most ${limit.most} a minute`, {
            retryAfter: resetSec,
          });
      }
      const { nonce, expiresAt } = await nonces.issue();
      return {
        nonce,
        ttl_seconds: signaturePolicy.nonceTtlSec,
        expires_at: expiresAt.toISOString(),
        message,
      };
    });
  }
}
