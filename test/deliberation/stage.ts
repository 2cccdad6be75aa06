import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino, { type Logger } from 'pino';
import { openSql } from '../../projections/core/open-sql.js';
import { Projector } from '../../projections/core/projector.js';
import type { Sql } from '../../projections/core/sql.js';
import { deliberations } from '../../projections/deliberation/fold.js';
import { operationRoutes } from '../../src/http/operations.js';
import { createServer } from '../../src/http/server.js';
import { eventStreamRoutes } from '../../src/http/sse.js';
import '../support/contract.js';
import type { AreaParts } from '../../src/app/areas/area.js';
import { deliberationArea } from '../../src/app/areas/deliberation.js';
import { ApiKeys } from '../../src/auth/api-keys.js';
import { readConfig } from '../../src/config/config.js';
import { QueryFeed } from '../../src/operations/deliberation/feed.js';
import { deliberationOperations } from '../../src/operations/deliberation/index.js';
import { streamQuery } from '../../src/operations/deliberation/stream.js';
import { serveRemotely } from '../../src/remote/server.js';
import { OwnReadModel } from '../../src/stores/own-read-model.js';
import { ReadModels } from '../../src/stores/read-models.js';
import { Log } from '../../streams/core/index.js';
import {
  type DeliberationFact,
  deliberation as facts,
  querySubject,
} from '../../streams/deliberation/index.js';
import { operations } from '../../streams/operations/facts.js';
import { type Answer, askOf } from '../channels/stage.js';
import { eventually } from '../support/eventually.js';
import { startProvider, type TestProvider } from '../support/model-provider.js';
import { startNats, type TestNats } from '../support/nats.js';
import { callElsewhere, callHere } from '../support/operations.js';
import type { Teardown } from '../support/server-process.js';
import { temporaryDirectory } from '../support/sql.js';

export const analystKey = 'a'.repeat(40);
export const otherKey = 'o'.repeat(40);
/** Headers of the key that creates queries in tests, and of another one. */
export const analyst = { 'x-api-key': analystKey };
export const other = { 'x-api-key': otherKey };
export const apiKeys = `analyst:${analystKey},other:${otherKey}`;

/** The calls of a test at a service. */
export interface Calls {
  url: string;
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Creates a query; its id. */
  create(fields?: object): Promise<string>;
  /** The result of a query, when it has ended. */
  result(id: string): Promise<Answer['body']>;
}

/** Deliberation with a provider of models. */
export interface DeliberationStage extends Calls {
  nats: TestNats;
  provider: TestProvider;
}

/** Models `one`, `two` and `three`: a dollar per million tokens in, two out; `fields` are added to each. */
export async function modelsFile(t: Teardown, url: string, fields: object = {}): Promise<string> {
  const path = join(await temporaryDirectory(t), 'models.json');
  const models = ['one', 'two', 'three'].map((id) => ({
    id,
    provider: 'test',
    base_url: url,
    price_in: 1,
    price_out: 2,
    ...fields,
  }));
  writeFileSync(path, JSON.stringify(models));
  return path;
}

/** Starts log, provider and the area; `environment` is added to its settings, `fields` to the models. */
export async function deliberationStage(
  t: Teardown,
  environment: Record<string, string> = {},
  fields: object = {},
): Promise<DeliberationStage> {
  const nats = await startNats(t);
  const provider = await startProvider(t);
  const MODELS = await modelsFile(t, provider.url, fields);
  return { nats, provider, ...(await startArea(t, nats, { MODELS, ...environment })) };
}

