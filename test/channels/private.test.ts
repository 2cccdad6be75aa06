import t from 'tap';
import { channelWithoutKey, operationWithoutKey } from '../../projections/channels/queries.js';
import { freePort } from '../../src/servers/net.js';
import { withoutKey } from '../../streams/channels/index.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { startPostgres } from '../support/sql.js';
import { askOf, channelStage, environmentOf, untilKept } from './stage.js';

const key = 'k'.repeat(40);
const keyed = { 'x-api-key': key };

t.test('CHAN-29 where the key of a channel stands in modes and in audit records', async (t) => {
  for (const [text, shown] of [
    ['+ntk secret', '+ntk *'],
    ['+lk 5 secret', '+lk 5 *'],
    ['+kl secret 5', '+kl * 5'],
    ['+n-k+k old new', '+n-k+k * *'],
    ['-k', '-k'],
    ['-l+k secret', '-l+k *'],
    ['+nt', '+nt'],
    ['+l 5', '+l 5'],
    ['', ''],
  ] as const)
    t.equal(withoutKey(text), shown, text);
  const record = { id: 1, channel: '#a', target_nick: null, created_at: '' };
  for (const [operation, details, shown] of [
    ['create', 'special +ntk secret (by ops)', 'special +ntk * (by ops)'],
    ['create', 'special +nt (by ops)', 'special +nt (by ops)'],
    ['samode', '+k secret (by ops)', '+k * (by ops)'],
    ['samode', '+kl (by 5 (by ops)', '+kl * 5 (by ops)'],
    ['samode', '-k (by ops)', '-k (by ops)'],
    ['samode', '+k secret (by a (by b)', '+k * (by a (by b)'],
    ['topic', '+k secret (by ops)', '+k secret (by ops)'],
  ] as const)
    t.equal(operationWithoutKey({ ...record, operation, details }).details, shown, details);
  t.match(channelWithoutKey({ name: '#a', modes: '+k secret' } as never), { name: '#a', modes: '+k *' });
});

t.test('CHAN-29 keys of channels are for those who may write, wherever the service runs', async (t) => {
  const [nats, ircd, postgres] = await Promise.all([startNats(t), startIrcd(t), startPostgres(t)]);
  const shared = {
    ...environmentOf({ nats, ircd }),
    ...{ DATABASE_URL: postgres.url, API_KEYS: `ops:${key}` },
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
    const reads = async (query = '', headers = {}) => {
      const ask = async (path: string) => (await askOf(url, 'GET', path + query, undefined, headers)).body;
      const operations = (await ask('/channels/closed/operations')).operations;
      return {
        listed: (await ask('/channels')).channels.map(({ modes }: { modes: string }) => modes),
        shown: (await ask('/channels/closed')).modes,
        done: operations.map(({ details }: { details: string }) => details),
      };
    };
    const hidden = {
      ...{ listed: ['+ntk *'], shown: '+ntk *' },
      done: ['+k * (by ops)', 'special +ntk * (by ops)'],
    };
    t.same(await reads(), hidden, 'without a key');
    t.same(await reads('?private=true'), hidden, 'nobody says it of himself');
    t.same(await reads('', keyed), {
      ...{ listed: ['+ntk other'], shown: '+ntk other' },
      done: ['+k other (by ops)', 'special +ntk secret (by ops)'],
    });
    for (const path of ['/channels', '/channels/closed', '/channels/closed/operations'])
      t.equal((await askOf(url, 'GET', path, undefined, { 'x-api-key': 'wrong' })).status, 401, path);
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
      ...{ jsonrpc: '2.0', id: 1, method: 'message/send' },
      params: {
        message: {
          ...{ kind: 'message', role: 'user', messageId: 'm1' },
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
  t.equal(proxied.body.modes, '+ntk *');
});
