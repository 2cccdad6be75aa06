import { pino } from 'pino';
import { openSql } from '../../projections/core/open-sql.js';
import { Projector } from '../../projections/core/projector.js';
import { projections } from '../../projections/index.js';
import { ApiKeys } from '../../src/auth/api-keys.js';
import { UnsettledLimit } from '../../src/auth/unsettled-limit.js';
import { operationRoutes } from '../../src/http/operations.js';
import { createServer } from '../../src/http/server.js';
import type { Call } from '../../src/operations/core/call.js';
import { paymentsOperations } from '../../src/operations/payments/index.js';
import { createGateway } from '../../src/operations/payments/parts.js';
import '../support/contract.js';
import { readPaidChannels } from '../../src/config/paid-channels.js';
import { ReadModels } from '../../src/stores/read-models.js';
import type { Log, Recorded } from '../../streams/core/index.js';
import { looksLikeAny } from '../../streams/nick-looks.js';
import { type PaymentFact, payments } from '../../streams/payments/index.js';
import { Chain } from '../../workers/payments/chain.js';
import { Facilitator } from '../../workers/payments/facilitator.js';
import { fateOf } from '../../workers/payments/fates.js';
import { readPayTo } from '../../workers/payments/networks.js';
import { termsOf } from '../../workers/payments/paid-channel.js';
import { ResolvePayments } from '../../workers/payments/resolution/index.js';
import type { LookPauses } from '../../workers/payments/resolution/unresolved.js';
import { openLog } from '../channels/keeper.js';
import { eventually } from '../support/eventually.js';
import { callHere } from '../support/operations.js';
import type { Teardown } from '../support/server-process.js';
import { temporaryDirectory } from '../support/sql.js';
import { logOfEarlierVersion } from './earlier-version.js';
import { channelsFile, paidChannel, payTo } from './stage.js';

/** A payment gateway of its own, with its public routes and without an IRC network. */
export interface TestTurnstile {
  url: string;
  log: Log;
  /** Nicks that are not on the network. */
  away: Set<string>;
  /** Nicks that moderation keeps out. */
  banned: Set<string>;
  /** Who was brought in again. */
  admitted: string[];
  /** Everything that was recorded of payments so far, in order. */
  facts(): Promise<Recorded<PaymentFact>[]>;
  /** Calls an operation of payments, as anybody. */
  call: Call;
  /** Starts a worker that resolves payments in doubt, until the test ends or it is stopped; `told` gets what it learns. */
  resolve(pauses: LookPauses, told?: unknown[]): ResolvePayments;
}

/** Starts a gateway on a log; several on one log are several processes. */
export async function startTurnstile(
  t: Teardown,
  options: {
    natsUrl: string;
    facilitatorUrl: string;
    channels?: unknown;
    payTo?: string;
    rpcUrl?: string;
    /** How long the facilitator may take, in milliseconds. */
    timeoutMs?: number;
    /** Whether it writes payments as an earlier version does. */
    isOfEarlierVersion?: boolean;
  },
): Promise<TestTurnstile> {
  const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const opened = await openLog(t, options.natsUrl);
  const log = options.isOfEarlierVersion ? logOfEarlierVersion(opened) : opened;
  const sql = await openSql({ databaseUrl: '', directory: `${await temporaryDirectory(t)}/pg`, logger });
  const projector = new Projector({ log, sql, projections, logger, watchMs: 200 });
  await projector.start();
  await eventually('the read models', () => projector.caughtUp());
  t.teardown(async () => {
    await projector.stop();
    await sql.close();
  });
  const { facilitatorUrl: url, timeoutMs, rpcUrl } = options;
  const away = new Set<string>();
  const banned = new Set<string>();
  const admitted: string[] = [];
  const readModels = new ReadModels(sql, projector);
  const channels = readPaidChannels(await channelsFile(t, options.channels ?? [paidChannel()]));
  const facilitator = url === '' ? undefined : new Facilitator({ url, timeoutMs });
  const chain = rpcUrl === undefined ? undefined : new Chain(rpcUrl);
  const publicUrl = 'https://relay.example';
  const gateway = createGateway({
    log,
    logger,
    readModels,
    channels,
    facilitator,
    chain,
    publicUrl,
    payTo: readPayTo(options.payTo ?? payTo)!,
    unsettled: new UnsettledLimit({ log, replicas: 1 }),
    isBanned: async (_channel, nick) => banned.has(nick),
    holderOf: async (nick) => (away.has(nick) ? null : { account: null, host: `${nick}@127.0.0.1` }),
    isKept: (nick) => looksLikeAny(nick, ['relay', 'NickServ']),
    admit: async ({ nick }) => admitted.push(nick),
  });
  const server = await createServer({ logger, rateLimit: 0 });
  const call = callHere({ log, logger, readModels, startedAt: new Date(), payments: gateway });
  await server.register(operationRoutes, { operations: paymentsOperations, call, keys: new ApiKeys([]) });
  t.teardown(() => server.close());
  return {
    url: await server.listen({ host: '127.0.0.1', port: 0 }),
    log,
    away,
    banned,
    admitted,
    call,
    facts: async () => {
      const found: Recorded<PaymentFact>[] = [];
      for (let seq = 1; seq <= (await log.head(payments)); seq++) {
        const fact = await log.at(payments, seq);
        if (fact) found.push(fact);
      }
      return found;
    },
    resolve: (pauses, told = []) => {
      const worker = new ResolvePayments({
        log,
        logger,
        pauses,
        places: channels.map((channel) => ({ ...channel, terms: termsOf(channel) })),
        fateOf: async (intended) => {
          const fate = await fateOf(intended, { chain, facilitator, publicUrl }, log.now());
          told.push(fate);
          return fate;
        },
        read: (query, after) => readModels.read('payments', query, after),
      });
      t.teardown(() => worker.stop());
      worker.start();
      return worker;
    },
  };
}
