import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '../../src/config/config.js';
import { needsOwnKey } from '../../src/config/warnings.js';
import { storedOperatorKey } from '../../src/servers/secrets.js';
import { askOf } from '../channels/stage.js';
import { withoutIrc } from '../identity/stage.js';
import { startApp } from '../support/app.js';
import { startNats } from '../support/nats.js';

t.test('KEY-11 who is for this machine alone', async (t) => {
  const needs = (environment: Record<string, string>) => needsOwnKey(readConfig(environment));
  for (const environment of [
    {},
    { HOST: '::1' },
    { HOST: 'localhost', PUBLIC_URL: 'http://[::1]:8100' },
    { HOST: '0.0.0.0', API_KEYS: `ops:${'k'.repeat(40)}` },
    { HOST: '0.0.0.0', API_KEYS_FILE: '/keys' },
  ])
    t.notOk(needs(environment), JSON.stringify(environment));
  for (const environment of [
    { HOST: '0.0.0.0' },
    { HOST: '192.0.2.1' },
    { PUBLIC_URL: 'https://relay.example' },
  ])
    t.ok(needs(environment), JSON.stringify(environment));
});

t.test('KEY-11 a key is made, kept and asked for', async (t) => {
  const nats = await startNats(t);
  const dir = t.testdir({ data: { 'secrets.json': JSON.stringify({ em_webhook_secret: 'x', other: 1 }) } });
  const DATA_DIR = join(dir, 'data');
  const environment = {
    DATA_DIR,
    NATS_URL: nats.url,
    ROLES: withoutIrc,
    PUBLIC_URL: 'https://relay.example',
  };
  const app = await startApp(t, environment);
  t.match(await askOf(app.url, 'GET', '/ops/audit'), { status: 401, body: { code: 'api_key_required' } });
  const file = join(DATA_DIR, 'secrets.json');
  t.equal(statSync(file).mode & 0o777, 0o600);
  const { api_key, ...rest } = JSON.parse(readFileSync(file, 'utf8'));
  t.match(rest, { em_webhook_secret: 'x', other: 1 }, 'what was there is kept');
  t.equal(storedOperatorKey(DATA_DIR), api_key);
  t.equal((await askOf(app.url, 'GET', '/ops/audit', undefined, { 'x-api-key': api_key })).status, 200);
  await app.stop();
  const again = await startApp(t, environment);
  t.equal((await askOf(again.url, 'GET', '/ops/audit', undefined, { 'x-api-key': api_key })).status, 200);
});
