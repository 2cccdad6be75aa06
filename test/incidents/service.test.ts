import t from 'tap';
import { incidentSubject, incidents } from '../../streams/incidents/index.js';
import { askOf } from '../channels/stage.js';
import { openLog } from '../network/stage.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';
import { startPostgres } from '../support/sql.js';

const key = 'k'.repeat(40);
const withKey = { 'x-api-key': key };

t.test('the security consensus in three processes', async (t) => {
  const [nats, postgres] = await Promise.all([startNats(t), startPostgres(t)]);
  const shared = { NATS_URL: nats.url, DATABASE_URL: postgres.url, API_KEYS: `ops:${key}` };
  const port = await freePort();
  const services = await startApp(t, { ...shared, ROLES: 'services,projections', PORT: String(port) });
  const proxy = await startApp(t, {
    ...shared,
    ROLES: 'api',
    SENTINEL_URL: `http://127.0.0.1:${port}/sentinel`,
  });
  const { url } = await startApp(t, { ...shared, ROLES: 'api,projections' });
  const ask = (method: string, path: string, body?: unknown, at = url) =>
    askOf(at, method, `/sentinel${path}`, body, withKey);
  const report = async (fields: object = {}, at = url) =>
    await ask('POST', '/incidents', { title: 'Leaked key', severity: 'SEV-1', ...fields }, at);
  const vote = (id: string, voterNick: string, score: number, fields: object = {}, at = url) =>
    ask('POST', `/incidents/${id}/vote`, { voterNick, score, ...fields }, at);

  await t.test('SENTINEL-09 before there is any', async (t) => {
    t.same((await ask('GET', '/stats')).body, {
      incidents: 0,
      by_status: { pending: 0, validated: 0, disputed: 0, false_positive: 0 },
      by_severity: { 'SEV-1': 0, 'SEV-2': 0, 'SEV-3': 0, 'SEV-4': 0 },
      votes: 0,
      contributions: 0,
      subscribers: 0,
    });
    t.same((await ask('GET', '/incidents')).body, { incidents: [], total: 0 });
    t.same((await ask('GET', '/contributions/Ann')).body, { nick: 'ann', total: 0, contributions: [] });
  });

  await t.test('SENTINEL-01 SENTINEL-06 SENTINEL-10 a report', async (t) => {
    const fields = {
      title: ' Prompt injection in titles ',
      severity: 'SEV-2',
      category: 'injection',
      affected: ['#bounties'],
      description: 'Titles speak to agents.',
      fixes: ['withhold them'],
      sourcePosts: ['post 7'],
      advisoryUrls: ['https://advisories.example/1'],
    };
    const created = await report({ ...fields, reporterNick: 'Ann' });
    t.equal(created.status, 201);
    const { id, created_at, ...rest } = created.body;
    t.match(id, /^inc-[a-z0-9]{8}$/);
    t.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000);
    t.same(rest, {
      ...fields,
      title: 'Prompt injection in titles',
      reporter: 'Ann',
      status: 'pending',
      votes: 0,
      average_score: null,
      threshold_met: false,
    });
    const shown = await ask('GET', `/incidents/${id}`);
    const consensus = {
      incident_id: id,
      status: 'pending',
      votes: 0,
      average_score: null,
      threshold_met: false,
      threshold: { min_votes: 3, validate: 70, reject: 30 },
      distribution: { reject: 0, between: 0, validate: 0 },
    };
    t.same([shown.status, shown.body], [200, { ...created.body, consensus, contributions: [] }]);
    t.match((await report()).body, {
      reporter: 'ops',
      category: null,
      description: null,
      affected: [],
      fixes: [],
      sourcePosts: [],
      advisoryUrls: [],
    });
    const log = await openLog(t, nats.url);
    t.match(await log.last(incidents, incidentSubject(id)), { by: 'ops', data: { id, reporter: 'Ann' } });
  });

  await t.test('SENTINEL-01 SENTINEL-05 SENTINEL-10 what is refused', async (t) => {
    const wrong: [object, string][] = [
      [{ title: undefined }, 'title'],
      [{ title: ' ' }, 'title'],
      [{ title: 'x'.repeat(201) }, 'title'],
      [{ severity: 'SEV-5' }, 'severity'],
      [{ affected: 'all' }, 'affected'],
      [{ affected: [7] }, 'affected.0'],
      [{ advisoryUrls: ['javascript:alert(1)'] }, 'advisoryUrls.0'],
      [{ reporterNick: 'a b' }, 'reporterNick'],
    ];
    for (const [fields, path] of wrong)
      t.match(await report(fields), {
        status: 400,
        body: { code: 'validation_failed', details: [{ path }] },
      });
    const { id } = (await report()).body;
    const votes: [object, string][] = [
      [{ voterNick: undefined }, 'voterNick'],
      [{ voterNick: '7up' }, 'voterNick'],
      [{ score: -1 }, 'score'],
      [{ score: 101 }, 'score'],
      [{ score: 50.5 }, 'score'],
      [{ score: '50' }, 'score'],
      [{ contributionType: 'opinion' }, 'contributionType'],
      [{ evidenceUrl: 'file:///etc/passwd' }, 'evidenceUrl'],
      [{ comment: 'x'.repeat(2_001) }, 'comment'],
    ];
    for (const [fields, path] of votes)
      t.match(await vote(id, 'bob', 50, fields), { status: 400, body: { details: [{ path }] } }, path);
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'status=open', 'severity=1'])
      t.equal((await ask('GET', `/incidents?${query}`)).status, 400, query);
    t.equal((await ask('GET', '/contributions/a,b')).status, 400);
    const notFound = { status: 404, body: { error: 'Incident not found', code: 'not_found' } };
    for (const unknown of ['inc-zzzzzzzz', 'nothing', 'inc-%3e']) {
      t.match(await ask('GET', `/incidents/${unknown}`), notFound, unknown);
      t.match(await ask('GET', `/incidents/${unknown}/consensus`), notFound, unknown);
      t.match(await vote(unknown, 'bob', 50), notFound, unknown);
    }
    for (const headers of [{}, { 'x-api-key': 'wrong' }]) {
      t.equal((await askOf(url, 'POST', '/sentinel/incidents', {}, headers)).status, 401);
      t.equal((await askOf(url, 'POST', `/sentinel/incidents/${id}/vote`, {}, headers)).status, 401);
    }
    t.equal((await askOf(url, 'GET', '/sentinel/incidents')).status, 200, 'reads are open');
  });

  await t.test('SENTINEL-02 SENTINEL-04 SENTINEL-07 SENTINEL-08 SENTINEL-13 to a consensus', async (t) => {
    const { id } = (await report({ title: 'Consensus' }, proxy.url)).body;
    const first = await vote(id, 'Bob', 100, { evidenceUrl: 'https://paste.example/1' }, proxy.url);
    t.match(
      [first.status, first.body],
      [200, { recorded: true, consensus: { status: 'pending', votes: 1 } }],
    );
    t.match(await vote(id, 'BOB', 100), { status: 409, body: { code: 'already_voted' } }, 'in any process');
    t.match((await vote(id, 'carol', 80, { contributionType: 'fix', comment: 'done' })).body, {
      consensus: { status: 'pending', votes: 2, average_score: 90, threshold_met: false },
    });
    const third = (await vote(id, 'dave', 69, {}, proxy.url)).body.consensus;
    t.same(third, {
      incident_id: id,
      status: 'validated',
      votes: 3,
      average_score: 83,
      threshold_met: true,
      threshold: { min_votes: 3, validate: 70, reject: 30 },
      distribution: { reject: 0, between: 1, validate: 2 },
    });
    t.same((await ask('GET', `/incidents/${id}/consensus`, undefined, proxy.url)).body, third);
    const fourth = (await vote(id, 'eve', 0)).body.consensus;
    t.match(fourth, { status: 'disputed', votes: 4, average_score: 62.25 });
    const { body } = await ask('GET', `/incidents/${id}`);
    t.match(body, { status: 'disputed', votes: 4, average_score: 62.25, consensus: fourth });
    t.same(
      body.contributions.map((one: Record<string, unknown>) => [one.nick, one.score, one.contributionType]),
      [
        ['eve', 0, 'confirmation'],
        ['dave', 69, 'confirmation'],
        ['carol', 80, 'fix'],
        ['Bob', 100, 'confirmation'],
      ],
    );
    t.match((await ask('GET', '/contributions/BOB')).body, {
      nick: 'bob',
      total: 1,
      contributions: [
        {
          incident: { id, title: 'Consensus', severity: 'SEV-1', status: 'disputed' },
          score: 100,
          contributionType: 'confirmation',
          comment: null,
          evidenceUrl: 'https://paste.example/1',
          created_at: /Z$/,
        },
      ],
    });
    const listed = (await ask('GET', '/incidents?status=disputed&severity=SEV-1')).body;
    t.match(listed, { total: 1, incidents: [{ id, status: 'disputed' }] });
    const all = (await ask('GET', '/incidents?limit=2')).body;
    t.same([all.total, all.incidents.length, all.incidents[0].id], [4, 2, id], 'newest first');
  });

  await t.test('SENTINEL-11 200 votes at once, in two processes', async (t) => {
    const { id } = (await report({ title: 'Race' })).body;
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        vote(id, `racer${n % 100}`, 70, {}, [url, proxy.url][(n % 3) & 1]),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    t.equal(statuses.filter((status) => status === 200).length, 100);
    t.equal(statuses.filter((status) => status === 409).length, 100);
    // a read waits two seconds for what its own process wrote, and not for ever
    const counted = await eventually('all votes to be counted', async () => {
      const { body } = await ask('GET', `/incidents/${id}/consensus`);
      return body.votes >= 100 && body;
    });
    t.match(counted, {
      status: 'validated',
      votes: 100,
      average_score: 70,
      distribution: { reject: 0, between: 0, validate: 100 },
    });
    const log = await openLog(t, nats.url);
    const told = [];
    for await (const { type, data } of log.subject(incidents, incidentSubject(id)))
      if (type === 'vote.cast') told.push(data);
    t.equal(new Set(told.map(({ voter }) => voter)).size, 100);
    t.same(
      told.map(({ status }) => status),
      told.map((_, n) => (n < 2 ? 'pending' : 'validated')),
      'each fact has the status after it',
    );
    t.match((await ask('GET', '/stats')).body, {
      incidents: 5,
      votes: 104,
      contributions: 104,
      subscribers: 106,
      by_status: { pending: 3, validated: 1, disputed: 1 },
      by_severity: { 'SEV-1': 4, 'SEV-2': 1 },
    });
  });

  await t.test('SENTINEL-13 SENTINEL-14 health, and a service that is away', async (t) => {
    const { services: health } = (await askOf(proxy.url, 'GET', '/health')).body;
    t.match(health.sentinel, { status: 'ok', incidents: 5, votes: 104, uptime: Number, latencyMs: Number });
    await services.stop();
    const away = { error: 'The sentinel service is unreachable', code: 'upstream_unreachable' };
    const answer = await ask('GET', '/stats', undefined, proxy.url);
    t.same([answer.status, answer.body], [502, away]);
    await eventually('health to say so', async () => {
      const { body } = await askOf(proxy.url, 'GET', '/health');
      return body.services.sentinel.status === 'unreachable';
    });
  });
});
