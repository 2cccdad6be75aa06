import t from 'tap';
import { feedbackSubject, reputation } from '../../streams/reputation/facts.js';
import { type Answer, askOf } from '../channels/stage.js';
import { openLog } from '../network/stage.js';
import { startApp } from '../support/app.js';
import { startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';
import { startPostgres } from '../support/sql.js';

const key = 'k'.repeat(40);

t.test('reputation, with the service in two processes and the routes in a third', async (t) => {
  const [nats, postgres] = await Promise.all([startNats(t), startPostgres(t)]);
  const shared = { NATS_URL: nats.url, DATABASE_URL: postgres.url, API_KEYS: `ops:${key}` };
  const service = async () => {
    const port = await freePort();
    const { stop } = await startApp(t, { ...shared, ROLES: 'services,projections', PORT: String(port) });
    return { url: `http://127.0.0.1:${port}/mrserv`, stop };
  };
  const [one, two] = await Promise.all([service(), service()]);
  const { url } = await startApp(t, { ...shared, ROLES: 'api', MRSERV_URL: one.url });
  const read = (path: string): Promise<Answer> => askOf(url, 'GET', path);
  const give = (fields: object, to = one.url) =>
    askOf(
      to,
      'POST',
      '/api/feedback',
      { nick: 'Bob', channel: '#lobby', rating: 4, from: 'ann', ...fields },
      { 'x-relay-actor': 'ops' },
    );

  t.test('REP-06 REP-07 before there is any', async (t) => {
    const nothing = { totalFeedback: 0, totalGiven: 0, firstFeedback: null, lastFeedback: null };
    const answer = await read('/reputation/Bob');
    t.same([answer.status, answer.body], [200, { nick: 'bob', avgScore: null, ...nothing }]);
    t.same((await read('/leaderboard/agents')).body, { agents: [] });
    t.same((await read('/leaderboard/channels')).body, { channels: [] });
    t.match(await askOf(one.url, 'GET', '/api/leaderboard/channels/lobby'), {
      status: 404,
      body: { code: 'not_found' },
    });
  });

  t.test('REP-01 REP-08 feedback is in what is read afterwards', async (t) => {
    const given = await give({ comment: ' well\u0002 done ' });
    t.same(
      [given.status, given.body],
      [201, { recorded: true, nick: 'Bob', channel: '#lobby', rating: 4, from: 'ann' }],
    );
    const { body } = await read('/reputation/BOB');
    t.match(body, { nick: 'bob', avgScore: 4, totalFeedback: 1, totalGiven: 0, firstFeedback: /Z$/ });
    t.equal(body.lastFeedback, body.firstFeedback);
    t.match((await read('/reputation/ann')).body, { avgScore: null, totalFeedback: 0, totalGiven: 1 });
    t.equal((await give({ rating: 2 })).status, 201);
    t.match((await read('/reputation/bob')).body, { avgScore: 2, totalFeedback: 1 }, 'it was replaced');
    t.equal((await give({ from: 'carol', channel: 'Lobby', rating: 5 })).status, 201);
    t.equal((await give({ from: 'bob', nick: 'carol', channel: '#other', rating: 1 })).status, 201);
    t.match((await read('/reputation/bob')).body, { avgScore: 3.5, totalFeedback: 2, totalGiven: 1 });
    t.same((await read('/leaderboard/agents')).body.agents, [
      { nick: 'bob', total_feedback: 2, avg_score: 3.5, score: 25 },
      { nick: 'carol', total_feedback: 1, avg_score: 1, score: 0 },
    ]);
    const lobby = { channel: '#lobby', total_feedback: 2, avg_score: 3.5, active_agents: 3, score: 25 };
    const other = { channel: '#other', total_feedback: 1, avg_score: 1, active_agents: 2, score: 0 };
    t.same((await read('/leaderboard/channels')).body.channels, [lobby, other]);
    t.same((await read('/leaderboard/channels?limit=1')).body.channels, [lobby]);
    for (const name of ['lobby', 'LOBBY', '%23lobby'])
      t.same((await askOf(one.url, 'GET', `/api/leaderboard/channels/${name}`)).body, lobby, name);
  });

  t.test('REP-02 REP-07 REP-08 what is refused', async (t) => {
    for (const limit of ['0', '51', 'x', '1.5'])
      for (const board of ['agents', 'channels'])
        t.match(await read(`/leaderboard/${board}?limit=${limit}`), {
          status: 400,
          body: { code: 'validation_failed', details: [{ path: 'limit' }] },
        });
    t.match(await read('/reputation/1bad'), { status: 400, body: { details: [{ path: 'nick' }] } });
    t.match(await give({ nick: 'ANN' }), { status: 400, body: { code: 'self_feedback' } });
    const wrong: [object, string][] = [
      [{ nick: 'a b' }, 'nick'],
      [{ from: '' }, 'from'],
      [{ channel: 'a,b' }, 'channel'],
      [{ rating: 0 }, 'rating'],
      [{ rating: 6 }, 'rating'],
      [{ rating: 4.5 }, 'rating'],
      [{ rating: '4' }, 'rating'],
      [{ comment: 'x'.repeat(501) }, 'comment'],
    ];
    for (const [fields, path] of wrong)
      t.match(await give(fields), { status: 400, body: { code: 'validation_failed', details: [{ path }] } });
    t.equal((await askOf(url, 'POST', '/reputation/bob', {})).status, 405, 'there is no public way to rate');
  });

  t.test('REP-09 told the same 200 times at once, in two processes', async (t) => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        give({ from: 'dave', nick: 'eve', channel: '#race', rating: 1 + (n % 5) }, [one, two][n % 2]!.url),
      ),
    );
    t.same([...new Set(answers.map(({ status }) => status))], [201]);
    await give({ from: 'dave', nick: 'eve', channel: '#race', rating: 3 });
    t.match((await read('/reputation/eve')).body, { avgScore: 3, totalFeedback: 1 });
    t.match((await read('/reputation/dave')).body, { totalGiven: 1 });
  });

  t.test('REP-08 the facts have what was said, and who asked', async (t) => {
    const log = await openLog(t, nats.url);
    const asked = { from: 'ann', nick: 'Bob', channel: '#lobby' };
    t.match(await log.last(reputation, feedbackSubject(asked)), {
      type: 'feedback.given',
      by: 'ops',
      data: { ...asked, rating: 2, comment: '' },
    });
  });

  t.test('REP-10 a service that is away', async (t) => {
    await one.stop();
    const answer = await read('/reputation/bob');
    t.equal(answer.status, 502);
    t.same(answer.body, { error: 'The mrserv service is unreachable', code: 'upstream_unreachable' });
  });
});
