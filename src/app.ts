import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { Projector } from '../projections/core/projector.js';
import { projections } from '../projections/index.js';
import { Log } from '../streams/core/index.js';
import { deliveryDecider } from '../streams/delivery/index.js';
import { streams } from '../streams/index.js';
import { DeliverToIrc } from '../workers/deliver-to-irc/index.js';
import { IrcConnection } from '../workers/irc/connection.js';
import { healthRoutes } from './api/health.js';
import { operationsRoutes } from './api/operations.js';
import { createServer } from './api/server.js';
import { webhookRoutes } from './api/webhook.js';
import { ApiKeys } from './auth/api-keys.js';
import type { Config } from './config.js';
import { ReadModels } from './read-models.js';
import { bridgeRoutes, createBridge } from './services/bridge.js';
import { upstream } from './services/service.js';
import { openSurroundings, type Surroundings } from './surroundings.js';
import { bootWarnings } from './warnings.js';

/** The running service. */
export interface App {
  /** The HTTP server; `undefined` in a process that has no face. */
  server: FastifyInstance | undefined;
  /** Where the HTTP server listens. */
  address: string | undefined;
  /** Where the parts are: for the operator's eyes. */
  places: { nats: string; irc: string; sql: string };
  webhookSecrets: string[];
  /** Ends everything in order, within bounds: faces first, our own servers last. */
  stop(): Promise<void>;
}

/** Puts the service together from its configuration and starts it. Throws when a part cannot be started, with nothing left running. */
export async function createApp(config: Config, logger: Logger): Promise<App> {
  const startedAt = new Date();
  const closing: { name: string; close: () => Promise<unknown> }[] = [];
  const stop = () => closeAll(closing, logger);
  try {
    const surroundings = await openSurroundings(config, logger, closing);
    return await assemble(config, logger, surroundings, closing, startedAt, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assemble(
  config: Config,
  logger: Logger,
  surroundings: Surroundings,
  closing: { name: string; close: () => Promise<unknown> }[],
  startedAt: Date,
  stop: () => Promise<void>,
): Promise<App> {
  const { sql, secrets } = surroundings;
  for (const warning of bootWarnings(config)) logger.warn(warning);

  const log = await Log.open({
    urls: surroundings.natsUrl,
    name: `relay ${config.ROLES.join(',')}`,
    streams,
    replicas: config.NATS_REPLICAS,
    maxBytes: config.STREAMS_MAX_BYTES,
    logger,
  });
  closing.push({ name: 'log', close: () => log.close() });

  const has = (...names: Config['ROLES']) => names.some((name) => config.ROLES.includes(name));
  const projector = new Projector({ log, sql, projections, logger });
  const readModels = new ReadModels(sql, projector);
  if (has('projections')) await projector.start();
  closing.push({ name: 'projections', close: () => projector.stop() });

  const limits = {
    maxRetries: config.EVENT_MAX_RETRIES,
    ttlMs: config.EVENT_TTL_MS,
    retryMs: config.EVENT_RETRY_MS,
  };
  let irc: IrcConnection | undefined;
  if (has('irc')) {
    irc = new IrcConnection({
      url: surroundings.ircUrl,
      nick: config.EM_NICK,
      realname: 'task marketplace',
      ...(secrets.ircServerPassword ? { password: secrets.ircServerPassword } : {}),
      ...(secrets.ircOper ? { oper: secrets.ircOper } : {}),
      log: logger,
    });
    const deliver = new DeliverToIrc({ log, irc, limits, logger });
    deliver.start();
    closing.push({ name: 'delivery', close: () => deliver.stop() });
  }

  const bridge = upstream('bridge', bridgeRoutes, {
    url: config.BRIDGE_URL,
    timeoutMs: config.PROXY_TIMEOUT,
    service: createBridge({
      log,
      readModels,
      source: config.EM_SOURCE,
      webhookSecretConfigured: secrets.webhook.length > 0,
      irc: () => {
        const state = irc?.status();
        return state && { connected: state.connected, oper: state.oper, nick: state.nick };
      },
      startedAt,
    }),
  });

  const places = { nats: surroundings.natsUrl, irc: surroundings.ircUrl, sql: surroundings.sqlPlace };
  const app: App = { server: undefined, address: undefined, places, webhookSecrets: secrets.webhook, stop };
  if (!has('api')) return app;

  const server = await createServer({ logger, rateLimit: config.RATE_LIMIT });
  let draining = false;
  closing.push({
    name: 'http',
    close: () => {
      draining = true;
      return server.close();
    },
  });
  await server.register(webhookRoutes, {
    bridge,
    secrets: secrets.webhook,
    schemes: config.EM_WEBHOOK_SCHEMES,
  });
  await server.register(healthRoutes, {
    services: { bridge: () => bridge.health() },
    startedAt,
    notReady: () => {
      if (draining) return 'the service is stopping';
      if (!log.connected) return 'the event log is not connected';
      if (!projector.caughtUp()) return 'the read models have not caught up';
      return undefined;
    },
  });
  await server.register(operationsRoutes, {
    log,
    readModels,
    projector,
    keys: new ApiKeys(config.API_KEYS),
    decider: deliveryDecider(limits),
  });
  app.server = server;
  app.address = await server.listen({ host: config.HOST, port: config.PORT });
  return app;
}

/** Closes in the reverse order of opening; one part that hangs does not keep the others from ending. */
async function closeAll(
  closing: { name: string; close: () => Promise<unknown> }[],
  logger: Logger,
): Promise<void> {
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

/** How long each part may take to stop, in milliseconds. */
const closeBoundMs = 8_000;