/** The area as the service puts it together, in a process of its own as far as it can tell. */
export async function startArea(
  t: Teardown,
  nats: Pick<TestNats, 'url'>,
  environment: Record<string, string> = {},
): Promise<Calls & { stop(): Promise<void> }> {
  const dir = await temporaryDirectory(t);
  const config = readConfig({
    DATA_DIR: dir,
    ROLES: 'api,projections,workers',
    API_KEYS: apiKeys,
    ...environment,
  });
  const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const log = await open(nats.url, logger);
  const sql = await openSql({ databaseUrl: '', directory: join(dir, 'pg'), logger });
  const projector = new Projector({ log, sql, projections: [deliberations], logger });
  const readModels = new ReadModels(sql, projector);
  const keys = new ApiKeys(config.API_KEYS);
  const common = { config, log, logger, readModels, keys, startedAt: new Date(), holder: dir };
  const area = deliberationArea(common as unknown as AreaParts);
  const parts = { ...common, ...area.parts };
  const multibrain = config.MULTIBRAIN_URL;
  const call = multibrain === '' ? callHere(parts) : callElsewhere({ multibrain }, { parts });
  const server = await createServer({ logger, rateLimit: 0 });
  if (config.ROLES.includes('api')) {
    await server.register(operationRoutes, { operations: deliberationOperations, call, keys });
    await server.register(eventStreamRoutes, {
      streams: [streamQuery],
      keys,
      isEnded: async () => false,
      parts,
    });
  } else serveRemotely(server, deliberationOperations, call);
  const work = config.ROLES.includes('workers') ? (area.workers ?? []) : [];
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= (async () => {
      await server.close();
      await Promise.all(work.map((one) => one.stop()));
      await projector.stop();
      await log.close();
      await sql.close();
    })();
    return stopped;
  };
  t.teardown(stop);
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  if (config.ROLES.includes('projections')) {
    await projector.start();
    await eventually('the read model to catch up', () => projector.caughtUp());
  }
  for (const one of work) one.start();
  return { ...callsOf(url), stop };
}

/** The log alone. */
export async function openLog(t: Teardown, url: string): Promise<Log> {
  const log = await open(url, pino({ level: 'silent' }));
  t.teardown(() => log.close());
  return log;
}

const open = (urls: string, logger: Logger) =>
  Log.open({
    urls,
    name: 'test',
    replicas: 1,
    maxBytes: 500_000_000,
    logger,
    streams: [facts, operations],
  });

/** The service over a read model that can be held back; what it decides is appended as it is. */
export async function behindStage(t: Teardown) {
  const logger = pino({ level: 'silent' });
  const log = await openLog(t, (await startNats(t)).url);
  const sql = await openSql({ databaseUrl: '', directory: await temporaryDirectory(t), logger });
  let held: Promise<void> = Promise.resolve();
  const slow: Sql = {
    engine: sql.engine,
    get losses() {
      return sql.losses;
    },
    query: (text, params) => sql.query(text, params),
    transaction: async (work) => {
      await held;
      return await sql.transaction(work);
    },
    close: () => sql.close(),
  };
  const projector = new Projector({ log, sql: slow, projections: [deliberations], logger });
  t.teardown(async () => {
    await projector.stop();
    await sql.close();
  });
  await projector.start();
  await eventually('the read model to catch up', () => projector.caughtUp());
  const readModels = new ReadModels(slow, projector);
  const feed = new QueryFeed(log, logger);
  t.teardown(() => feed.close());
  const rows = new OwnReadModel(readModels, 'deliberations');
  const deliberation = { rows, feed, models: [], maxCostUsd: 1 };
  return {
    feed,
    call: callHere({ log, startedAt: new Date(), deliberation }),
    append: async (life: readonly DeliberationFact[]) => {
      for (const { type, data } of life)
        await log.append(facts, querySubject(data.query_id), { type, data } as DeliberationFact, {
          by: 'test',
        });
    },
    /** Nothing is folded from now on until somebody waits for the fact with this sequence. */
    holdUntilAskedFor: (seq: number) => {
      held = new Promise((resolve) => {
        t.teardown(resolve);
        readModels.reached = (name, position) => {
          if (position.seq >= seq) resolve();
          return ReadModels.prototype.reached.call(readModels, name, position);
        };
      });
    },
  };
}

/** The calls of a test at a service. */
export function callsOf(url: string): Calls {
  const ask: Calls['ask'] = (method, path, body, headers = analyst) =>
    askOf(url, method, path, body, headers);
  return {
    url,
    ask,
    create: async (fields = {}) => {
      const created = await ask('POST', '/multibrain/query', { prompt: 'Is it so?', ...fields });
      if (created.status !== 201) throw new Error(`not created: ${JSON.stringify(created.body)}`);
      return created.body.id as string;
    },
    result: (id) =>
      eventually('the query to end', async () => {
        const { status, body } = await ask('GET', `/multibrain/query/${id}/result`);
        return status === 200 && body;
      }),
  };
}
