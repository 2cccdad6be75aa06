import { randomUUID } from 'node:crypto';
import { Marketplace } from '../../operations/marketplace/upstream.js';
import { type Check, fail, ok, type Result, warn } from './finding.js';

const timeoutMs = 10_000;

const reachable: Check = {
  id: 'marketplace',
  async look({ config: { EM_URL: url, EM_API_KEY: apiKey } }): Promise<Result> {
    if (url === '') return ok('EM_URL is empty: no marketplace is asked');
    const marketplace = new Marketplace({ url, apiKey, timeoutMs });
    try {
      // a read that changes nothing
      const request = {
        method: 'GET' as const,
        path: '/tasks?limit=1',
        headers: {},
        requestId: randomUUID(),
      };
      const { status } = await marketplace.ask(request);
      if (status === 401 || status === 403)
        return fail(
          `the marketplace at ${url} refuses us: ${status}`,
          apiKey === ''
            ? 'set EM_API_KEY to a key that it has given you'
            : 'set EM_API_KEY to a key that is good there',
        );
      if (status >= 400)
        return warn(`the marketplace at ${url} answers ${status}`, 'see whether EM_URL is its address');
      return ok(`the marketplace at ${url} answers`);
    } catch (error) {
      return fail(
        `the marketplace at ${url} cannot be asked: ${(error as Error).message}`,
        'correct EM_URL, or see whether it runs and can be reached from here',
      );
    } finally {
      await marketplace.close();
    }
  },
};

/** The marketplace whose routes the service passes on. */
export const marketplaceChecks: Check[] = [reachable];
