import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'nats';
import pino from 'pino';
import t from 'tap';
import { createApp } from '../../src/app/app.js';
import { readConfig } from '../../src/config/config.js';
import { eventually } from '../support/eventually.js';
import { sendJson, startMarketplace } from '../support/marketplace.js';
import { startNats } from '../support/nats.js';
import '../support/contract.js';

const key = 'k'.repeat(40);
const own = 'em-own-7f3a9c';
const bearer = `Bearer ${own}`;

t.test('EM-14 a credential of the marketplace goes there in place of ours, and nowhere else', async (t) => {
  const nats = await startNats(t);
  const marketplace = await startMarketplace(t);
  const dir = await mkdtemp(join(tmpdir(), 'relay-own-key-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  const config = readConfig({
    DATA_DIR: dir,
    PORT: '0',
    STREAMS_MAX_BYTES: '500000000',
    ROLES: 'api,projections',
    NATS_URL: nats.url,
    IRC_URL: 'irc://127.0.0.1:1',
    API_KEYS: `publisher:${key}`,
    EM_URL: marketplace.url,
    EM_API_KEY: 'upstream-key',
    PROXY_TIMEOUT: '1000',
  });
  const logged = join(dir, 'log');
  const app = await createApp(
    config,
    pino({ level: 'trace' }, pino.destination({ dest: logged, sync: true })),
  );
  t.teardown(() => app.stop());
  await eventually('the service to be ready', async () => (await fetch(`${app.address}/ready`)).ok);
  const ask = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    const response = await fetch(app.address + path, init);
    return { status: response.status, body: await response.text() };
  };
  const seenCredentials = () => marketplace.seen.splice(0).map(({ headers }) => headers.authorization);
  const keyed = { 'x-api-key': key, 'content-type': 'application/json' };

  await ask('GET', '/em/tasks', {});
  await ask('GET', '/em/tasks', { 'x-em-api-key': own });
  await ask('GET', '/em/earnings/alice', { ...keyed, 'x-em-api-key': own });
  await ask('POST', '/em/tasks/7/apply', { ...keyed, 'x-em-api-key': own }, '{}');
  await ask('POST', '/em/tasks/7/apply', keyed, '{}');
  t.same(seenCredentials(), ['Bearer upstream-key', bearer, bearer, bearer, 'Bearer upstream-key']);

  t.test('through the tools too', async (t) => {
    const call = (name: string, given: object) =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } });
    const headers = { ...keyed, 'x-em-api-key': own, accept: 'application/json, text/event-stream' };
    marketplace.answer = (_request, response) => sendJson(response, 200, { tasks: [] });
    await ask('POST', '/mcp', headers, call('svc_em_apply_task', { task_id: 't-1' }));
    await ask('POST', '/mcp', headers, call('svc_economic_activity', { status: 'published' }));
    t.same(seenCredentials(), [bearer, bearer]);
  });

  t.test('MCP-26 one that is none is refused there too', async (t) => {
    const list = JSON.stringify({ jsonrpc: '2.0', id: 'x', method: 'tools/list' });
    for (const wrong of ['', `${own} and more`, 'ö', 'k'.repeat(513)]) {
      const headers = { ...keyed, accept: 'application/json, text/event-stream', 'x-em-api-key': wrong };
      const http = await ask('GET', '/em/tasks', headers);
      const { error, code, details } = JSON.parse(http.body);
      const { status, body } = await ask('POST', '/mcp', headers, list);
      t.same([http.status, status], [400, 400], wrong);
      t.match(JSON.parse(body), {
        jsonrpc: '2.0',
        id: 'x',
        error: { code: -32000, message: error, data: { code, details } },
      });
      t.notMatch(body, own);
    }
    t.same(seenCredentials(), []);
  });

  t.test('one that is none is refused, and a marketplace in trouble tells nobody of it', async (t) => {
    const odd = await ask('GET', '/em/tasks', { 'x-em-api-key': `${own} and more` });
    t.match(odd, { status: 400, body: /X-EM-Api-Key|x-em-api-key/ });
    t.notMatch(odd.body, own);
    t.equal((await ask('POST', '/em/tasks/7/apply', { 'x-em-api-key': own }, '{}')).status, 401);
    t.same(seenCredentials(), []);
    marketplace.answer = (_request, response) => response.destroy();
    t.equal((await ask('GET', '/em/tasks', { 'x-em-api-key': own })).status, 502);
    t.equal((await ask('POST', '/em/tips', { ...keyed, 'x-em-api-key': own }, '{}')).status, 502);
  });

  t.test('it stands in no fact, metric or log', async (t) => {
    const connection = await connect({ servers: nats.url });
    t.teardown(() => connection.close());
    const texts = [];
    const manager = await connection.jetstreamManager();
    const { state } = await manager.streams.info('AUDIT');
    t.ok(state.messages >= 8, 'calls are on record');
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await manager.streams.getMessage('AUDIT', { seq });
      texts.push(new TextDecoder().decode(message!.data));
    }
    for (const path of ['/metrics', '/ops/audit']) texts.push((await ask('GET', path, keyed)).body);
    const log = await readFile(logged, 'utf8');
    t.match(log, '"path":"/em/tasks"');
    for (const text of [...texts, log]) t.notOk(text.includes(own));
  });
});
