import t from 'tap';
import { identity, registrySubject } from '../../streams/identity/index.js';
import { agentSubject, agents } from '../../streams/verification/index.js';
import { askOf } from '../channels/stage.js';
import { openLog } from '../network/stage.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';
import { startPostgres } from '../support/sql.js';
import { oembedAnswer, postHtml, startNetwork } from './oembed.js';

const email = 'scout@agents.example';

t.test('the verification of agents in two processes and behind a third', async (t) => {
  const [nats, postgres, network] = await Promise.all([startNats(t), startPostgres(t), startNetwork(t)]);
  const shared = {
    NATS_URL: nats.url,
    DATABASE_URL: postgres.url,
    SOCIAL_OEMBED_URL: network.url,
    API_KEYS: `ops:${'k'.repeat(40)}`,
    TRUST_PROXY: '127.0.0.1',
  };
  const port = await freePort();
  const services = await startApp(t, { ...shared, ROLES: 'services,projections', PORT: String(port) });
  const proxy = await startApp(t, {
    ...shared,
    ROLES: 'api',
    VERIFICATION_URL: `http://127.0.0.1:${port}/verification`,
  });
  const { url } = await startApp(t, { ...shared, ROLES: 'api,projections' });
  const ask = (method: string, path: string, body?: unknown, at = url) =>
    askOf(at, method, `/verification${path}`, body);
  const challenge = (nickname: string, socialHandle: string, at = url) =>
    ask('POST', '/challenge', { nickname, socialHandle }, at);
  const verify = (nickname: string, socialHandle: string, tweetUrl: string, at = url) =>
    ask('POST', '/verify', { nickname, socialHandle, tweetUrl, email }, at);
  const textFor = async (nickname: string, handle: string) =>
    (await challenge(nickname, handle)).body.verificationText as string;

  await t.test('AGENT-01 AGENT-05 AGENT-08 AGENT-11 from a challenge to an agent', async (t) => {
    t.same((await ask('GET', '/agents')).body, { count: 0, agents: [] });
    const given = await challenge('Scout[1]', '@Scout_One');
    t.equal(given.status, 200);
    const { verificationText, instructions, ...rest } = given.body;
    t.same(rest, { success: true, expiresIn: '30 minutes' });
    t.match(verificationText, /^svc:verify:Scout\[1\]:[0-9a-f]{8}$/);
    t.ok(instructions.includes(verificationText) && instructions.includes('@Scout_One'));
    t.equal((await ask('GET', '/agent/Scout%5B1%5D')).status, 404);
    const post = network.post('scout_one', `I am here: ${verificationText} & ready <3`);
    const verified = await verify('scout{1}', 'SCOUT_ONE', `${post.replace('twitter', 'x')}?s=20`, proxy.url);
    t.equal(verified.status, 200);
    const { agent } = verified.body;
    t.same(verified.body, {
      success: true,
      agent: {
        nickname: 'scout{1}',
        socialHandle: 'SCOUT_ONE',
        registered: true,
        verified: true,
        postUrl: post,
        registeredAt: agent.registeredAt,
      },
    });
    t.ok(Math.abs(Date.parse(agent.registeredAt) - Date.now()) < 60_000);
    for (const at of [proxy.url, url])
      t.same((await ask('GET', '/agent/SCOUT%5B1%5D', undefined, at)).body, agent);
    t.same((await ask('GET', '/agents', undefined, proxy.url)).body, { count: 1, agents: [agent] });
    const [asked, ...more] = network.asked;
    t.equal(more.length, 0);
    t.same(Object.fromEntries(asked!.searchParams), {
      a: 'b',
      url: post,
      omit_script: 'true',
      hide_thread: 'true',
      hide_media: 'true',
      dnt: 'true',
    });
    const log = await openLog(t, nats.url);
    t.match(await log.last(agents, agentSubject('scout[1]')), { type: 'agent.registered', data: { email } });
  });

  await t.test('AGENT-02 AGENT-04 a nickname that is taken, and what is not pending', async (t) => {
    const taken = { status: 409, body: { code: 'nickname_taken' } };
    for (const nickname of ['Scout[1]', 'SCOUT{1}'])
      for (const at of [url, proxy.url]) t.match(await challenge(nickname, 'other', at), taken, nickname);
    const address = 'https://x.com/nobody/status/1';
    t.match(await verify('nobody', 'nobody', address), {
      status: 404,
      body: { code: 'no_pending_verification' },
    });
    t.match(await verify('Scout[1]', 'Scout_One', 'https://x.com/Scout_One/status/1'), { status: 404 });
    const [ann, bob] = await Promise.all([textFor('rival', 'ann'), textFor('rival', 'bob')]);
    t.not(ann, bob);
    t.equal(await textFor('RIVAL', 'Ann'), ann, 'it stays');
    t.equal((await verify('rival', 'bob', network.post('bob', bob))).status, 200);
    t.match(await verify('rival', 'ann', network.post('ann', ann)), taken, 'overtaken');
  });

  await t.test('AGENT-05 what is no proof', async (t) => {
    const text = await textFor('proof', 'ann');
    const failed = (code: string) => ({ status: 400, body: { code } });
    const other = network.post('mallory', text);
    t.match(await verify('proof', 'ann', other), failed('verification_failed'), 'of another author');
    // the address names ann, the post is of somebody else
    const lie = network.post('ann', text);
    network.misbehave = (_, response) =>
      response.end(JSON.stringify(oembedAnswer(lie, 'mallory', postHtml(lie, 'ann', text))));
    t.match(await verify('proof', 'ann', lie), failed('verification_failed'));
    const answerWith = (html: string, fields: object = {}) => {
      network.misbehave = (_, response) =>
        response.end(JSON.stringify({ ...oembedAnswer(lie, 'ann', html), ...fields }));
    };
    answerWith(postHtml(lie, 'ann', text), { author_url: 'https://evil.example/ann' });
    t.match(await verify('proof', 'ann', lie), failed('verification_failed'), 'an author of another network');
    for (const html of [
      `<p>${text.slice(0, -1)}</p>`,
      `<p title="${text}">nothing</p>`,
      `<!-- ${text} -->`,
      `<script>${text}</script>`,
      `<p>${text.toUpperCase()}</p>`,
      '',
    ]) {
      answerWith(html);
      t.match(await verify('proof', 'ann', lie), failed('verification_failed'), html);
    }
    network.misbehave = undefined;
    const gone = 'https://x.com/ann/status/5';
    t.match(await verify('proof', 'ann', gone), failed('post_not_found'));
    t.equal((await verify('proof', 'ann', lie)).status, 200, 'the challenge is still good');
  });

  await t.test('AGENT-06 AGENT-07 AGENT-08 what is refused without asking anybody', async (t) => {
    await textFor('strict', 'ann');
    const before = network.asked.length;
    const good = {
      nickname: 'strict',
      socialHandle: 'ann',
      tweetUrl: 'https://x.com/ann/status/1',
      email,
    };
    const wrong: [object, string, string?][] = [
      [{ nickname: '1st' }, 'nickname'],
      [{ nickname: undefined }, 'nickname'],
      [{ socialHandle: 'no handle' }, 'socialHandle'],
      [{ socialHandle: 'a'.repeat(16) }, 'socialHandle'],
      [{ email: 'nobody' }, 'email'],
      [{ email: undefined }, 'email'],
      [{ tweetUrl: undefined }, 'tweetUrl'],
      [{ tweetUrl: 'x.com/ann/status/1' }, 'tweetUrl', 'post_url_invalid'],
      [{ tweetUrl: 'https://evil.example/ann/status/1' }, 'tweetUrl', 'post_url_invalid'],
      [{ tweetUrl: 'http://x.com/ann/status/1' }, 'tweetUrl', 'post_url_invalid'],
      [{ tweetUrl: 'https://127.0.0.1/ann/status/1' }, 'tweetUrl', 'post_url_invalid'],
    ];
    for (const [fields, path, code = 'validation_failed'] of wrong) {
      const answer = await ask('POST', '/verify', { ...good, ...fields });
      t.match(answer, { status: 400, body: { code, details: [{ path }] } }, JSON.stringify(fields));
    }
    t.match(
      await verify('unasked', 'ann', 'https://evil.example/ann/status/1'),
      { status: 404, body: { code: 'no_pending_verification' } },
      'what is missing is said first',
    );
    t.match(await verify('strict', 'ann', 'https://x.com/bob/status/1'), {
      status: 400,
      body: { code: 'verification_failed' },
    });
    for (const fields of [{ nickname: 'a b' }, { socialHandle: '' }, { socialHandle: '@@ann' }])
      t.equal((await ask('POST', '/challenge', { ...good, ...fields })).status, 400);
    t.equal((await ask('GET', '/agent/a%20b')).status, 400);
    t.match(await ask('GET', '/agent/nobody'), { status: 404, body: { error: 'Agent not found' } });
    for (const query of ['limit=0', 'limit=501', 'offset=-1'])
      t.equal((await ask('GET', `/agents?${query}`)).status, 400, query);
    t.equal(network.asked.length, before, 'the network was not asked');
  });

  await t.test('AGENT-08 AGENT-09 an endpoint that cannot tell', async (t) => {
    const text = await textFor('patient', 'ann');
    const post = network.post('ann', text);
    let elsewhere = 0;
    const trap = await startNetwork(t);
    trap.misbehave = (_, response) => {
      elsewhere += 1;
      response.end(JSON.stringify(oembedAnswer(post, 'ann', postHtml(post, 'ann', text))));
    };
    const behaviours: Record<string, NonNullable<typeof network.misbehave>> = {
      redirect: (_, response) => response.writeHead(302, { location: trap.url }).end(),
      'permanent redirect': (_, response) => response.writeHead(308, { location: trap.url }).end('{}'),
      failure: (_, response) => response.writeHead(500).end(),
      'too many requests': (_, response) => response.writeHead(429).end(),
      'no JSON': (_, response) => response.end(`<p>${text}</p>`),
      'no post': (_, response) => response.end('{"author_url":7}'),
      huge: (_, response) =>
        response.end(
          JSON.stringify(oembedAnswer(post, 'ann', postHtml(post, 'ann', text) + 'x'.repeat(70_000))),
        ),
      endless: (_, response) => {
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(1_000)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      },
      broken: (_, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{');
        response.destroy();
      },
      silent: () => undefined,
    };
    for (const [name, misbehave] of Object.entries(behaviours)) {
      network.misbehave = misbehave;
      const answer = await verify('patient', 'ann', post);
      t.match(
        answer,
        { status: 502, body: { code: 'social_unreachable', error: /^The social network / } },
        name,
      );
      t.equal(answer.headers.get('retry-after'), '5');
    }
    t.equal(elsewhere, 0, 'nobody else was asked');
    network.misbehave = undefined;
    t.equal((await verify('patient', 'ann', post)).status, 200);
  });

  await t.test('AGENT-16 60 others ask at once for the handle of somebody', async (t) => {
    const from = (address: string, nickname: string, handle: string) =>
      askOf(
        url,
        'POST',
        '/verification/challenge',
        { nickname, socialHandle: handle },
        {
          'x-forwarded-for': address,
        },
      );
    const places: [string, (n: number) => string][] = [
      ['one_network', (n) => `2001:db8:1:2::${n.toString(16)}`],
      ['many_hosts', (n) => `198.51.100.${n}`],
    ];
    // a network that was first has few places, and takes none of somebody who comes later
    for (let n = 1; n <= 25; n++) await from(places[0]![1](n), `early${n}`, 'one_network');
    for (const [handle, place] of places) {
      const { verificationText } = (await from('192.0.2.1', 'holder', handle)).body;
      const others = await Promise.all(
        Array.from({ length: 60 }, (_, n) => from(place(n + 1), `other${n}`, handle)),
      );
      t.same(
        others.filter(({ status }) => status !== 200).map(({ status, body }) => [status, body]),
        [],
        handle,
      );
      t.equal((await from('192.0.2.1', 'holder', handle)).body.verificationText, verificationText, handle);
    }
    const host = (n: number) => `203.0.113.${n}`;
    for (let n = 1; n <= 45; n++) await from(host(n), `early${n}`, 'taken_before');
    const late = (await from('192.0.2.1', 'holder', 'taken_before')).body.verificationText;
    for (let n = 46; n < 65; n++) await from(host(n), `later${n}`, 'taken_before');
    t.equal((await from('192.0.2.1', 'holder', 'taken_before')).body.verificationText, late, 'who came late');
    const [first] = places;
    const last = [1, 2, 3].map((n) => from(first![1](n), 'again', first![0]));
    t.equal(new Set((await Promise.all(last)).map(({ body }) => body.verificationText)).size, 1);
  });

  await t.test('AGENT-12 200 verifications of one nickname at once, in two processes', async (t) => {
    const rivals = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const handle = `rival${n}`;
        const asked = { nickname: 'crown', socialHandle: handle };
        const from = { 'x-forwarded-for': `203.0.113.${n}` };
        const answer = await askOf([url, proxy.url][n % 2]!, 'POST', '/verification/challenge', asked, from);
        t.equal(answer.status, 200);
        return { handle, post: network.post(handle, answer.body.verificationText) };
      }),
    );
    const answers = await Promise.all(
      rivals.map(({ handle, post }, n) => verify('crown', handle, post, [url, proxy.url][(n >> 1) % 2])),
    );
    const statuses = answers.map(({ status }) => status).sort();
    t.same([...new Set(statuses)], [200, 409]);
    t.equal(statuses.filter((status) => status === 200).length, 1);
    const { agent } = answers.find(({ status }) => status === 200)!.body;
    t.same((await ask('GET', '/agent/crown', undefined, proxy.url)).body, agent);
    const log = await openLog(t, nats.url);
    const told = [];
    for await (const fact of log.subject(agents, agentSubject('crown'))) told.push(fact.type);
    t.equal(told.filter((type) => type === 'agent.registered').length, 1);
  });

  await t.test('AGENT-17 nicknames that are others', async (t) => {
    const reserved = { status: 409, body: { code: 'nickname_reserved' } };
    for (const nickname of [
      'em-bot',
      'EM-Bot',
      'relay',
      'channelserv',
      'mrserv',
      'NickServ',
      'chanserv',
      're1ay',
      'em-b0t',
      'Embot_',
    ])
      for (const at of [url, proxy.url]) t.match(await challenge(nickname, 'ann', at), reserved, nickname);
    const log = await openLog(t, nats.url);
    const early = await textFor('carol', 'mallory');
    const link = (nick: string, identified: boolean) => {
      const wallet_address = `0x${String(nick.length).repeat(40)}`;
      const data = { nick, wallet_address, identified };
      return log.append(identity, registrySubject, { type: 'identity.linked', data }, { by: 'test' });
    };
    await link('carol', true);
    await link('somebodyx', false);
    for (const at of [`${url}/identity`, `${services.url}/mrserv/api/identity`])
      await eventually('the links to be known', async () => {
        return (await askOf(at, 'GET', '/by-nick/somebodyx')).status === 200;
      });
    for (const at of [url, proxy.url])
      t.match(await challenge('Carol', 'mallory', at), reserved, 'who was identified when it was linked');
    t.match(await verify('carol', 'mallory', network.post('mallory', early)), reserved);
    t.equal(
      (await challenge('somebodyx', 'ann')).status,
      200,
      'what anybody may say of a nick takes nothing',
    );
  });

  await t.test('AGENT-16 what nobody has proven is no fact, and no address asks for ever', async (t) => {
    const log = await openLog(t, nats.url);
    const { state } = await log.manager.streams.info(agents.name);
    t.equal(state.messages, 5, 'the registered agents');
    const { config } = await log.manager.streams.info('RELAY_REGISTRATIONS');
    t.equal(config.max_age, 60 * 60 * 1e9);
    const answers = [];
    for (let n = 0; n < 160; n++) answers.push(await challenge(`flood${n}`, `flood${n}`, proxy.url));
    const refused = answers.find(({ status }) => status !== 200);
    t.match(refused, { status: 429, body: { code: 'rate_limited', error: /30 minutes/ } });
    t.ok(Number(refused!.headers.get('retry-after')) > 0);
    t.equal((await challenge('flood', 'flood')).status, 429, 'another process has counted them too');
    t.ok(answers.filter(({ status }) => status === 200).length <= 150);
  });

  await t.test('AGENT-11 pages of agents, without any address', async (t) => {
    const all = await ask('GET', '/agents');
    t.equal(all.body.count, 5);
    t.same(
      all.body.agents.map(({ nickname }: { nickname: string }) => nickname),
      ['crown', 'patient', 'proof', 'rival', 'scout{1}'],
    );
    const page = (query: string) => ask('GET', `/agents?${query}`);
    t.same((await page('limit=2&offset=1')).body, { count: 5, agents: all.body.agents.slice(1, 3) });
    t.same((await page('offset=9')).body, { count: 5, agents: [] });
    t.notMatch(JSON.stringify(all.body), /example|email/);
  });

  await t.test('AGENT-14 AGENT-15 health, and a service that is away', async (t) => {
    const { services: health } = (await askOf(proxy.url, 'GET', '/health')).body;
    t.match(health.verification, { status: 'ok', agents: 5, uptime: Number, latencyMs: Number });
    await services.stop();
    const answer = await ask('GET', '/agents', undefined, proxy.url);
    const away = { error: 'The verification service is unreachable', code: 'upstream_unreachable' };
    t.same([answer.status, answer.body], [502, away]);
    await eventually('health to say so', async () => {
      const { body } = await askOf(proxy.url, 'GET', '/health');
      return body.services.verification.status === 'unreachable';
    });
  });
});
