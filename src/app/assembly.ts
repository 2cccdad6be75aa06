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
import type { Config, Role } from '../config/config.js';
import { isPublic } from '../config/warnings.js';
import { operationRoutes } from '../http/operations.js';
import { createServer } from '../http/server.js';
import { eventStreamRoutes } from '../http/sse.js';
import { Metrics } from '../metrics/metrics.js';
import { type Call, createCall, nobody } from '../operations/core/call.js';
import type { AnyOperation, ServiceName } from '../operations/core/operation.js';
import { eventStreams, operations } from '../operations/index.js';
import { listen } from '../operations/speech/listen.js';
import type { HealthParts } from '../operations/system/health.js';
import type { ProcessParts } from '../operations/system/process.js';
import { remoteService } from '../remote/client.js';
import { serveRemotely } from '../remote/server.js';
import { socketRoutes } from '../socket/index.js';
import { askOf } from '../socket/methods.js';
import { ReadModels } from '../stores/read-models.js';
import { describeProcess } from './about.js';
import type { Area } from './areas/area.js';
import { createAreas } from './areas/index.js';
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
}

/** Puts the parts of the service together and starts them; registers in `closing` how each ends. */
export async function assemble(
  config: Config,
  logger: Logger,
  { startedAt, dependencies, closing }: AssemblyContext,
): Promise<Assembly> {
  const has = (role: Role) => config.ROLES.includes(role);
  const { natsUrl, storing, streamsMaxBytes, ircUrl, sql, sqlPlace, secrets, holder } = dependencies;

  const metrics = new Metrics();
  const log = await Log.open({
    urls: natsUrl,
    name: `relay ${config.ROLES.join(',')}`,
    streams,
    replicas: config.NATS_REPLICAS,
    maxBytes: streamsMaxBytes,
    resize: config.STREAMS_MAX_BYTES !== undefined,
    logger,
    observe: metrics.append,
  });
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
  let bound: { here: Call; anywhere: Call } | undefined;
  const call = ((...asked) => bound!.anywhere(...asked)) as Call;
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
    secrets,
    holder,
    channels: createChannels(log),
  });
  const own = Object.assign(
    { log, readModels, projector, logger, call, startedAt },
    ...areas.map(({ parts }) => parts),
  );
  bound = createCalls(config, own, metrics.call);
  const ofAreas = <Part>(parts: (area: Area) => Part[] | undefined) =>
    areas.flatMap((area) => parts(area) ?? []);
  const bots = has('irc') ? ofAreas(({ bots }) => bots) : [];
  const work = [
    ...bots.map(({ lease }) => lease),
    ...(has('irc') ? ofAreas(({ connections }) => connections) : []),
    ...(has('workers') ? ofAreas(({ workers }) => workers) : []),
    ...(has('schedule') ? ofAreas(({ schedules }) => schedules) : []),
  ];
  closing.push({ name: 'areas', close: () => Promise.all(areas.map((area) => area.stop?.())) });
  closing.push({ name: 'work', close: () => Promise.all(work.map((one) => one.stop())) });

  const server = await createServer({
    logger,
    rateLimit: config.RATE_LIMIT,
    // other processes ask internal services over as many as they need
    ...(has('api') ? { connectionsPerAddress: config.CONNECTIONS_PER_ADDRESS } : {}),
    trustProxy: config.TRUST_PROXY,
    observe: (request) => {
      if (!operatorsLook.test(request.route ?? '')) servedAt = performance.now();
      metrics.request(request);
    },
  });
  const usesReadModels = has('api') || has('services') || has('projections');
  let stopping = false;
  closing.push({
    name: 'http',
    close: () => {
      stopping = true;
      return server.close();
    },
  });
  const notReady = () => {
    if (stopping) return 'the service is stopping';
    if (storing?.trouble !== undefined) return storing.trouble;
    if (!log.connected) return 'the event log is not connected';
    // who neither reads nor folds them need not wait for them
    if (usesReadModels && !projector.caughtUp()) return 'the read models have not caught up';
    return log.trouble;
  };
  const gauged = meteredParts({
    log,
    storing,
    streams,
    projector,
    notReady,
    bots,
    readModels: usesReadModels ? readModels : undefined,
  });
  const ofRoles = ofAreas(({ gauged }) => gauged).filter(({ role }) => has(role));
  const system: HealthParts['system'] = {
    health: healthOf(call),
    notReady,
    halted: () => haltedWorkers(log, streams),
  };
  const process: ProcessParts['process'] = {
    about: { ...describeProcess(config, { natsUrl, sqlPlace, ircUrl }) },
    metrics: async () => ({
      type: metrics.contentType,
      text: await metrics.scrape([...gauged, ...ofRoles]),
    }),
  };
  Object.assign(own, { system, process });
  const isEverywhere = ({ http }: AnyOperation) => http?.inEveryRole === true;
  const ofApi = operations.filter((operation) => !isEverywhere(operation));
  await server.register(operationRoutes, { operations: operations.filter(isEverywhere), call, keys });
  if (has('api')) {
    await server.register(operationRoutes, { operations: ofApi, call, keys, signers });
    await server.register(eventStreamRoutes, { streams: eventStreams, keys, parts: own });
    await server.register(socketRoutes, { stream: listen, ask: askOf(call), keys, parts: own });
    for (const area of areas) await area.api?.(server);
  } else if (has('services')) {
    serveRemotely(server, operations, bound.here);
  }
  // a port that is taken is known before anything is done to the world
  const address = await server.listen({ host: config.HOST, port: config.PORT });
  if (has('projections')) await projector.start();
  for (const one of work) one.start();
  return {
    server,
    address,
    places: { nats: natsUrl, irc: ircUrl, sql: sqlPlace },
    webhookSecrets: secrets.webhook,
  };
}

/** Asks each internal service how it is, wherever it runs. */
function healthOf(call: Call): HealthParts['system']['health'] {
  const checks = new Map(
    operations.flatMap((operation) =>
      operation.remote?.path === '/health' ? [[operation.remote.service, operation] as const] : [],
    ),
  );
  // what the network does not work without is told of first
  const services = [...new Set<ServiceName>(['bridge', 'turnstile', ...checks.keys()])];
  return Object.fromEntries(
    services.map((service) => [service, () => call(checks.get(service)!, {}, nobody)]),
  );
}

/** How operations are called: here, whatever is set, and where their service runs. */
function createCalls(
  config: Config,
  parts: object,
  observe: Metrics['call'],
): { here: Call; anywhere: Call } {
  const services = {
    bridge: config.BRIDGE_URL,
    turnstile: config.TURNSTILE_URL,
    guardian: config.GUARDIAN_URL,
    mrserv: config.MRSERV_URL,
    channelserv: config.CHANNELSERV_URL,
    sentinel: config.SENTINEL_URL,
    multibrain: config.MULTIBRAIN_URL,
    verification: config.VERIFICATION_URL,
  };
  const elsewhere = new Map(
    Object.entries(services)
      .filter(([, url]) => url !== '')
      .map(([name, url]) => {
        const service = name as ServiceName;
        return [service, remoteService(service, { url, timeoutMs: config.PROXY_TIMEOUT })];
      }),
  );
  return {
    here: createCall({ parts, observe, remote: () => undefined, inside: true }),
    anywhere: createCall({ parts, observe, remote: (service) => elsewhere.get(service) }),
  };
}
