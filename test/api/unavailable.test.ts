import pino from 'pino';
import t, { type Test } from 'tap';
import { createApp } from '../../src/app/app.js';
import { readConfig } from '../../src/config/config.js';
import { descriptions } from '../../src/openapi/index.js';
import { type Answer, askOf } from '../channels/stage.js';
import { startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';

const areas = ['guardian', 'sentinel', 'identity', 'reputation', 'leaderboard', 'verification'];
const wallet = '0x52908400098527886E0F7030069857D2E4169EE7';
const id = 'inc-abcdefgh';
const agent = { nickname: 'ann', socialHandle: 'ann_agent' };

/** Decided on the log, wherever the service is. */
const withoutService = ['POST /guardian/incidents/{id}/appeal'];

/** Every operation of these areas as the description has it, with a request that is in order. */
const requests: Record<string, { path: string; body?: object }> = {
  'GET /guardian/stats': { path: '/guardian/stats' },
  'GET /guardian/incidents': { path: '/guardian/incidents?limit=5' },
  'GET /guardian/reputation/{nick}': { path: '/guardian/reputation/ann' },
  'GET /sentinel/incidents': { path: '/sentinel/incidents' },
  'GET /sentinel/incidents/{id}': { path: `/sentinel/incidents/${id}` },
  'GET /sentinel/incidents/{id}/consensus': { path: `/sentinel/incidents/${id}/consensus` },
  'GET /sentinel/stats': { path: '/sentinel/stats' },
  'GET /sentinel/contributions/{nick}': { path: '/sentinel/contributions/ann' },
  'GET /sentinel/cert-status': { path: '/sentinel/cert-status' },
  'POST /sentinel/incidents': {
    path: '/sentinel/incidents',
    body: { title: 'A leak of keys', severity: 'SEV-2', reporterNick: 'ann' },
  },
  'POST /sentinel/incidents/{id}/vote': {
    path: `/sentinel/incidents/${id}/vote`,
    body: { voterNick: 'ann', score: 80 },
  },
  'GET /identity/by-nick/{nick}': { path: '/identity/by-nick/ann' },
  'GET /identity/by-wallet/{address}': { path: `/identity/by-wallet/${wallet}` },
  'POST /identity/link': { path: '/identity/link', body: { nick: 'ann', wallet_address: wallet } },
  'DELETE /identity/link/{nick}': { path: '/identity/link/ann' },
  'POST /identity/verify-challenge': { path: '/identity/verify-challenge', body: { nick: 'ann' } },
  'POST /identity/verify-signature': {
    path: '/identity/verify-signature',
    body: { nick: 'ann', signature: `0x${'1b'.repeat(65)}` },
  },
  'GET /reputation/{nick}': { path: '/reputation/ann' },
  'GET /reputation/{nick}/feedback': { path: '/reputation/ann/feedback' },
  'POST /reputation/{nick}/feedback/{id}/answer': {
    path: '/reputation/ann/feedback/1/answer',
    body: { text: 'Thank you' },
  },
  'GET /leaderboard/channels': { path: '/leaderboard/channels' },
  'GET /leaderboard/agents': { path: '/leaderboard/agents?limit=5' },
  'POST /verification/challenge': {
    path: '/verification/challenge',
    body: agent,
  },
  'POST /verification/verify': {
    path: '/verification/verify',
    body: { ...agent, tweetUrl: 'https://x.com/ann_agent/status/1', email: 'ann@agents.example' },
  },
  'GET /verification/agent/{nickname}': { path: '/verification/agent/ann' },
  'GET /verification/agents': { path: '/verification/agents' },
};

async function answersOf(t: Test, environment: Record<string, string>, isAsked = (_key: string) => true) {
  const nats = await startNats(t);
  const config = readConfig({ NATS_URL: nats.url, DATA_DIR: t.testdir(), PORT: '0', ...environment });
  const app = await createApp(config, pino({ level: 'silent' }));
  t.teardown(() => app.stop());
  const asked = Object.entries(requests).filter(([key]) => isAsked(key));
  return await Promise.all(
    asked.map(async ([key, { path, body }]): Promise<[string, Answer]> => {
      const answer = await askOf(app.address, key.split(' ')[0]!, path, body);
      return [key, answer];
    }),
  );
}

t.test('API-18 the requests are all there are', async (t) => {
  const described = descriptions
    .filter(({ path }) => areas.includes(path.split('/')[1]!))
    .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    .filter((operation) => !withoutService.includes(operation));
  t.same(Object.keys(requests).sort(), described.sort());
});

t.test('API-18 without its read model a read answers 503 and says when to ask again', async (t) => {
  // nothing folds the log here
  const answers = await answersOf(t, { ROLES: 'api,services' }, (key) => key.startsWith('GET '));
  for (const [key, { status, body, headers }] of answers) {
    t.match(
      { status, body },
      { status: 503, body: { code: 'read_model_building', error: /is being built$/ } },
      key,
    );
    t.match(headers.get('retry-after'), /^[1-9]\d*$/, `${key}: Retry-After`);
  }
});

t.test('API-18 without its service every operation answers 502 and names it', async (t) => {
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const names = ['GUARDIAN', 'SENTINEL', 'MRSERV', 'VERIFICATION'];
  const answers = await answersOf(t, {
    ROLES: 'api,projections',
    ...Object.fromEntries(names.map((name) => [`${name}_URL`, nowhere])),
  });
  const services: Record<string, string> = {
    identity: 'mrserv',
    reputation: 'mrserv',
    leaderboard: 'mrserv',
  };
  for (const [key, { status, body }] of answers) {
    const area = key.split('/')[1]!;
    const error = `The ${services[area] ?? area} service is unreachable`;
    t.same({ status, body }, { status: 502, body: { error, code: 'upstream_unreachable' } }, key);
  }
});
