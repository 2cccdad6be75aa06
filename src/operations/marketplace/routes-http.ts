import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { auditedCalls } from '../../../projections/marketplace.js';
import { Refusal } from '../../../streams/core/index.js';
import { refusals } from '../../../streams/refusals.js';
import type { ApiKeys } from '../../auth/api-keys.js';
import type { ReadModels } from '../../stores/read-models.js';
import { parseInput } from '../core/validation.js';
import { onlyPublished } from './available.js';
import type { MarketplaceCalls } from './calls.js';
import { type MarketplaceRoute, marketplaceRoutes } from './routes.js';
import type { Marketplace, MarketplaceAnswer } from './upstream.js';

/** What the marketplace's routes work with. */
export interface MarketplaceOptions {
  /** `undefined` where none is configured. */
  marketplace: { reads: Marketplace; calls: MarketplaceCalls } | undefined;
  readModels: ReadModels;
  keys: ApiKeys;
}

/** What a parameter may be: nothing that a server could take for a part of the path. */
const Parameter = z
  .string()
  .regex(/^(?!\.{1,2}$)[\w.~:@-]{1,128}$/, 'must be an id of letters, digits and _ . ~ : @ -');
const AuditQuery = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(100),
  before: z.coerce.number().int().min(1).optional(),
});

/** `/em/*`: the task marketplace, passed on as it is; `/ops/audit`: what was changed there through this service. */
export async function marketplaceApi(app: FastifyInstance, options: MarketplaceOptions): Promise<void> {
  const { marketplace, readModels, keys } = options;

  await app.register(async (scope) => {
    // bodies go on byte by byte, whatever they are: what they mean is the marketplace's to say
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    for (const route of Object.values(marketplaceRoutes) as MarketplaceRoute[]) {
      const changes = route.method !== 'GET';
      const pathOf = pathsOf(route);
      scope.route({
        method: route.method,
        url: `/em${route.path}`,
        exposeHeadRoute: false,
        ...(changes ? { onRequest: async (request: FastifyRequest) => void keys.require(request) } : {}),
        handler: async (request, reply) => {
          const path = pathOf(request);
          if (!marketplace) return notConfigured(route, reply);
          const asked = { path, headers: request.headers, requestId: request.id };
          if (!changes) {
            const answer = await marketplace.reads.ask({ ...asked, method: 'GET' });
            return send(reply, route.path === '/tasks/available' ? onlyPublished(answer) : answer);
          }
          const body = request.body as Buffer | undefined;
          const answer = await marketplace.calls.make({
            ...asked,
            method: route.method as 'POST' | 'DELETE',
            body,
            actor: keys.require(request),
            publicPath: request.url.split('?')[0]!,
            taskId: taskOf(route, request, body),
          });
          return send(reply, answer);
        },
      });
    }
  });

  app.get('/ops/audit', { onRequest: async (request) => void keys.require(request) }, async (request) => {
    const query = parseInput(AuditQuery, request.query);
    const entries = await readModels.read(
      'audit_log',
      (sql, schema) => auditedCalls(sql, schema, query),
      marketplace?.calls.recorded,
    );
    return { entries };
  });
}

/** Where a route's requests go at the marketplace: the path, with the query as it came. */
function pathsOf(route: MarketplaceRoute): (request: FastifyRequest) => string {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const Params = z.object(Object.fromEntries(names.map((name) => [name, Parameter])));
  return ({ params, url }) => {
    const given = parseInput(Params, params);
    const path = route.path.replace(/:(\w+)/g, (_, name: string) => given[name]!);
    const query = url.indexOf('?');
    return query < 0 ? path : path + url.slice(query);
  };
}

function taskOf(
  route: MarketplaceRoute,
  { params }: FastifyRequest,
  body: Buffer | undefined,
): string | null {
  const { id } = params as { id?: string };
  if (route.path.startsWith('/tasks/') && id !== undefined) return id;
  try {
    const { task_id } = JSON.parse(body?.toString() ?? '') as { task_id?: unknown };
    return typeof task_id === 'string' ? task_id.slice(0, 200) : null;
  } catch {
    return null;
  }
}

function notConfigured({ list }: MarketplaceRoute, reply: FastifyReply): FastifyReply {
  if (list) return reply.send({ tasks: [], hint: refusals.marketplace_not_configured.hint });
  throw new Refusal('marketplace_not_configured');
}

function send(reply: FastifyReply, { status, headers, body }: MarketplaceAnswer): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
