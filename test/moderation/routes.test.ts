import { pino } from 'pino';
import t from 'tap';
import { ApiKeys } from '../../src/auth/api-keys.js';
import { operationRoutes } from '../../src/http/operations.js';
import { createServer } from '../../src/http/server.js';
import { moderationOperations } from '../../src/operations/moderation/index.js';
import type { Log } from '../../streams/core/index.js';
import {
  type Incident,
  type Level,
  levels,
  moderation,
  personOf,
  personSubject,
} from '../../streams/moderation/index.js';
import { askOf, environmentOf, operatorOn, untilKept } from '../channels/stage.js';
import { relay } from '../cli/terminal.js';
import { openLog } from '../network/stage.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { callElsewhere } from '../support/operations.js';
import { freePort } from '../support/ports.js';
import type { Teardown } from '../support/server-process.js';

const key = 'k'.repeat(32);
const keyed = { 'x-api-key': key };

/** Records an incident that nothing follows from. Answers its id. */
async function record(log: Log, nick: string, level: Level, fields: Partial<Incident> = {}): Promise<number> {
  const person = personOf({ nick, host: `u@${nick}.example` });
  const data = {
    ref: `line:${nick}-${Math.random()}`,
    person,
    nick,
    channel: '#lobby',
    said_at: new Date().toISOString(),
    score: 20 * (levels.indexOf(level) + 1),
    text_score: 50,
    level,
    patterns: 'override',
    text_hash: 'ab',
    action: 'none' as const,
    text: 'a text',
    ...fields,
  };
  const fact = { type: 'incident.recorded' as const, data };
  return (await log.append(moderation, personSubject(person), fact, { by: 'test' })).seq;
}

/** The public routes of a process whose moderation service is elsewhere. Answers their address. */
async function publicOf(t: Teardown, url: string): Promise<string> {
  const server = await createServer({ logger: pino({ level: 'silent' }), rateLimit: 0 });
  t.teardown(() => server.close());
  const call = callElsewhere({ guardian: url });
  const keys = new ApiKeys([{ name: 'ops', key }]);
  await server.register(operationRoutes, { operations: moderationOperations, call, keys });
  return await server.listen({ host: '127.0.0.1', port: 0 });
}

