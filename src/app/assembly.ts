import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { catchUpProgram } from '../../projections/catch-up-program.js';
import { Projector } from '../../projections/core/projector.js';
import { projections } from '../../projections/index.js';
import { Log } from '../../streams/core/index.js';
import { streams } from '../../streams/index.js';
import { createChannels } from '../../workers/channels/index.js';
import { haltedWorkers } from '../../workers/core/consumers.js';
import { ApiKeys } from '../auth/api-keys.js';
import { endedKeys } from '../auth/ended-keys.js';
import type { NickWallets } from '../auth/nick-wallets.js';
import type { Config, Role } from '../config/config.js';
import { isPublic } from '../config/warnings.js';
import { operationRoutes } from '../http/operations.js';
import { createServer } from '../http/server.js';
import { eventStreamRoutes } from '../http/sse.js';
import { type Gauged, Metrics } from '../metrics/metrics.js';
import type { Call } from '../operations/core/call.js';
import type { AnyOperation } from '../operations/core/operation.js';
import { eventStreams, operations } from '../operations/index.js';
import { listen } from '../operations/speech/listen.js';
import type { HealthParts } from '../operations/system/health.js';
import type { ProcessParts } from '../operations/system/process.js';
import { serveRemotely } from '../remote/server.js';
import { socketRoutes } from '../socket/index.js';
import { askOf } from '../socket/methods.js';
import { ReadModels } from '../stores/read-models.js';
import { describeProcess } from './about.js';
import type { Area, Work } from './areas/area.js';
import { createAreas } from './areas/index.js';
import type { BotHold } from './bots/bot.js';
import { type Calls, createCalls, healthOf } from './calls.js';
import type { Closing, Dependencies } from './dependencies.js';
import { meteredParts } from './gauges/parts.js';

/** So long after a request a process counts as busy, in milliseconds; those who look how it is do not count. */
const busyMs = 100;
const operatorsLook = /^\/(ready|health|metrics|ops)\b/;

/** What there is before the service itself: the servers around it, and the endings of what was opened so far. */
export interface AssemblyContext {
  startedAt: Date;
  dependencies: Dependencies;
  closing: Closing[];
}

/** The service as it runs. */
export interface Assembly {
  /** The HTTP server; a process without the role `api` answers health and readiness only, or its internal services. */
  server: FastifyInstance;
  /** Where the HTTP server listens. */
  address: string;
  /** Where the parts are: for the operator's eyes. */
  places: { nats: string; irc: string; sql: string };
  webhookSecrets: string[];
  /** Why it is not ready; `undefined` when it is. */
  notReady(): string | undefined;
}

/** Puts the parts of the service together and starts them; registers in `closing` how each ends. */
export async function assemble(
  config: Config,
  logger: Logger,
  { startedAt, dependencies, closing }: AssemblyContext,
): Promise<Assembly> {
  const { natsUrl, ircUrl, hasNickService, sql, sqlPlace, storing, secrets, holder } = dependencies;
  const has: Has = (role) => config.ROLES.includes(role);
  const usesReadModels = has('api') || has('services') || has('projections');

  const metrics = new Metrics();
  const log = await openLog(config, logger, dependencies, metrics.append);
  closing.push({ name: 'log', close: () => log.close() });

  let servedAt = Number.NEGATIVE_INFINITY;
  const isBusy = () => performance.now() - servedAt < busyMs;
  const catchUp = { program: catchUpProgram, logUrls: natsUrl };
  const projector = new Projector({ log, sql, projections, logger, isBusy, catchUp });
  closing.push({ name: 'projections', close: () => projector.stop() });

  const readModels = new ReadModels(sql, projector);
  const { apiKey } = secrets;
  const given = apiKey === undefined ? config.API_KEYS : [{ name: 'operator', key: apiKey }];
  const keys = new ApiKeys(given, { isPublic: isPublic(config) });
  // made of what the areas make, and used by them once all is there
  let calls: Calls | undefined;
  const call = ((...asked) => calls!.anywhere(...asked)) as Call;
  const { areas, signers } = createAreas({
    config,
    log,
    logger,
    readModels,
    keys,
    metrics,
    startedAt,
    call,
    ircUrl,
    hasNickService,
    secrets,
    holder,
    channels: createChannels(log),
  });
  const own = Object.assign(
    { log, readModels, projector, logger, call, startedAt },
    ...areas.map(({ parts }) => parts),
  );
  calls = createCalls(config, own, metrics.call);
  const { bots, work, gauged } = ofRoles(areas, has);
  closing.push({ name: 'areas', close: () => Promise.all(areas.map((area) => area.stop?.())) });
  closing.push({ name: 'work', close: () => Promise.all(work.map((one) => one.stop())) });

  const server = await createServer({
    logger,
    rateLimit: config.RATE_LIMIT,
    // other processes ask internal services over as many as they need
    ...(has('api') ? { connectionsPerAddress: config.CONNECTIONS_PER_ADDRESS } : {}),
    inside: has('services') && !has('api'),
    trustProxy: config.TRUST_PROXY,
    observe: (request) => {
      if (!operatorsLook.test(request.route ?? '')) servedAt = performance.now();
      metrics.request(request);
    },
  });
  let stopping = false;
  closing.push({
    name: 'http',
    close: () => {
      stopping = true;
      return server.close();
    },
  });
  const notReady = () =>
    stopping ? 'the service is stopping' : whyNotReady({ log, storing, projector, usesReadModels });
  const metered = meteredParts({
    log,
    storing,
    streams,
    projector,
    notReady,
    bots,
    readModels: usesReadModels ? readModels : undefined,
  });
  const system: HealthParts['system'] = {
    health: healthOf(call),
    notReady,
    halted: () => haltedWorkers(log, streams),
  };
  const process: ProcessParts['process'] = {
    about: { ...describeProcess(config, { natsUrl, sqlPlace, ircUrl }) },
    metrics: async () => ({
      type: metrics.contentType,
      text: await metrics.scrape([...metered, ...gauged]),
    }),
  };
  Object.assign(own, { system, process });
  const isEnded = async (actor: string) => (await endedKeys(readModels, [actor], log.now())).has(actor);
  await registerFaces(server, { has, areas, calls, keys, isEnded, signers, parts: own });
  // a port that is taken is known before anything is done to the world
  const address = await server.listen({ host: config.HOST, port: config.PORT });
  if (has('projections')) await projector.start();
  for (const one of work) one.start();
  return {
    server,
    address,
    places: { nats: natsUrl, irc: ircUrl, sql: sqlPlace },
    webhookSecrets: secrets.webhook,
    notReady,
  };
}

