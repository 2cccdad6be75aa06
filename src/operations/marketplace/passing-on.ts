import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { newId, Refusal } from '../../../streams/core/index.js';
import { refusals } from '../../../streams/refusals.js';
import type { ReadModels } from '../../stores/read-models.js';
import type { Call } from '../core/call.js';
import type { Description } from '../core/description.js';
import { defineOperation, type Operation, type ToolFace } from '../core/operation.js';
import { scope } from '../core/rights.js';
import { onlyPublished } from './available.js';
import type { MarketplaceCalls } from './calls.js';
import { exampleTask, type MarketplaceRoute, marketplaceRoutes } from './routes.js';
import {
  type Marketplace,
  type MarketplaceAnswer,
  OwnKey,
  ownKeyHeader,
  requestHeaders,
} from './upstream.js';

/** What the operations of the marketplace work with. */
export interface MarketplaceParts {
  readModels: ReadModels;
  call: Call;
  /** `undefined` where none is configured. */
  marketplace: { reads: Marketplace; calls: MarketplaceCalls } | undefined;
}

/** What is passed on besides the ids in the path. */
const passed = {
  /** The query as it came, with its `?`. */
  search: z.string(),
  headers: z.record(z.string(), z.string()),
  [ownKeyHeader]: OwnKey.optional(),
  body: z.instanceof(Uint8Array).optional(),
};
type Passed = z.ZodObject<typeof passed>;
type PassedOn = Operation<MarketplaceParts, Passed, MarketplaceAnswer>;

/** The form of an id: nothing that a server could take for a part of the path. */
const Id = z
  .string()
  .regex(/^(?!\.{1,2}$)[\w.~:@-]{1,128}$/, 'must be an id of letters, digits and _ . ~ : @ -');
/** The parameters of paths: as they are described, and as tools name and take them. */
const parameters: Record<string, { input: z.ZodType; tool: [string, z.ZodType] }> = {
  id: parameter('task_id', 'Id of the task', exampleTask.id),
  disputeId: parameter('dispute_id', 'Id of the dispute', exampleTask.id),
  relayId: parameter('relay_id', 'Id of the relay chain', exampleTask.id),
  nick: parameter('nick', 'IRC nick', 'alice'),
  legNum: { ...parameter('', 'Number of the leg', '1'), tool: ['leg_number', z.int().min(1)] },
};

function parameter(name: string, says: string, example: string) {
  const input = Id.meta({ description: says, example });
  return { input, tool: [name, input] as [string, z.ZodType] };
}

/** Headers in the description. */
const ownKey = {
  schema: OwnKey,
  example: 'em-key-of-mine',
  says: "The caller's own credential at the marketplace, sent there in place of the operator's; recorded nowhere",
};
const repetition = {
  schema: z.string(),
  example: '7b1c0d9e',
  says: 'Passed on, for a marketplace that knows repetitions by it',
};

/**
 * What can be asked of the marketplace, by id. Query and body are passed on unchanged, and every change is
 * recorded.
 */
export const passedOn = Object.fromEntries(
  Object.entries(marketplaceRoutes).map(([id, route]) => [id, passingOn(id, route)]),
) as Record<keyof typeof marketplaceRoutes, PassedOn>;

function passingOn(id: string, route: MarketplaceRoute): PassedOn {
  const { method, path, summary, list } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const ids = Object.fromEntries(names.map((name) => [name, parameters[name]!.input]));
  const changes = method !== 'GET';
  return defineOperation(id, {
    tag: 'Task marketplace',
    summary,
    description: `Passed on to \`/api/v1${path.replace(/\{(\w+)\}/g, ':$1')}\` of the marketplace, query and body unchanged.${
      changes ? ' Never repeated by this service, and recorded whatever comes of it.' : ''
    }`,
    // a wallet may read what anybody may: the rest is about people, and needs the operator's credential
    access: route.walletReadable ? 'open' : scope('tasks'),
    input: z.object({ ...ids, ...passed }) as unknown as Passed,
    says: list
      ? 'As the marketplace answers; an empty list with a hint where none is configured'
      : 'As the marketplace answers',
    output: z.unknown().meta({ example: list ? { tasks: [exampleTask], count: 1 } : { id: exampleTask.id } }),
    refusals: {
      validation_failed: `${names.length > 0 ? 'A parameter is no id, or ' : ''}X-EM-Api-Key is no key`,
      marketplace_unreachable: true,
      marketplace_timeout: true,
      marketplace_invalid: true,
      ...(list ? {} : { marketplace_not_configured: true }),
    },
    http: {
      method: method.toLowerCase() as 'get' | 'post' | 'delete',
      path: `/em${path}`,
      without: Object.keys(passed),
      head: false,
      ...(changes ? { body: 'bytes' } : {}),
      collect: asItCame,
      send: (reply, { status, headers, body }) => reply.code(status).headers(headers).send(body),
      describe: describedAs(route),
    },
    tool: toolOf(id, route, names),
    run: async (
      { search, headers, body, [ownKeyHeader]: own, ...ids },
      caller,
      { marketplace }: MarketplaceParts,
    ) => {
      const target = path.replace(/\{(\w+)\}/g, (_, name: string) => (ids as Record<string, string>)[name]!);
      if (!marketplace) return nothingFrom(route);
      const ownKey = own ?? caller.marketplaceKey;
      const asked = { path: target + search, headers, ownKey, requestId: caller.cause ?? newId() };
      if (method === 'GET') {
        const answer = await marketplace.reads.ask({ ...asked, method });
        return id === 'availableTasks' ? onlyPublished(answer) : answer;
      }
      return await marketplace.calls.make({
        ...asked,
        method,
        body,
        actor: caller.actor,
        publicPath: `/em${target}`,
        taskId: path.startsWith('/tasks/{id}') ? (ids as { id: string }).id : taskIn(body),
      });
    },
  });
}

