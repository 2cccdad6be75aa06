import pino from 'pino';
import t from 'tap';
import { openSql } from '../../projections/core/open-sql.js';
import { toolsOf } from '../../src/mcp/tools.js';
import type { Call } from '../../src/operations/core/call.js';
import { reputationOperations } from '../../src/operations/reputation/index.js';
import { channelDecider, channels } from '../../streams/channels/index.js';
import { irc, ircSubject } from '../../streams/network/index.js';
import { askOf } from '../channels/stage.js';
import { openLog } from '../network/stage.js';
import { channelsFile, paidChannel } from '../payments/stage.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { callElsewhere } from '../support/operations.js';
import { freePort } from '../support/ports.js';
import { startPostgres } from '../support/sql.js';

const key = 'k'.repeat(40);
const keyed = { 'x-api-key': key };
/** Channels as they were seen, with their modes. */
const rooms = { '#open': 'nt', '#secret': 'nst', '#closed[1]': 'kn', '#invited': 'in' } as const;
/** Those that the public is not told about, as leaderboards spell them. */
const hidden = ['#alpha', '#closed{1}', '#invited', '#managed', '#secret'];

t.test('REP-12 private and paid channels are in no leaderboard of the public', async (t) => {
  const [nats, postgres] = await Promise.all([startNats(t), startPostgres(t)]);
  const shared = { NATS_URL: nats.url, DATABASE_URL: postgres.url, API_KEYS: `ops:${key}` };
  const port = await freePort();
  await startApp(t, {
    ...shared,
    ROLES: 'services,projections',
    PORT: String(port),
    PAID_CHANNELS: await channelsFile(t, [paidChannel({ name: '#alpha' })]),
  });
  const mrserv = `http://127.0.0.1:${port}/mrserv`;
  const { url } = await startApp(t, { ...shared, ROLES: 'api', MRSERV_URL: mrserv });
  const log = await openLog(t, nats.url);
  const sql = await openSql({
    databaseUrl: postgres.url,
    directory: '',
    logger: pino({ level: 'silent' }),
  });
  t.teardown(() => sql.close());
  const by = { by: 'test' };
  const snapshot = async (channel: string, modes: string) => {
    const seen = [{ is: 'snapshot' as const, at: Date.now(), members: ['ann'], modes, topic: '' }];
    const data = { channel, lines_before: 0, seen };
    await log.append(irc, ircSubject(channel), { type: 'channel.observed', data }, by);
  };
  for (const [channel, modes] of Object.entries(rooms)) await snapshot(channel, modes);
  const gone = { is: 'left' as const, at: Date.now(), reason: 'parted' };
  const left = { channel: '#invited', lines_before: 0, seen: [gone] };
  await log.append(irc, ircSubject('#invited'), { type: 'channel.observed', data: left }, by);
  const creation = { type: 'task' as const, topic: '', metadata: {}, invite_list: [] };
  const command = { ...creation, is: 'create' as const, cause: 'request' as const };
  await log.handle(channels, channelDecider, { ...command, name: '#managed', modes: '+int' }, by);
  await log.handle(channels, channelDecider, { is: 'delete', name: '#managed', cause: 'request' }, by);
  for (const [index, channel] of [...hidden, '#open', '#unknown'].entries()) {
    const body = { nick: `bob${index}`, channel, rating: 5, from: 'ann' };
    t.equal((await askOf(mrserv, 'POST', '/api/feedback', body)).status, 201, channel);
  }
  const board = async (query = '', headers = {}): Promise<string[]> =>
    (await askOf(url, 'GET', `/leaderboard/channels${query}`, undefined, headers)).body.channels.map(
      ({ channel }: { channel: string }) => channel,
    );
  await eventually('what is private to be known', async () => (await board()).length === 2);

  await t.test('REP-12 over HTTP', async (t) => {
    t.same(await board(), ['#open', '#unknown']);
    t.same(await board('?private=true&limit=50'), ['#open', '#unknown'], 'nobody says it of himself');
    t.same(await board('?limit=1'), ['#open'], 'those left out take no place');
    t.same(await board('', keyed), [...hidden, '#open', '#unknown'].sort());
    const wrong = await askOf(url, 'GET', '/leaderboard/channels', undefined, { 'x-api-key': 'wrong' });
    t.equal(wrong.status, 401);
  });

  await t.test('REP-12 what was said in private stays so when the channel is opened', async (t) => {
    const rated = { nick: 'zoe', channel: '#secret', from: 'ann' };
    await askOf(mrserv, 'POST', '/api/feedback', { ...rated, rating: 5, comment: 'WHISPERED' });
    const listed = async (headers = {}) =>
      (await askOf(url, 'GET', '/reputation/zoe/feedback', undefined, headers)).body.feedback;
    await snapshot('#secret', 'nt');
    const openly = { ...rated, from: 'carl', rating: 2, comment: 'aloud' };
    await eventually('the channel to be known as open', async () => {
      await askOf(mrserv, 'POST', '/api/feedback', openly);
      // given while it still counted as private, it is not shown: said again, it is
      openly.rating = 5 - openly.rating;
      return (await listed()).some((one: { comment: string | null }) => one.comment === 'aloud');
    });
    const [, before] = await listed();
    t.match(before, { from: 'ann', rating: 5, channel: null, comment: null });
    t.match((await listed(keyed))[1], { channel: '#secret', comment: 'WHISPERED' });
    const standing = async (headers = {}) =>
      (await askOf(url, 'GET', '/leaderboard/channels', undefined, headers)).body.channels.find(
        ({ channel }: { channel: string }) => channel === '#secret',
      );
    t.match(await standing(), { total_feedback: 1, active_agents: 2 }, 'nor does it count');
    t.match(await standing(keyed), { total_feedback: 3, active_agents: 4 });
    await snapshot('#secret', 'nst');
    await eventually('it to be closed again', async () => (await standing()) === undefined);
  });

  await t.test('REP-12 through tools and the agent', async (t) => {
    const parts: { call?: Call } = {};
    parts.call = callElsewhere({ mrserv }, { parts });
    const tools = toolsOf(reputationOperations, parts.call);
    const call = async (name: string, args: object, is: 'key' | 'wallet') =>
      JSON.stringify(await tools.find((tool) => tool.name === name)!.run(args, { is, actor: 'x' }));
    const listed = (is: 'key' | 'wallet') => call('svc_get_leaderboard', { type: 'channels', limit: 50 }, is);
    const score = (channel: string, is: 'key' | 'wallet') => call('svc_get_channel_score', { channel }, is);
    for (const channel of hidden) {
      t.notMatch(await listed('wallet'), `"${channel}"`, channel);
      t.match(await listed('key'), `"${channel}"`, channel);
      const name = channel.slice(1);
      await t.rejects(score(name, 'wallet'), { message: /No feedback/ }, channel);
      t.match(await score(name, 'key'), /"total_feedback":[13]/, channel);
    }
    t.match(await score('open', 'wallet'), '"total_feedback":1');
    const asked = {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: {
        message: {
          kind: 'message',
          role: 'user',
          messageId: 'm1',
          parts: [{ kind: 'data', data: { skill: 'channel-leaderboard' } }],
        },
      },
    };
    const answer = JSON.stringify((await askOf(url, 'POST', '/a2a/v1', asked)).body);
    t.match(answer, /#open/);
    for (const channel of hidden) t.notMatch(answer, `"${channel}"`, channel);
  });

  const early = { nick: 'ted', channel: '#task-early', rating: 5, from: 'ann', comment: 'UNASSIGNED' };
  t.equal((await askOf(mrserv, 'POST', '/api/feedback', early)).status, 201);
  t.match(
    await askOf(url, 'GET', '/reputation/ted/feedback'),
    { body: { feedback: [{ channel: null, comment: null, rating: 5 }] } },
    'in the room of a task that is not there yet',
  );
});