/** Whether this process has a role. */
type Has = (role: Role) => boolean;

async function openLog(
  config: Config,
  logger: Logger,
  { natsUrl, streamsMaxBytes }: Dependencies,
  observe: Metrics['append'],
): Promise<Log> {
  return await Log.open({
    urls: natsUrl,
    name: `relay ${config.ROLES.join(',')}`,
    streams,
    replicas: config.NATS_REPLICAS,
    maxBytes: streamsMaxBytes,
    resize: config.STREAMS_MAX_BYTES !== undefined,
    logger,
    observe,
  });
}

/** What areas do in the roles of this process besides answering: their bots and all their work, and what they measure. */
function ofRoles(
  areas: readonly Area[],
  has: Has,
): { bots: BotHold<unknown>[]; work: Work[]; gauged: Gauged[] } {
  const all = <Part>(parts: (area: Area) => Part[] | undefined) => areas.flatMap((area) => parts(area) ?? []);
  const bots = has('irc') ? all(({ bots }) => bots) : [];
  return {
    bots,
    work: [
      ...bots.map(({ lease }) => lease),
      ...(has('irc') ? all(({ connections }) => connections) : []),
      ...(has('workers') ? all(({ workers }) => workers) : []),
      ...(has('schedule') ? all(({ schedules }) => schedules) : []),
    ],
    gauged: all(({ gauged }) => gauged).filter(({ role }) => has(role)),
  };
}

function whyNotReady({
  log,
  storing,
  projector,
  usesReadModels,
}: {
  log: Log;
  storing: Dependencies['storing'];
  projector: Projector;
  usesReadModels: boolean;
}): string | undefined {
  if (storing?.trouble !== undefined) return storing.trouble;
  if (!log.connected) return 'the event log is not connected';
  // who neither reads nor folds them need not wait for them
  if (usesReadModels && !projector.caughtUp()) return 'the read models have not caught up';
  return log.trouble;
}

/** What the ways to this process are made of; `parts` are those that operations and streams of events work with. */
interface FacesOptions {
  has: Has;
  areas: readonly Area[];
  calls: Calls;
  keys: ApiKeys;
  /** Whether an actor is an agent key that opens nothing any more. */
  isEnded(actor: string): Promise<boolean>;
  signers: NickWallets;
  parts: object;
}

/** Registers the ways to this process that its roles ask for. */
async function registerFaces(
  server: FastifyInstance,
  { has, areas, calls: { here, anywhere: call }, keys, isEnded, signers, parts }: FacesOptions,
): Promise<void> {
  const isEverywhere = ({ http }: AnyOperation) => http?.inEveryRole === true;
  const ofApi = operations.filter((operation) => !isEverywhere(operation));
  await server.register(operationRoutes, { operations: operations.filter(isEverywhere), call, keys });
  if (has('api')) {
    await server.register(operationRoutes, { operations: ofApi, call, keys, signers });
    await server.register(eventStreamRoutes, { streams: eventStreams, keys, isEnded, parts });
    await server.register(socketRoutes, { stream: listen, ask: askOf(call), keys, isEnded, parts });
    for (const area of areas) await area.api?.(server);
  } else if (has('services')) {
    serveRemotely(server, operations, here);
  }
}
