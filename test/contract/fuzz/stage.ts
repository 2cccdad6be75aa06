import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { createApp } from '../../../src/app/app.js';
import { readConfig } from '../../../src/config/config.js';
import { environmentOf, untilKept } from '../../channels/stage.js';
import { modelsFile } from '../../deliberation/stage.js';
import { channelsFile, paidChannel, payTo } from '../../payments/stage.js';
import { webhookSecret } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { serveFacilitator } from '../../support/facilitator.js';
import { observe } from '../../support/irc-observer.js';
import { startIrcd } from '../../support/ircd.js';
import { sendJson, startMarketplace } from '../../support/marketplace.js';
import { startProvider } from '../../support/model-provider.js';
import { startNats } from '../../support/nats.js';
import { freePort } from '../../support/ports.js';
import type { Teardown } from '../../support/server-process.js';
import { Dice } from './dice.js';
import { anything } from './hostile.js';
import { key } from './requests.js';

/** A whole service on a real log and a real network, with everybody else that it asks. */
export interface FuzzStage {
  url: string;
  port: number;
  /** What it logged as its own fault so far. */
  faults: string[];
}

/** Starts everything; nicks `ann`, `bob` and `alice` are on the network. */
export async function fuzzStage(t: Teardown, seed: number): Promise<FuzzStage> {
  const [nats, ircd, marketplace, provider, port] = await Promise.all([
    startNats(t),
    startIrcd(t),
    startMarketplace(t),
    startProvider(t),
    freePort(),
  ]);
  const dice = new Dice(seed);
  marketplace.answer = ({ url, body }, response) => {
    marketplace.seen.length = 0;
    const kind = dice.below(10);
    if (kind === 0) return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello');
    if (kind === 1) return void response.destroy();
    const status = dice.one([200, 200, 200, 201, 400, 404, 409, 418, 422, 500, 503]);
    const tasks = [{ id: 't-1', status: 'published', bounty_usd: 2 }];
    sendJson(response, status, dice.one([{ url, body }, anything(dice), { tasks }, tasks]));
  };
  const facilitator = await serveFacilitator(t, async (operation) => {
    facilitator.seen.length = 0;
    if (operation === 'supported')
      return {
        status: 200,
        body: {
          kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }],
          extensions: [],
          signers: {},
        },
      };
    return {
      status: 200,
      body: dice.one([{ isValid: false, invalidReason: 'invalid_payload' }, anything(dice)]),
    };
  });
  for (const nick of ['ann', 'bob', 'alice']) {
    const agent = await observe(ircd.port, { nick });
    t.teardown(() => agent.stop());
  }
  const url = `http://127.0.0.1:${port}`;
  const directory = await mkdtemp(join(tmpdir(), 'relay-fuzz-'));
  const faults: string[] = [];
  const config = readConfig({
    ...environmentOf({ nats, ircd }),
    DATA_DIR: directory,
    PORT: String(port),
    PUBLIC_URL: url,
    API_KEYS: `fuzz:${key}`,
    EM_WEBHOOK_SECRET: webhookSecret,
    EM_URL: marketplace.url,
    STREAMS_MAX_BYTES: '500000000',
    X402_FACILITATOR_URL: facilitator.url,
    X402_PAY_TO: payTo,
    PAID_CHANNELS: await channelsFile(t, [paidChannel()]),
    MODELS: await modelsFile(t, provider.url),
    // the network of tests reaches nobody else
    SOCIAL_OEMBED_URL: `${marketplace.url}/oembed`,
    CHANNEL_CREATIONS_PER_HOUR: '0',
    CHANNEL_DELETIONS_PER_HOUR: '0',
    MEMBER_OPERATIONS_PER_HOUR: '0',
  });
  const write = (line: string) => void faults.push(line);
  const app = await createApp(config, pino({ level: 'error' }, { write }));
  t.teardown(async () => {
    await app.stop();
    await rm(directory, { recursive: true, force: true });
  });
  await eventually('the service to be ready', async () => (await fetch(`${url}/ready`)).ok);
  await untilKept(url);
  return { url, port, faults };
}
