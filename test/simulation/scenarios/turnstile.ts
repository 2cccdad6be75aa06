import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicClient, createTransport, custom } from 'viem';
import { Projector } from '../../../projections/core/projector.js';
import { paidSessions } from '../../../projections/payments/fold.js';
import { paymentsArea } from '../../../src/app/areas/payments.js';
import { createChannelKeeping } from '../../../src/app/bots/channels.js';
import { readConfig } from '../../../src/config/config.js';
import type { PaymentsParts } from '../../../src/operations/payments/index.js';
import { ReadModels } from '../../../src/stores/read-models.js';
import { channels as channelFacts } from '../../../streams/channels/index.js';
import { market } from '../../../streams/events/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { payments as paymentFacts } from '../../../streams/payments/index.js';
import { createChannels } from '../../../workers/channels/index.js';
import { type Process, type Running, runLeases } from '../process.js';
import type { SimulatedStore } from '../store/server.js';
import type { DirectoryOnLog } from './directory.js';
import { payTo, type Till } from './payers.js';

const streams = [channelFacts, market, operations, paymentFacts];

let channelsFile: string | undefined;

/** What has to be done before a world begins in which processes take payments for these channels. */
export async function prepareTurnstiles(sold: readonly object[]): Promise<void> {
  takeIds();
  if (channelsFile) return;
  await loadErrorPath();
  const directory = mkdtempSync(join(tmpdir(), 'simulation-'));
  channelsFile = join(directory, 'paid-channels.json');
  writeFileSync(channelsFile, JSON.stringify(sold));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
}

/**
 * The library that asks chains loads a part of itself when a first call fails: in real time, which no seed decides. So
 * one fails here.
 */
async function loadErrorPath(): Promise<void> {
  const request = () => Promise.reject(new Error('nobody answers'));
  await createPublicClient({ transport: custom({ request }, { retryCount: 0 }) })
    .call({ to: payTo })
    .catch(() => {});
}

/** The library that asks chains draws ids for many clients at once: here, where it is nothing to any seed. */
function takeIds(): void {
  const { random } = Math;
  let isDrawn = false;
  Math.random = () => {
    isDrawn = true;
    return random();
  };
  const request = () => Promise.reject(new Error('nobody asks'));
  while (!isDrawn) createTransport({ key: 'none', name: 'none', type: 'none', request });
  Math.random = random;
}

/** A process that takes payments and sees to what follows from them. */
export type Turnstile = Running & Till;

/** Brings up the parts of the product that payments go through. */
export async function beginTurnstile(
  process: Process,
  at: { store: SimulatedStore; directory: DirectoryOnLog; hasChain: boolean },
): Promise<Turnstile> {
  const { logger, name: holder } = process;
  const log = await process.openLog(streams);
  const sql = at.store.connect();
  const projector = new Projector({ log, sql, projections: [paidSessions], logger, watchMs: 5_000 });
  const readModels = new ReadModels(sql, projector);
  const config = readConfig({
    X402_FACILITATOR_URL: process.addressOf('facilitator.test'),
    X402_PAY_TO: payTo,
    CHAIN_RPC_URL: at.hasChain ? process.addressOf('chain.test') : '',
    PAID_CHANNELS: channelsFile,
  });
  const bot = process.botParts(log);
  const keeping = createChannelKeeping(config, { ...bot, readModels: at.directory.readModels });
  const area = paymentsArea({ config, log, logger, holder, readModels, channels: createChannels(log) });
  const { payments } = area.parts as Pick<PaymentsParts, 'payments'>;
  await projector.start();
  return {
    parts: { log, logger, readModels, payments, startedAt: new Date() },
    isDead: () => process.isDead,
    ...runLeases([keeping.lease, ...area.workers!], { log, projector, sql }),
  };
}
