import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiKeys } from '../../auth/api-keys.js';
import type { NickWallets } from '../../auth/nick-wallets.js';
import { keepRawBodies } from '../../http/raw-body.js';
import { sendReply } from '../../remote/mount.js';
import type { Input, Service } from '../../remote/service.js';
import type { identityRoutes } from './service.js';

/** What the identity routes work with. */
export interface IdentityRoutesOptions {
  identity: Service<typeof identityRoutes>;
  keys: ApiKeys;
  /** Lets wallets unlink their nicks; without them only API keys do. */
  signers?: NickWallets;
}

/**
 * `/identity/*`: links between nicks and wallets for the public. Reads are open, and so are challenges and
 * signatures, which prove themselves; to link needs an API key, and to unlink one or the linked wallet.
 */
export async function identityApi(app: FastifyInstance, options: IdentityRoutesOptions): Promise<void> {
  const { identity, keys, signers } = options;
  keepRawBodies(app);
  const inputOf = ({ params, body }: FastifyRequest): Input => ({
    params: params as NonNullable<Input['params']>,
    body,
  });
  app.get('/identity/by-nick/:nick', async (request, reply) =>
    sendReply(reply, await identity.byNick(inputOf(request))),
  );
  app.get('/identity/by-wallet/:address', async (request, reply) =>
    sendReply(reply, await identity.byWallet(inputOf(request))),
  );
  app.post('/identity/link', {
    // before the body is read: who has no key need not send one
    onRequest: async (request) => void keys.require(request),
    handler: async (request, reply) =>
      sendReply(reply, await identity.link({ ...inputOf(request), actor: keys.require(request) })),
  });
  app.delete<{ Params: { nick: string } }>('/identity/link/:nick', async (request, reply) => {
    const actor = signers?.presented(request)
      ? await signers.linked(request, request.params.nick)
      : keys.require(request);
    return sendReply(reply, await identity.unlink({ ...inputOf(request), actor }));
  });
  app.post('/identity/verify-challenge', async (request, reply) =>
    sendReply(reply, await identity.challenge(inputOf(request))),
  );
  app.post('/identity/verify-signature', async (request, reply) =>
    sendReply(reply, await identity.verify(inputOf(request))),
  );
}
