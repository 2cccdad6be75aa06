import t from 'tap';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';
import { startPostgres } from '../support/sql.js';
import { askOf, channelStage, environmentOf, untilKept } from './stage.js';

const key = 'k'.repeat(40);
const keyed = { 'x-api-key': key };

t.test('CHAN-29 keys of channels are for those who may write, wherever the service runs', async (t) => {
  const [nats, ircd, postgres] = await Promise.all([startNats(t), startIrcd(t), startPostgres(t)]);
  const shared = {
    ...environmentOf({ nats, ircd }),
    DATABASE_URL: postgres.url,
    API_KEYS: `ops:${key}`,
  };
  const start = (environment: Record<string, string>) => startApp(t, { ...shared, ...environment });
  const [port] = await Promise.all([freePort(), start({ ROLES: 'irc,projections,workers' })]);
  await start({ ROLES: 'services', PORT: String(port) });
  const services = `http://127.0.0.1:${port}`;
  const [near, far] = await Promise.all([
    start({ ROLES: 'api' }),
    start({ ROLES: 'api', CHANNELSERV_URL: `${services}/channelserv` }),
  ]);
  await untilKept(near.url);
  const channel = { name: '#closed', type: 'special', modes: '+ntk secret' };
  const created = await askOf(far.url, 'POST', '/channels', channel, keyed);
  t.match(created, { status: 201, body: { modes: '+ntk secret' } }, 'as it was asked for');
  t.equal((await askOf(near.url, 'PATCH', '/channels/closed', { modes: '+k other' }, keyed)).status, 200);

  for (const { url } of [near, far]) {
    const paths = ['/channels/closed', '/channels/closed/operations'];
    for (const path of ['/channels', ...paths])
      t.equal((await askOf(url, 'GET', path, undefined, { 'x-api-key': 'wrong' })).status, 401, path);
    for (const query of ['', '?private=true']) {
      const { channels, total } = (await askOf(url, 'GET', `/channels${query}`)).body;
      t.same([channels, total], [[], 0], 'not listed without a key');
      for (const path of paths) t.equal((await askOf(url, 'GET', path + query)).status, 404, path);
    }
    const ask = async (path: string) => (await askOf(url, 'GET', path, undefined, keyed)).body;
    t.match((await ask('/channels')).channels, [{ modes: '+ntk other' }]);
    t.equal((await ask('/channels/closed')).modes, '+ntk other');
    const { operations } = await ask('/channels/closed/operations');
    t.same(
      operations.map(({ details }: { details: string }) => details),
      ['+k other (by ops)', 'special +ntk secret (by ops)'],
    );
  }

  await t.test('IRC-15 a channel with a key is private', async (t) => {
    const { url } = near;
    const open = { name: '#open', type: 'special' };
    t.equal((await askOf(url, 'POST', '/channels', open, keyed)).status, 201);
    const listed = async (headers = {}): Promise<string[]> =>
      (await askOf(url, 'GET', '/irc/channels', undefined, headers)).body.map(
        ({ name }: { name: string }) => name,
      );
    await eventually('both to be recorded', async () => {
      const all = await listed(keyed);
      return all.includes('#open') && all.includes('#closed');
    });
    const public_ = await listed();
    t.ok(public_.includes('#open'));
    t.notOk(public_.includes('#closed'));
    t.equal((await askOf(url, 'GET', '/irc/channels/closed/messages')).status, 404);
    t.equal((await askOf(url, 'GET', '/irc/channels/closed/messages', undefined, keyed)).status, 200);
    t.equal((await askOf(url, 'GET', '/irc/stream?channel=closed')).status, 404);
    const { monitoredChannels } = (await askOf(url, 'GET', '/guardian/stats')).body;
    t.ok(monitoredChannels.includes('#open'));
    t.notOk(monitoredChannels.includes('#closed'));
    const asked = {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: {
        message: {
          kind: 'message',
          role: 'user',
          messageId: 'm1',
          parts: [{ kind: 'data', data: { skill: 'list-channels' } }],
        },
      },
    };
    const answer = JSON.stringify((await askOf(url, 'POST', '/a2a/v1', asked)).body);
    t.match(answer, /#open/);
    t.notMatch(answer, /#closed/);
  });
});

t.test('CHAN-29 without any configured keys a local caller sees those of channels', async (t) => {
  const { ask } = await channelStage(t);
  await ask('POST', '/channels', { name: '#closed', type: 'special', modes: '+ntk secret' });
  t.equal((await ask('GET', '/channels/closed')).body.modes, '+ntk secret');
  const proxied = await ask('GET', '/channels/closed', undefined, { 'x-forwarded-for': '192.0.2.7' });
  t.equal(proxied.status, 404);
});