t.test('the moderation service', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const environment = { ...environmentOf({ nats, ircd }), API_KEYS: `ops:${key}` };
  const app = await startApp(t, { ...environment, GUARDIAN_IGNORE_CHANNELS: '#payments' });
  await untilKept(app.url);
  const log = await openLog(t, nats.url);
  const get = (path: string, headers = {}) => askOf(app.url, 'GET', path, undefined, headers);
  const post = (path: string, body?: unknown, headers = {}, url = app.url) =>
    askOf(url, 'POST', path, body, headers);
  const ids: number[] = [];
  for (const level of levels) ids.push(await record(log, 'mallory', level));
  const secret = await record(log, 'paul', 'WARN', { channel: '#task-1', ref: 'line:9-9' });
  await eventually(
    'what is recorded to be read',
    async () => (await get('/guardian/stats', keyed)).body.totalIncidents === 6,
  );

  await t.test('MOD-12 statistics', async (t) => {
    await eventually(
      'the recorder',
      async () => (await get('/guardian/stats')).body.monitoredChannels.length === 3,
    );
    t.match((await get('/guardian/stats')).body, {
      totalIncidents: 5,
      today: 5,
      byLevel: { WARN: 1 },
      topOffenders: [{ nick: 'mallory', incidents: 5 }],
    });
    const { status, body } = await get('/guardian/stats', keyed);
    t.equal(status, 200);
    t.match(body, {
      totalIncidents: 6,
      today: 6,
      byLevel: { LOG: 1, WARN: 2, MUTE: 1, KICK: 1, BAN: 1 },
      topOffenders: [
        { nick: 'mallory', incidents: 5 },
        { nick: 'paul', incidents: 1 },
      ],
      irc: { connected: true, oper: true, nick: 'channelserv' },
      monitoredChannels: ['#bounties', '#disputes', '#lobby'],
      uptime: Number,
    });
    const health = (await get('/health')).body.services.guardian;
    t.match(health, { status: 'ok' });
  });

  await t.test('MOD-12 incidents', async (t) => {
    const { status, body } = await get('/guardian/incidents');
    t.equal(status, 200);
    t.same(Object.keys(body), ['incidents']);
    t.same(
      body.incidents.map(({ id }: { id: number }) => id),
      [...ids].reverse(),
      'newest first, without private rooms',
    );
    t.same(Object.keys(body.incidents[0]).sort(), [
      ...['channel', 'created_at', 'id', 'level', 'nick', 'patterns', 'score'],
    ]);
    t.match(body.incidents[0], { nick: 'mallory', channel: '#lobby', score: 100, level: 'BAN' });
    t.equal((await get('/guardian/incidents?limit=2')).body.incidents.length, 2);
    t.equal((await get('/guardian/incidents?limit=200&private=true')).body.incidents.length, 5);
    t.equal((await get('/guardian/incidents', keyed)).body.incidents[0].id, secret, 'a key opens them');
    for (const limit of ['0', '201', 'x', '1.5']) {
      const refused = await get(`/guardian/incidents?limit=${limit}`);
      t.match(
        refused,
        { status: 400, body: { code: 'validation_failed', details: [{ path: 'limit' }] } },
        limit,
      );
    }
    for (const path of ['incidents', 'stats', 'reputation/ann'])
      t.match(await get(`/guardian/${path}`, { 'x-api-key': 'wrong' }), { status: 401 }, path);
  });

  await t.test('MOD-12 reputation', async (t) => {
    const { status, body } = await get('/guardian/reputation/MALLORY');
    t.equal(status, 200);
    t.match(body.reputation, {
      nick: 'mallory',
      incident_count: 5,
      warn_count: 1,
      mute_count: 1,
      kick_count: 1,
      ban_count: 1,
      last_incident_at: /^\d{4}-/,
    });
    t.equal(body.recentIncidents.length, 5);
    t.same((await get('/guardian/reputation/nobody')).body, { reputation: null, recentIncidents: [] });
    t.equal((await get('/guardian/reputation/paul')).body.recentIncidents.length, 0);
    t.equal((await get('/guardian/reputation/paul', keyed)).body.recentIncidents.length, 1);
    for (const nick of ['1bad', 'a%20b', 'x'.repeat(31)])
      t.match(
        await get(`/guardian/reputation/${nick}`),
        { status: 400, body: { code: 'validation_failed' } },
        nick,
      );
  });

  await t.test('MOD-20 operators see everything and pardon', async (t) => {
    t.equal((await get('/ops/incidents')).status, 401);
    t.equal((await post(`/ops/incidents/${ids[1]}/pardon`)).status, 401);
    const all = (await get('/ops/incidents', keyed)).body.incidents;
    t.match(all[0], { id: secret, text: 'a text', action: 'none', outcome: null, pardoned_at: null });
    const page = (await get(`/ops/incidents?limit=2&before=${ids[3]}`, keyed)).body.incidents;
    t.same(
      page.map(({ id }: { id: number }) => id),
      [ids[2], ids[1]],
    );
    for (const query of ['limit=0', 'limit=501', 'before=0', 'before=x'])
      t.equal((await get(`/ops/incidents?${query}`, keyed)).status, 400, query);
    for (const id of ['x', '0', '1.5'])
      t.equal((await post(`/ops/incidents/${id}/pardon`, {}, keyed)).status, 400, id);
    t.equal((await post(`/ops/incidents/${ids[0]}/pardon`, { reason: 'x'.repeat(301) }, keyed)).status, 400);
    t.match(await post('/ops/incidents/999999/pardon', {}, keyed), {
      status: 404,
      body: { code: 'not_found' },
    });

    const pardoned = await post(`/ops/incidents/${ids[1]}/pardon`, { reason: 'a quote' }, keyed);
    t.match(pardoned, { status: 200, body: { id: ids[1], nick: 'mallory', already: false } });
    t.match((await get('/guardian/reputation/mallory')).body.reputation, {
      incident_count: 4,
      warn_count: 0,
    });
    t.match(await post(`/ops/incidents/${ids[1]}/pardon`, undefined, keyed), { body: { already: true } });
    const seq = await log.head(moderation);
    t.match(await log.at(moderation, seq), {
      type: 'incident.pardoned',
      by: 'ops',
      data: { reason: 'a quote' },
    });
    t.equal((await post(`/ops/incidents/${seq}/pardon`, {}, keyed)).status, 404, 'a fact, but no incident');
    t.equal((await get('/guardian/stats', keyed)).body.totalIncidents, 6, 'what happened stays counted');
  });

  await t.test('MOD-20 two hundred pardons at once, over two services, are one', async (t) => {
    const second = await startApp(t, environment);
    const before = await log.head(moderation);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        post(`/ops/incidents/${ids[2]}/pardon`, {}, keyed, n % 2 ? app.url : second.url),
      ),
    );
    t.ok(answers.every(({ status }) => status === 200));
    t.equal(answers.filter(({ body }) => !body.already).length, 1);
    t.equal((await log.head(moderation)) - before, 1, 'one fact');
    t.match((await get('/guardian/reputation/mallory')).body.reputation, {
      incident_count: 3,
      mute_count: 0,
    });
  });

  await t.test('MOD-20 the command line lists and pardons', async (t) => {
    const env = { PORT: new URL(app.url).port, API_KEYS: `ops:${key}` };
    const listed = await relay(['incidents'], { env });
    t.equal(listed.code, 0);
    t.match(listed.out, /ID +WHEN +NICK +CHANNEL +LEVEL/);
    t.match(listed.out, new RegExp(`${ids[1]} .* mallory .* WARN .* pardoned`));
    const two = await relay(['incidents', 'list', '--limit', '2', '--json'], { env });
    t.equal(JSON.parse(two.out).incidents.length, 2);
    const pardon = await relay(['incidents', 'pardon', `${ids[3]}`, '--reason', 'a drill'], { env });
    t.match(pardon, { code: 0, out: `incident ${ids[3]} of mallory in #lobby is pardoned` });
    t.match(await relay(['incidents', 'pardon', `${ids[3]}`], { env }), {
      code: 0,
      out: /was pardoned before/,
    });
    t.match(await relay(['incidents', 'pardon', '999999'], { env }), { code: 1, err: /no incident 999999/ });
    t.match(await relay(['incidents', 'pardon', 'x'], { env }), { code: 2, err: /number of an incident/ });
    t.match(await relay(['incidents', 'pardon'], { env }), { code: 2 });
  });

  await t.test('MOD-21 the service in a process of its own, and one that is not there', async (t) => {
    const inside = await startApp(t, { ...environment, ROLES: 'services,projections' });
    const stats = await askOf(inside.url, 'GET', '/guardian/api/stats', undefined, {
      'x-relay-caller': 'key',
    });
    t.match(stats, {
      status: 200,
      body: {
        total_incidents: 6,
        today: 6,
        by_level: { log: 1, warning: 2, mute: 1, kick: 1, ban: 1 },
        top_offenders: [{ nick: 'mallory' }, { nick: 'paul' }],
        irc: { connected: true },
        uptime: Number,
      },
    });
    t.match((await askOf(inside.url, 'GET', '/guardian/api/reputation/mallory')).body, {
      reputation: { nick: 'mallory' },
      recent_incidents: Array,
    });
    const incidents = async (path: string, headers = {}) =>
      (await askOf(inside.url, 'GET', `/guardian/api/incidents${path}`, undefined, headers)).body.incidents;
    t.equal((await incidents('', { 'x-relay-caller': 'key' })).length, 6);
    t.equal((await incidents('?private=true')).length, 5, 'nobody says it of himself');
    t.match((await askOf(inside.url, 'GET', '/guardian/health')).body, { stats: { total_incidents: 5 } });
    const outside = await publicOf(t, `${inside.url}/guardian`);
    const through = (path: string, headers = {}) => askOf(outside, 'GET', path, undefined, headers);
    t.match((await through('/guardian/stats', keyed)).body, { totalIncidents: 6, byLevel: { WARN: 2 } });
    t.equal((await through('/guardian/incidents')).body.incidents.length, 5);
    t.equal((await through('/guardian/incidents', keyed)).body.incidents.length, 6);
    t.match(await through('/guardian/incidents?limit=0'), {
      status: 400,
      body: { code: 'validation_failed' },
    });
    t.match((await through('/guardian/reputation/mallory')).body, { recentIncidents: Array });
    const alone = await publicOf(t, `http://127.0.0.1:${await freePort()}`);
    for (const path of ['stats', 'incidents', 'reputation/ann'])
      t.match(await askOf(alone, 'GET', `/guardian/${path}`), {
        status: 502,
        body: { code: 'upstream_unreachable', error: /guardian/ },
      });
  });

  await t.test('MOD-53 who appeals does not learn which incidents there are in private', async (t) => {
    const keyOf = async (nick: string, scopes: string[]) => {
      const made = await post('/auth/keys', { nick, scopes }, keyed);
      t.equal(made.status, 201);
      return { 'x-api-key': made.body.key as string };
    };
    const marked = await record(log, 'mallory', 'WARN', { channel: '#gone', private: true });
    const closed = await record(log, 'mallory', 'WARN', { channel: '#Bounties' });
    const witness = await operatorOn(t, ircd);
    await witness.ask('SAMODE #bounties +s');
    await eventually('the channel to be private', async () => {
      return (await get('/irc/channels/bounties/messages')).status === 404;
    });
    const eve = await keyOf('eve', ['report']);
    const appeal = (id: number, headers: object, nick?: string) =>
      post(`/guardian/incidents/${id}/appeal`, { nick }, headers);
    const told = async (id: number) => JSON.stringify((await appeal(id, eve)).body).replaceAll(`${id}`, 'n');
    const nothing = await told(999999);
    for (const id of [secret, marked, closed]) {
      t.equal((await appeal(id, eve)).status, 404);
      t.equal(await told(id), nothing, 'as if there were none');
      t.match(await appeal(id, keyed, 'eve'), { status: 403, body: { code: 'not_your_incident' } });
    }
    t.match(await appeal(ids[4]!, eve), { status: 403, body: { code: 'not_your_incident' } });
    t.match(await appeal(secret, await keyOf('paul', ['report'])), {
      status: 409,
      body: { code: 'nothing_to_appeal' },
    });
    t.match(await appeal(secret, await keyOf('ann', ['report', 'operate'])), { status: 403 });

    const stranger = await observe(ircd.port, { nick: 'eve', password: ircd.serverPassword });
    t.teardown(() => stranger.stop());
    for (const [id, answer] of [
      [secret, `There is no incident ${secret}`],
      [marked, `There is no incident ${marked}`],
      [ids[4], 'The incident is not yours'],
    ] as const) {
      stranger.send(`PRIVMSG channelserv :APPEAL ${id}`);
      await stranger.waitUntil(() => stranger.lines.some(({ text }) => text === answer), answer);
    }
  });
});
