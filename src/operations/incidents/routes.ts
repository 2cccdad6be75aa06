import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ApiKeys } from '../../auth/api-keys.js';
import type { NickWallets } from '../../auth/nick-wallets.js';
import { inputOf } from '../../http/input.js';
import { keepRawBodies } from '../../http/raw-body.js';
import { sendReply } from '../../remote/mount.js';
import type { Service } from '../../remote/service.js';
import { Nick } from '../core/names.js';
import { parseInput } from '../core/validation.js';
import type { sentinelRoutes } from './service.js';

/** What the routes of the security consensus work with. */
export interface SentinelApiOptions {
  sentinel: Service<typeof sentinelRoutes>;
  keys: ApiKeys;
  /** Lets wallets report and vote for their nicks; without them only API keys do. */
  signers?: NickWallets;
}

/** Who reports and who votes, as their bodies say. */
const Reporter = z.object({ reporterNick: Nick }).transform(({ reporterNick: nick }) => ({ nick }));
const Voter = z.object({ voterNick: Nick }).transform(({ voterNick: nick }) => ({ nick }));

/**
 * `/sentinel/*`: security incidents for the public. Reads are open; who reports or votes needs an API key, or the
 * verified wallet of the nick in the body.
 */
export async function sentinelApi(app: FastifyInstance, options: SentinelApiOptions): Promise<void> {
  const { sentinel, keys, signers } = options;
  keepRawBodies(app);
  const signed = (request: FastifyRequest) => signers?.presented(request) ?? false;
  const actorOf = async (request: FastifyRequest, Body: z.ZodType<{ nick: string }>): Promise<string> => {
    if (!signers || !signed(request)) return keys.require(request);
    // a body that names nobody is told so before the nonce is used up
    return await signers.proven(request, parseInput(Body, request.body).nick);
  };
  const reads = {
    '/sentinel/incidents': 'list',
    '/sentinel/incidents/:id': 'show',
    '/sentinel/incidents/:id/consensus': 'consensus',
    '/sentinel/stats': 'statistics',
    '/sentinel/contributions/:nick': 'contributions',
    '/sentinel/cert-status': 'certificates',
  } as const;
  for (const [path, operation] of Object.entries(reads)) {
    app.get(path, async (request, reply) => sendReply(reply, await sentinel[operation](inputOf(request))));
  }
  const writes = {
    '/sentinel/incidents': ['report', Reporter],
    '/sentinel/incidents/:id/vote': ['vote', Voter],
  } as const;
  for (const [path, [operation, Body]] of Object.entries(writes)) {
    app.post(path, {
      // before the body is read: who may not write need not send one
      onRequest: async (request) => void (signed(request) || keys.require(request)),
      handler: async (request, reply) =>
        sendReply(
          reply,
          await sentinel[operation]({ ...inputOf(request), actor: await actorOf(request, Body) }),
        ),
    });
  }
}
