import type { FastifyInstance } from 'fastify';
import type { UnresolvedPayment } from '../../../projections/payments/queries.js';
import type { ApiKeys } from '../../auth/api-keys.js';
import { inputOf } from '../../http/input.js';
import { sendReply } from '../../remote/mount.js';
import { namedHeaders, type Service } from '../../remote/service.js';
import { turnstileRoutes } from './service.js';

/** What the routes of payments work with. */
export interface PaymentsApiOptions {
  turnstile: Service<typeof turnstileRoutes>;
  keys: ApiKeys;
  /** The payments that operators are to see. */
  unresolved(): Promise<UnresolvedPayment[]>;
}

/** `/payments/*`: paid channels for everybody; the way in proves itself by its payment. `/ops/payments`: what is in doubt. */
export async function paymentsApi(app: FastifyInstance, options: PaymentsApiOptions): Promise<void> {
  const { turnstile, keys, unresolved } = options;
  const reads = {
    '/payments/channels': 'channels',
    '/payments/channels/:channel': 'channel',
    '/payments/sessions/:nick': 'sessions',
  } as const;
  for (const [path, operation] of Object.entries(reads)) {
    app.get(path, async (request, reply) => sendReply(reply, await turnstile[operation](inputOf(request))));
  }
  app.post('/payments/access/:channel', async (request, reply) => {
    const headers = namedHeaders(turnstileRoutes.access, (name) => request.headers[name]);
    return sendReply(reply, await turnstile.access({ ...inputOf(request), headers }));
  });
  app.get('/ops/payments', { onRequest: async (request) => void keys.require(request) }, async () => ({
    payments: await unresolved(),
  }));
}
