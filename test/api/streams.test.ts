import t from 'tap';
import { descriptions } from '../../src/openapi/index.js';
import { listStreams } from '../../src/operations/system/streams.js';
import { channels } from '../../streams/channels/index.js';
import { streams } from '../../streams/index.js';
import { postEvent, sampleEvent, startApp } from '../support/app.js';
import { startNats } from '../support/nats.js';

const key = 'k'.repeat(40);

t.test('API-08 an operator sees what the log holds', async (t) => {
  const nats = await startNats(t);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    IRC_URL: 'irc://127.0.0.1:1',
    ROLES: 'api,projections,services',
    API_KEYS: `ann:${key}`,
  });
  t.equal((await postEvent(url, sampleEvent('evt-1'))).status, 202);
  t.equal((await fetch(`${url}/ops/streams`)).status, 401);
  const answer = await fetch(`${url}/ops/streams`, { headers: { 'x-api-key': key } });
  t.equal(answer.status, 200);
  const body = (await answer.json()) as { streams: { stream: string }[] };
  t.same(
    body.streams.map(({ stream }) => stream),
    streams.map(({ name }) => name),
  );
  const of = (name: string) => body.streams.find(({ stream }) => stream === name);
  t.match(of('MARKET'), { facts: 1, first: 1, last: 1, last_at: /^20\d\d-.*Z$/ });
  t.match(of(channels.name), { facts: 0, last: 0, last_at: null });
  t.ok(
    descriptions.some(({ id }) => id === listStreams.id),
    'it is described',
  );
});