function asItCame({ params, url, headers, body }: FastifyRequest) {
  const query = url.indexOf('?');
  const given = requestHeaders.flatMap((name) =>
    headers[name] === undefined ? [] : [[name, headers[name]]],
  );
  return {
    ...(params as object),
    search: query < 0 ? '' : url.slice(query),
    headers: Object.fromEntries(given),
    [ownKeyHeader]: headers[ownKeyHeader],
    body: body ?? undefined,
  };
}

function describedAs({ method, query, example }: MarketplaceRoute): Partial<Description> {
  return {
    passesOn: 'the marketplace',
    // the marketplace decides about the values
    ...(query ? { query: z.object(query).partial() } : {}),
    headers: { 'X-EM-Api-Key': ownKey, ...(method === 'GET' ? {} : { 'Idempotency-Key': repetition }) },
    ...(method === 'POST'
      ? { body: { schema: z.looseObject({}), example: example ?? {}, optional: true } }
      : {}),
  };
}

function toolOf(id: string, route: MarketplaceRoute, names: string[]): ToolFace<Passed, MarketplaceAnswer> {
  const { method, query, title, description, fields, spends, idempotent, walletReadable } = route;
  const name = `svc_em_${id.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
  const ids = Object.fromEntries(names.map((name) => parameters[name]!.tool));
  const shared = { name, title, openWorld: true, result: toldBy };
  if (method === 'GET') {
    return {
      ...shared,
      description,
      walletReadable: walletReadable ?? false,
      parameters: { schema: z.object({ ...ids, ...query }), toInput: inputOf(method, names) },
    };
  }
  return {
    ...shared,
    description: `${description} Further fields are passed on.`,
    effect: spends ? 'spend' : 'change',
    idempotent: idempotent ?? false,
    parameters: { schema: z.looseObject({ ...ids, ...fields }), toInput: inputOf(method, names) },
  };
}

/** The input of a tool: ids go into the path, all else into the query of a read or the body of a change. */
function inputOf(method: MarketplaceRoute['method'], names: string[]) {
  return (given: Record<string, unknown>): z.input<Passed> => {
    const called = names.map((name) => [name, parameters[name]!.tool[0]] as const);
    const ids = Object.fromEntries(called.map(([name, tool]) => [name, String(given[tool])]));
    const inPath = called.map(([, tool]) => tool);
    const left = Object.entries(given).filter(
      ([name, value]) => !inPath.includes(name) && value !== undefined,
    );
    if (method === 'GET') {
      const query = new URLSearchParams(left.map(([name, value]): [string, string] => [name, String(value)]));
      return { ...ids, search: query.size > 0 ? `?${query}` : '', headers: {} };
    }
    if (method === 'DELETE' && left.length === 0) return { ...ids, search: '', headers: {} };
    const body = Buffer.from(JSON.stringify(Object.fromEntries(left)));
    return { ...ids, search: '', headers: { 'content-type': 'application/json' }, body };
  };
}

/** The marketplace's answer, as a value. Throws its refusals, in its own words. */
export function toldBy({ status, body }: MarketplaceAnswer): unknown {
  const told = body.length === 0 ? null : JSON.parse(body.toString());
  if (status < 400) return told;
  const { error, hint } = (told ?? {}) as { error?: unknown; hint?: unknown };
  throw new Refusal(
    { code: 'marketplace_failed', status },
    typeof error === 'string' ? error : `HTTP ${status}`,
    typeof hint === 'string' ? { hint } : {},
  );
}

/** The task that a body is about, if it says so. */
function taskIn(body: Uint8Array | undefined): string | null {
  try {
    const { task_id } = JSON.parse(Buffer.from(body ?? []).toString()) as { task_id?: unknown };
    return typeof task_id === 'string' ? task_id.slice(0, 200) : null;
  } catch {
    return null;
  }
}

function nothingFrom({ list }: MarketplaceRoute): MarketplaceAnswer {
  if (!list) throw new Refusal('marketplace_not_configured');
  const { hint } = refusals.marketplace_not_configured;
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: Buffer.from(JSON.stringify({ tasks: [], hint })),
  };
}
