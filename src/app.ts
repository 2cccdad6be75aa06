import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { Projector } from '../projections/core/projector.js';
import { projections } from '../projections/index.js';
import { Log } from '../streams/core/index.js';
import { deliveryDecider } from '../streams/delivery/index.js';
import { streams } from '../streams/index.js';
import { Lease } from '../workers/core/lease.js';
import { DeliverToIrc, type DeliverToIrcOptions } from '../workers/deliver-to-irc/index.js';
import { IrcConnection } from '../workers/irc/connection.js';
import { healthRoutes } from './api/health.js';
import { operationsRoutes } from './api/operations.js';
import { createServer } from './api/server.js';
import { webhookRoutes } from './api/webhook.js';
import { ApiKeys } from './auth/api-keys.js';
import type { Config, Role } from './config.js';
import { ReadModels } from './read-models.js';
import { bridgeRoutes, createBridge, type IrcState } from './services/bridge.js';
import { mountService } from './services/mount.js';
import { upstream } from './services/service.js';
import { type Closing, openSurroundings, type Surroundings } from './surroundings.js';
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

  const log = await Log.open({
    urls: natsUrl,
    name: `relay ${config.ROLES.join(',')}`,
    streams,
    replicas: config.NATS_REPLICAS,
    maxBytes: streamsMaxBytes,
    resize: config.STREAMS_MAX_BYTES !== undefined,
    logger,
  });
  closing.push({ name: 'log', close: () => log.close() });

  const projector = new Projector({ log, sql, projections, logger });
  closing.push({ name: 'projections', close: () => projector.stop() });

  const limits = {
    maxRetries: config.EVENT_MAX_RETRIES,
    ttlMs: config.EVENT_TTL_MS,
    retryMs: config.EVENT_RETRY_MS,
  };
  const delivery = deliveryLease(config, { log, logger, ircUrl, secrets, holder, limits });
  closing.push({ name: 'delivery', close: () => delivery.stop() });

  const readModels = new ReadModels(sql, projector);
  const bridgeService = createBridge({
    log,
    readModels,
    source: config.EM_SOURCE,
    webhookSecretConfigured: secrets.webhook.length > 0,
    irc: async () => (await delivery.holderState()) as IrcState | undefined,
    startedAt,
  });
  const bridge = upstream('bridge', bridgeRoutes, {
    url: config.BRIDGE_URL,
    timeoutMs: config.PROXY_TIMEOUT,
    service: bridgeService,
  });

  const server = await createServer({ logger, rateLimit: config.RATE_LIMIT });
  let stopping = false;
  closing.push({
    name: 'http',
    close: () => {
      stopping = true;
      return server.close();
    },
  });
  await server.register(healthRoutes, {
    services: { bridge: () => bridge.health() },
    startedAt,
    notReady: () => {
      if (stopping) return 'the service is stopping';
      if (!log.connected) return 'the event log is not connected';
      if (!projector.caughtUp()) return 'the read models have not caught up';
      return undefined;
    },
  });
  if (has('api')) {
    const keys = new ApiKeys(config.API_KEYS);
    const decider = deliveryDecider(limits);
    await server.register(webhookRoutes, {
      bridge,
      secrets: secrets.webhook,
      schemes: config.EM_WEBHOOK_SCHEMES,
    });
    await server.register(operationsRoutes, { log, readModels, projector, keys, decider });
  } else if (has('services')) {
    mountService(server, 'bridge', bridgeRoutes, bridgeService);
  }
  // a port that is taken is known before anything is done to the world
  const address = await server.listen({ host: config.HOST, port: config.PORT });
  if (has('projections')) await projector.start();
  if (has('irc')) delivery.start();
  return {
    server,
    address,
    places: { nats: natsUrl, irc: ircUrl, sql: sqlPlace },
    webhookSecrets: secrets.webhook,
  };
}

/** The marketplace bot and its deliveries: one process has them at a time, the others stand by. */
function deliveryLease(
  config: Config,
  parts: Pick<Surroundings, 'ircUrl' | 'secrets' | 'holder'> & {
    log: Log;
    logger: Logger;
    limits: DeliverToIrcOptions['limits'];
  },
): Lease {
  const { log, logger, ircUrl, secrets, holder, limits } = parts;
  let irc: IrcConnection | undefined;
  return new Lease({
    log,
    logger,
    name: 'deliver-to-irc',
    holder,
    replicas: config.NATS_REPLICAS,
    state: (): IrcState => {
      const { connected, oper, nick } = irc?.status() ?? {
        connected: false,
        oper: false,
        nick: config.EM_NICK,
      };
      return { connected, oper, nick };
    },
    begin: () => {
      irc = new IrcConnection({
        url: ircUrl,
        nick: config.EM_NICK,
        realname: 'task marketplace',
        ...(secrets.ircServerPassword ? { password: secrets.ircServerPassword } : {}),
        ...(secrets.ircOper ? { oper: secrets.ircOper } : {}),
        log: logger,
      });
      const worker = new DeliverToIrc({ log, irc, limits, logger });
      worker.start();
      return worker;
    },
  });
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
