import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { Projector } from '../projections/core/projector.js';
import { projections } from '../projections/index.js';
import { Log } from '../streams/core/index.js';
import { deliveryDecider } from '../streams/delivery/index.js';
import { streams } from '../streams/index.js';
import { createChannels } from '../workers/keep-channels/index.js';
import { describeProcess } from './about.js';
import { channelRoutes } from './api/channels.js';
import { healthRoutes } from './api/health.js';
import { ircRoutes } from './api/irc.js';
import { metricsRoutes } from './api/metrics.js';
import { operationsRoutes } from './api/operations.js';
import { redeliveryRoutes } from './api/redelivery.js';
import { createServer } from './api/server.js';
import { webhookRoutes } from './api/webhook.js';
import { ApiKeys } from './auth/api-keys.js';
import { createAutomation } from './bots/automation.js';
import { createChannelKeeping } from './bots/channels.js';
import { createDelivery } from './bots/delivery.js';
import { createRecording } from './bots/recording.js';
import type { Config, Role } from './config.js';
import { LiveFeed } from './live/feed.js';
import { Viewers } from './live/viewers.js';
import { Metrics } from './metrics/metrics.js';
import { meteredParts } from './metrics/parts.js';
import { ReadModels } from './read-models.js';
import { bridgeRoutes, createBridge } from './services/bridge.js';
import { channelservRoutes, createChannelserv } from './services/channelserv.js';
import type { IrcState, RecorderState } from './services/irc-state.js';
import { mountService } from './services/mount.js';
import { upstream } from './services/service.js';
import { type Closing, openSurroundings } from './surroundings.js';
import { bootWarnings } from './warnings.js';

/** The running service. */
export interface App {
  /** The HTTP server; a process without the role `api` answers health and readiness only, or its internal services. */
  server: FastifyInstance;
  /** Where the HTTP server listens. */
  address: string;
  /** Where the parts are: for the operator's eyes. */
  places: { nats: string; irc: string; sql: string };
  webhookSecrets: string[];
  /** Ends everything in order, within bounds: faces first, our own servers last. */
  stop(): Promise<void>;
}

