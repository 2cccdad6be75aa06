import { cpSync, mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { type App, createApp } from '../../src/app/app.js';
import { signBody } from '../../src/auth/webhook-signature.js';
import { readConfig } from '../../src/config/config.js';
import './contract.js';
import { eventually, hangMs } from './eventually.js';

/** The webhook secret that test services share with `postEvent`. */
export const webhookSecret = '5ec2e7'.repeat(10);

/** A read store that has the tables of all read models, and nothing in them. */
const emptyReadStore = process.env.TEST_READ_STORE;

/** Spares a service the making of its read store, which is half of its start, unless its environment names one. */
export function giveReadStore(dataDir: string, environment: Record<string, string>): void {
  if (!emptyReadStore || environment.DATABASE_URL || environment.DATA_DIR) return;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  cpSync(emptyReadStore, join(dataDir, 'pg'), { recursive: true }); // takes a fifth of the time that `cp` takes
}

/** The service in this process, on a free port and in a folder of its own, with the environment given. */
export async function startApp(
  t: { teardown(fn: () => unknown): void },
  environment: Record<string, string>,
): Promise<App & { url: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'relay-app-'));
  const config = readConfig({
    DATA_DIR: dir,
    PORT: '0',
    EM_WEBHOOK_SECRET: webhookSecret,
    STREAMS_MAX_BYTES: '500000000',
    // a notice to each observer that joins would be in the way of what tests wait for
    RULES_FILE: 'none',
    ...environment,
  });
  giveReadStore(dir, environment);
  const app = await createApp(config, pino({ level: process.env.TEST_LOG ?? 'silent' }));
  t.teardown(async () => {
    await app.stop();
    await rm(dir, { recursive: true, force: true });
  });
  await eventually('the service to be ready', async () => (await fetch(`${app.address}/ready`)).ok);
  return Object.assign(app, { url: app.address });
}

/** A marketplace event as producers post it. */
export interface SampleEvent {
  event_id: string;
  event_type: string;
  source: string;
  payload: Record<string, unknown>;
}

/** An event that goes to the feed channel and, with a city, to that city's. */
export function sampleEvent(id: string, fields: Partial<SampleEvent> = {}): SampleEvent {
  const payload = { id: `${id}-0000`, title: `Task ${id}`, bounty_usdc: 5, network: 'base' };
  return { event_id: id, event_type: 'task.published', source: 'marketplace', payload, ...fields };
}

/** Signs an event and posts it; `body` and `headers` replace what would be sent. */
export async function postEvent(
  url: string,
  event: unknown,
  options: {
    body?: string | Buffer;
    headers?: Record<string, string>;
    secret?: string;
    timeoutMs?: number;
    path?: string;
  } = {},
): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }> {
  const body = options.body ?? JSON.stringify(event);
  const response = await fetch(url + (options.path ?? '/hooks/em/events'), {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-em-signature': signBody(options.secret ?? webhookSecret, body),
      'x-em-timestamp': new Date().toISOString(),
      ...options.headers,
    },
    signal: AbortSignal.timeout(options.timeoutMs ?? hangMs),
  });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  };
}
