import t from 'tap';
import { channelSubject, channels } from '../../../streams/channels/index.js';
import { operationFailed } from '../../../workers/channels/index.js';
import { asker, creation, openLog } from '../../channels/keeper.js';
import { askOf } from '../../channels/stage.js';
import { postEvent, sampleEvent, startApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { observe } from '../../support/irc-observer.js';
import { startNats } from '../../support/nats.js';
import { ngircdOper, startNgircd, withoutNgircd } from '../../support/ngircd.js';

const key = 'd'.repeat(40);

t.test('NET-07 on a server that cannot force channels', { skip: withoutNgircd }, async (t) => {
  const [nats, server] = await Promise.all([startNats(t), startNgircd(t)]);
  const app = await startApp(t, {
    NATS_URL: nats.url,
    IRC_URL: server.url,
    IRC_OPER_NAME: ngircdOper.name,
    IRC_OPER_PASSWORD: ngircdOper.password,
    API_KEYS: `ops:${key}`,
  });
  const slowest = { ms: 0, path: '' };
  const ask = async (method: string, path: string, body?: unknown) => {
    const started = performance.now();
    const answer = await askOf(app.url, method, path, body, { 'x-api-key': key });
    const ms = Math.round(performance.now() - started);
    if (ms > slowest.ms) Object.assign(slowest, { ms, path });
    return answer;
  };
  const reader = await observe(server.port, { nick: 'reader', tags: false });
  t.teardown(() => reader.stop());
  await reader.join('#bounties', '#task-a1b2c3d4');
  // a room from the days when the network was another
  const log = await openLog(t, nats.url);
  const { cause, ...old } = creation('#task-old', { topic: 'Old' });
  const fact = { type: 'channel.created' as const, data: { ...old, cause } };
  await log.append(channels, channelSubject('#task-old'), fact, asker);

  await t.test('health tells what it is, and the others are well', async (t) => {
    const health = await eventually('the bots to be there', async () => {
      const { body } = await ask('GET', '/health');
      const { bridge, channelserv } = body.services;
      return bridge.status === 'ok' && /force/.test(channelserv.reason) && body;
    });
    const { channelserv } = health.services;
    t.match(channelserv, { status: 'degraded', irc: { connected: true, oper: true, nick: 'channelserv' } });
    t.match(channelserv.reason, /^channelserv: the IRC server has no commands to force/);
  });

  await t.test('commands are refused at once, and leave nothing behind', async (t) => {
    const body = { name: '#task-none', type: 'task', modes: '+nt', topic: 'None' };
    t.match(await ask('POST', '/channels', body), { status: 503, body: { code: 'irc_unavailable' } });
    t.equal((await ask('GET', '/channels/task-none')).status, 404);
    t.match(await ask('GET', '/channels'), { status: 200, body: { total: 1 } });
    t.equal((await ask('GET', '/channels/stats')).status, 200);
    for (const [method, body] of [
      ['PATCH', { topic: 'New' }],
      ['DELETE', { reason: 'Over' }],
      ['DELETE', { immediate: true }],
    ] as const)
      t.match(await ask(method, '/channels/task-old', body), {
        status: 503,
        body: { error: 'IRC not connected or bot not operator', code: 'irc_unavailable' },
      });
    t.match(await ask('GET', '/channels/task-old'), { body: { topic: 'Old', archived_at: null } });
    const members = { action: 'voice', nicks: ['reader', 'nobody'] };
    t.match(await ask('POST', '/channels/task-old/members', members), {
      status: 200,
      body: { successful: [], failed: { reader: operationFailed, nobody: operationFailed } },
    });
    t.equal((await ask('POST', '/channels/task-none/members', members)).status, 404);
  });

  await t.test(
    'lines are delivered and recorded, also of tasks that have no room of their own',
    async (t) => {
      // such servers let clients wait for seconds that join some channels at once
      await eventually('the recorder to be there', async () =>
        (await ask('GET', '/irc/channels')).body.some(({ name }: { name: string }) => name === '#bounties'),
      );
      const payload = { id: 'a1b2c3d4-0000', worker_nick: 'reader', reason: 'cut short' };
      for (const type of ['task.assigned', 'task.rejected', 'task.completed', 'task.expired'])
        t.equal((await postEvent(app.url, sampleEvent(type, { event_type: type, payload }))).status, 202);
      await eventually('the queue to be empty', async () => {
        const { body } = await ask('GET', '/hooks/em/stats');
        return body.pending === 0 && body.delivered_today === 4;
      });
      t.equal(reader.texts('#bounties').length, 3, 'assigned, completed, expired');
      t.equal(reader.texts('#task-a1b2c3d4').length, 3, 'assigned, rejected, completed');
      const messages = await eventually('the lines to be recorded', async () => {
        const { body } = await ask('GET', '/irc/channels/bounties/messages');
        return body.length === 3 && body;
      });
      t.same(
        messages.map(({ text }: { text: string }) => text),
        reader.texts('#bounties'),
      );
    },
  );
  t.comment(`the slowest answer was ${slowest.path} after ${slowest.ms} ms`);
});
