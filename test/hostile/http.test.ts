import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import t from 'tap';
import { startApp } from '../support/app.js';
import { startNats } from '../support/nats.js';

/** What a stranger reads of the API before anything else. */
interface Api {
  paths: Record<string, Record<string, { operationId?: string; responses: Record<string, unknown> }>>;
}

const climbs = ['..', '..%2f..', '%2e%2e%2f', '..%5c', '%00', '%252e%252e', '....//', '.;/', '%c0%ae%c0%ae/'];
const targets = ['etc/passwd', 'secrets.json', 'nats/password', '.env', 'ops/projections'];

// a stranger, who knows the address, its description and nothing else
t.test('a hostile caller of the public API', async (t) => {
  const nats = await startNats(t);
  const { url } = await startApp(t, {
    ...{ NATS_URL: nats.url, ROLES: 'api,services,projections,workers,schedule' },
    ...{ API_KEYS: `ops:${'k'.repeat(40)}`, RATE_LIMIT: '0' },
  });
  const api = (await (await fetch(`${url}/openapi.json`)).json()) as Api;
  const keyed = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => '401' in responses && '403' in responses)
      .map(([method, { operationId }]) => ({ path, method: method.toUpperCase(), operationId })),
  );
  t.ok(keyed.length > 20, `${keyed.length} operations ask for a credential`);

  await t.test('invented keys', async (t) => {
    const invented = ['x', 'k'.repeat(39), `rak_k3mf7q2xa4bc_${'A'.repeat(43)}`, 'ops', '*'];
    for (const { path, method, operationId } of keyed)
      for (const key of invented) {
        const target = url + path.replace(/\{\w+\}/g, '1');
        const json = method === 'GET' ? {} : { body: '{}' };
        const headers = { 'x-api-key': key, 'content-type': 'application/json' };
        const { status } = await fetch(target, { method, headers, ...json });
        t.equal(status, 401, `${operationId} with ${key.slice(0, 8)}`);
      }
  });

  await t.test('forged events', async (t) => {
    const body = JSON.stringify({ event_id: 'f', event_type: 'task.published', source: 'x', payload: {} });
    const now = new Date().toISOString();
    for (const signature of [
      ...['', 'sha256=', '0'.repeat(64), `sha256=${'f'.repeat(64)}`, 'null', 'undefined'],
      ...['', 'secret', 'changeme', 'k'.repeat(40)].map(
        (secret) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      ),
    ]) {
      const headers = {
        'content-type': 'application/json',
        ...{ 'x-em-signature': signature, 'x-em-timestamp': now },
      };
      const { status } = await fetch(`${url}/hooks/em/events`, { method: 'POST', headers, body });
      t.equal(status, 401, signature.slice(0, 20));
    }
  });

  await t.test('paths that climb', async (t) => {
    for (const climb of climbs)
      for (const target of targets)
        for (const path of [`/${climb}/${target}`, `/irc/channels/${climb}/${target}`]) {
          // as it is: fetch would tidy it up
          const status = await new Promise<number>((resolve, reject) => {
            request(url, { path }, (answer) => {
              answer.resume();
              resolve(answer.statusCode!);
            })
              .on('error', reject)
              .end();
          });
          t.ok(status >= 400 && status < 500, `${path}: ${status}`);
        }
  });
  t.ok((await fetch(`${url}/ready`)).ok, 'and the service is well');
});