/** Puts the service together from its configuration and starts it. Throws when a part cannot be started, with nothing left running. */
export async function createApp(config: Config, logger: Logger): Promise<App> {
  const closing: Closing[] = [];
  const stop = () => closeAll(closing, logger);
  try {
    return { ...(await assemble(config, logger, closing)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assemble(config: Config, logger: Logger, closing: Closing[]): Promise<Omit<App, 'stop'>> {
  const startedAt = new Date();
  const has = (role: Role) => config.ROLES.includes(role);
  for (const warning of bootWarnings(config)) logger.warn(warning);
  const { natsUrl, streamsMaxBytes, ircUrl, sql, sqlPlace, secrets, holder } = await openSurroundings(
    config,
    logger,
    closing,
  );

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

  const projector = new Projector({ log, sql, projections, logger });
  closing.push({ name: 'projections', close: () => projector.stop() });

  const limits = {
    maxRetries: config.EVENT_MAX_RETRIES,
    ttlMs: config.EVENT_TTL_MS,
    retryMs: config.EVENT_RETRY_MS,
  };
  const observe = metrics.delivery;
  const channels = createChannels(log);
  const delivery = createDelivery(config, {
    ...{ log, logger, ircUrl, secrets, holder, limits, observe, channels },
  });
  const recording = createRecording(config, { log, logger, ircUrl, secrets, holder });
  const viewers = new Viewers(log.connection);
  closing.push({ name: 'viewers', close: async () => viewers.stop() });

  const readModels = new ReadModels(sql, projector);
  const bridgeService = createBridge({
    log,
    readModels,
    source: config.EM_SOURCE,
    webhookSecretConfigured: secrets.webhook.length > 0,
    irc: async () => (await delivery.lease.holderState()) as IrcState | undefined,
    recorder: async () => (await recording.lease.holderState()) as RecorderState | undefined,
    viewers: () => viewers.count,
    startedAt,
  });
  const bridge = upstream('bridge', bridgeRoutes, {
    url: config.BRIDGE_URL,
    timeoutMs: config.PROXY_TIMEOUT,
    service: bridgeService,
  });

  const channelKeeping = createChannelKeeping(config, { log, logger, ircUrl, secrets, holder, readModels });
  const bots = [delivery, recording, channelKeeping];
  closing.push({ name: 'bots', close: () => Promise.all(bots.map(({ lease }) => lease.stop())) });
  const automation = createAutomation(config, { log, logger, holder, channels });
  closing.push({ name: 'automation', close: () => automation.stop() });
  const channelservService = createChannelserv({
    log,
    readModels,
    channels,
    irc: async () => (await channelKeeping.lease.holderState()) as IrcState | undefined,
    startedAt,
  });
  const channelserv = upstream('channelserv', channelservRoutes, {
    url: config.CHANNELSERV_URL,
    timeoutMs: config.PROXY_TIMEOUT,
    service: channelservService,
  });

  const server = await createServer({ logger, rateLimit: config.RATE_LIMIT, observe: metrics.request });
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
    if (!log.connected) return 'the event log is not connected';
    // who neither reads nor folds them need not wait for them
    if (usesReadModels && !projector.caughtUp()) return 'the read models have not caught up';
    return log.trouble;
  };
  await server.register(healthRoutes, {
    services: { bridge: () => bridge.health(), channelserv: () => channelserv.health() },
    startedAt,
    notReady,
  });
  const keys = new ApiKeys(config.API_KEYS);
  const parts = meteredParts({
    ...{ log, streams, projector, notReady },
    readModels: usesReadModels ? readModels : undefined,
    delivery: has('irc') ? delivery : undefined,
    bots: has('irc') ? bots : [],
  });
  await server.register(metricsRoutes, { metrics, parts, keys });
  if (has('api')) {
    const decider = deliveryDecider(limits);
    await server.register(webhookRoutes, {
      bridge,
      secrets: secrets.webhook,
      schemes: config.EM_WEBHOOK_SCHEMES,
      observe: metrics.posted,
    });
    const about = describeProcess(config, { natsUrl, sqlPlace, ircUrl });
    await server.register(operationsRoutes, { log, readModels, projector, keys, decider, about });
    await server.register(redeliveryRoutes, { log, readModels, keys, decider });
    await server.register(channelRoutes, { channelserv, keys });
    await server.register(ircRoutes, { bridge, keys, feed: new LiveFeed(log, logger), viewers });
  } else if (has('services')) {
    mountService(server, 'bridge', bridgeRoutes, bridgeService);
    mountService(server, 'channelserv', channelservRoutes, channelservService);
  }
  // a port that is taken is known before anything is done to the world
  const address = await server.listen({ host: config.HOST, port: config.PORT });
  if (has('projections')) await projector.start();
  if (has('irc')) {
    for (const { lease } of bots) lease.start();
  }
  if (has('workers')) automation.start();
  return {
    server,
    address,
    places: { nats: natsUrl, irc: ircUrl, sql: sqlPlace },
    webhookSecrets: secrets.webhook,
  };
}

/** How long each part may take to stop, in milliseconds. */
const closeBoundMs = 8_000;

/** Closes in the reverse order of opening; one part that hangs does not keep the others from ending. */
async function closeAll(closing: Closing[], logger: Logger): Promise<void> {
  for (let part = closing.pop(); part; part = closing.pop()) {
    const { name, close } = part;
    const started = Date.now();
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), closeBoundMs);
    });
    const end = await Promise.race([close(), bound]).catch((error: unknown) => {
      logger.error({ part: name, err: error }, 'part did not stop cleanly');
    });
    clearTimeout(timer);
    if (end === 'late') logger.warn({ part: name }, 'part did not stop in time');
    else logger.debug({ part: name, ms: Date.now() - started }, 'part stopped');
  }
}
