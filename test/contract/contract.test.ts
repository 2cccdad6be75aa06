import pino from 'pino';
import t from 'tap';
import { createServer } from '../../src/http/server.js';
import { reportTo } from '../support/contract.js';
import { Contract, type Exchange, type Violation } from './contract.js';

const stats = { connected: true, users: 1, channels: 1, messages: 0, viewers: 0, uptime: 5 };
const good: Exchange = {
  method: 'GET',
  url: '/irc/stats',
  route: '/irc/stats',
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(stats),
};

t.test('OAS-07 an answer is held against status, type and schema', async (t) => {
  const contract = new Contract();
  const reason = (other: Partial<Exchange>) => contract.reasonAgainst({ ...good, ...other });
  const json = (body: unknown) => reason({ body: JSON.stringify(body) });
  t.equal(reason({}), undefined);
  t.match(reason({ status: 418 }), /418 is not described/);
  t.match(reason({ contentType: 'text/html' }), /type is text\/html/);
  t.match(reason({ body: '{' }), /not JSON/);
  t.match(json({ ...stats, users: '1' }), /\/users must be integer/);
  t.match(json({ ...stats, users: undefined }), /required property 'users'/);
  t.match(json({ ...stats, secret: 1 }), /additional properties: secret/);
  t.match(json([stats]), /must be object/);
  t.match(reason({ status: 503, body: '{"error":"away"}' }), /required property 'code'/);
  t.equal(reason({ status: 503, body: '{"error":"away","code":"away","more":1}' }), undefined);
  t.equal(reason({ method: 'HEAD', body: '' }), undefined, 'as GET, without a body');
  t.equal(reason({ route: '/elsewhere', status: 418 }), undefined, 'not of this API');
});

t.test('OAS-07 null and lists of named schemas are told apart', async (t) => {
  const contract = new Contract();
  const channel = { name: '#a', type: 'task', modes: '+n', topic: '', metadata: { any: [1] } };
  const dates = { created_at: '2026-01-31T12:00:00.000Z', delete_after: null, deleted_at: null };
  const reason = (fields: object) =>
    contract.reasonAgainst({
      ...good,
      url: '/channels',
      route: '/channels',
      body: JSON.stringify({
        channels: [{ ...channel, ...dates, archived_at: null, archive_reason: null, ...fields }],
        total: 1,
      }),
    });
  t.equal(reason({}), undefined);
  t.match(reason({ topic: null }), /\/channels\/0\/topic/);
  t.match(reason({ created_at: 'yesterday' }), /\/channels\/0\/created_at must match format/);
  t.match(reason({ of_late: 1 }), /additional properties: of_late/);
});

t.test('OAS-07 where no operation is meant, an answer is an error as all are', async (t) => {
  const contract = new Contract();
  const lost = { ...good, route: undefined, status: 404, body: '{"error":"x","code":"not_found"}' };
  t.equal(contract.reasonAgainst(lost), undefined);
  t.match(contract.reasonAgainst({ ...lost, status: 200 }), /not an answer/);
  t.match(contract.reasonAgainst({ ...lost, body: '{"message":"Not Found"}' }), /required property/);
});

t.test('OAS-07 every server of a test is held to it, whoever asks', async (t) => {
  const seen: Violation[] = [];
  reportTo((violation) => seen.push(violation));
  const server = await createServer({ logger: pino({ level: 'silent' }), rateLimit: 0 });
  let answer: object = stats;
  server.get('/irc/stats', async () => answer);
  t.teardown(() => server.close());
  await server.inject('/irc/stats');
  await server.inject('/nowhere');
  t.same(seen, []);
  answer = { ...stats, uptime: 'long' };
  t.match((await server.inject('/irc/stats?a=1')).json(), answer, 'the caller sees nothing of it');
  t.match(seen, [
    { reason: /\/uptime must be integer/, exchange: { method: 'GET', url: '/irc/stats?a=1', status: 200 } },
  ]);
});
