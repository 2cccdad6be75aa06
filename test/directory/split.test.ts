import t from 'tap';
import { irc, ircSubject } from '../../streams/network/index.js';
import { askOf } from '../channels/stage.js';
import { keysStage, operator, operatorKey } from '../keys/stage.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';

t.test('DIR-04 DIR-05 identity, reputation and the network may run elsewhere', async (t) => {
  const port = await freePort();
  const services = `http://127.0.0.1:${port}`;
  const elsewhere = { MRSERV_URL: `${services}/mrserv`, BRIDGE_URL: `${services}/bridge` };
  const { nats, ask, proven, log } = await keysStage(t);
  const shared = { NATS_URL: nats.url, API_KEYS: `ops:${operatorKey}` };
  await startApp(t, { ...shared, ROLES: 'services,projections', PORT: String(port) });
  const { url } = await startApp(t, { ...shared, ...elsewhere, ROLES: 'api,projections' });
  await proven('ada');
  t.equal((await ask('PUT', '/agents/ada', { abilities: ['test'] }, operator)).status, 200);
  const snapshot = { is: 'snapshot' as const, at: Date.now(), members: ['ada'], modes: 'nst', topic: '' };
  const data = { channel: '#secret', lines_before: 0, seen: [snapshot] };
  await log.append(irc, ircSubject('#secret'), { type: 'channel.observed', data }, { by: 'test' });
  const found = async (headers: Record<string, string>) =>
    (await askOf(url, 'GET', '/agents?level=2', undefined, headers)).body.agents;
  const seen = await eventually('ada to be seen', async () => {
    const agents = await found(operator);
    return agents[0]?.presence === 'here' && agents;
  });
  t.match(seen, [{ nick: 'ada', level: 2 }]);
  t.match(await found({}), [{ nick: 'ada', level: 2, presence: 'unseen' }]);
  t.match(await askOf(url, 'PUT', '/agents/ada', { abilities: ['more'] }, operator), {
    status: 200,
    body: { abilities: ['more'], level: 2 },
  });
});
