import { nanos } from 'nats';
import pino from 'pino';
import t, { type Test } from 'tap';
import { createSiweMessage, parseSiweMessage } from 'viem/siwe';
import { Codes, codeSec } from '../../src/oauth/codes.js';
import { Log } from '../../streams/core/index.js';
import { keysSubject, keys as stream } from '../../streams/keys/index.js';
import { newWallet } from '../auth/stage.js';
import { operator } from '../keys/stage.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { callback, oauthStage } from './stage.js';

const report = { title: 'A leaked key', severity: 'SEV-2' };

t.test('programs, people and those who would be them', async (t) => {
  const stage = await oauthStage(t);
  const other = await oauthStage(t, { PUBLIC_URL: stage.url }, stage.nats);
  const { ask, register, asked, page, yes, token, exchangeOf, proven, given, log, keyOf, url } = stage;
  const alice = await proven('alice');
  const withKey = (key: string) => ({ 'x-api-key': key });

  await t.test('OAUTH-02 what registers', async (t) => {
    const { status, body } = await register();
    t.match([status, body], [201, { redirect_uris: [callback], token_endpoint_auth_method: 'none' }]);
    t.equal((await register()).body.client_id, body.client_id, 'the same says the same');
    for (const address of [
      ...['https://app.example/cb?x=1', 'http://localhost/cb', 'http://[::1]:1/cb', 'cursor://a.b/cb'],
      ...['com.example.app://cb', 'vscode://vscode.example/cb'],
    ])
      t.equal((await register({ redirect_uris: [address] })).status, 201, address);
    for (const address of [
      ...[
        'javascript:alert(1)',
        'javascript://%0aalert(1)',
        'JavaScript://x/%0aalert(1)',
        'data:text/html,x',
      ],
      ...[
        'vbscript://x',
        'file:///etc/passwd',
        'blob:https://x/1',
        'http://evil.example/cb',
        'http://127.0.0.1.evil.example',
      ],
      ...[
        'https://a.example/#x',
        'https://u:p@a.example/',
        '/cb',
        'https:a.example',
        'https://a.example/\r\nx',
        '',
      ],
      ...[
        'about:blank',
        'view-source://x',
        'intent://x',
        'ms-msdt://x',
        'https://a.example\\@b.example/',
        'ftp://x/',
      ],
      `https://a.example/${'x'.repeat(600)}`,
    ])
      t.match(await register({ redirect_uris: [address] }), {
        status: 400,
        body: { error: 'invalid_redirect_uri', error_description: String },
      });
    t.match(await register({ redirect_uris: [] }), { status: 400, body: { error: 'invalid_redirect_uri' } });
    const many = Array.from({ length: 10 }, (_, n) => `https://a.example/${n}/${'x'.repeat(300)}`);
    t.match(await register({ redirect_uris: many }), {
      status: 400,
      body: { error: 'invalid_redirect_uri' },
    });
    for (const wrong of [{ redirect_uris: 'x' }, { redirect_uris: [1] }, { client_name: 1 }])
      t.match(await register(wrong), { status: 400, body: { error: 'invalid_client_metadata' } });
  });

  await t.test('OAUTH-02 a flood of registrations leaves nothing behind', async (t) => {
    const held = async () => {
      const streams = await log.manager.streams.list().next();
      return streams.map(({ config, state }) => `${config.name}: ${state.messages}`).sort();
    };
    const before = await held();
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, n) => register({ client_name: `flood ${n}` })),
    );
    t.ok(answers.every(({ status }) => status === 201));
    t.same(await held(), before);
  });

  await t.test('OAUTH-03 a request that is not right sends nobody anywhere', async (t) => {
    const id = (name: string, ...addresses: string[]) =>
      Buffer.from(JSON.stringify([name, ...addresses])).toString('base64url');
    const wrong: [Record<string, string | undefined>, RegExp, 'back' | 'lost'][] = [
      [{ client_id: undefined }, /client_id/, 'lost'],
      [{ client_id: 'nobody' }, /client_id/, 'lost'],
      [
        { client_id: id('x', 'javascript:alert(1)'), redirect_uri: 'javascript:alert(1)' },
        /client_id/,
        'lost',
      ],
      [{ client_id: id('a\nb', callback) }, /client_id/, 'lost'],
      [{ client_id: `${id('x', callback)}=` }, /client_id/, 'lost'],
      [{ redirect_uri: undefined }, /redirect_uri/, 'lost'],
      [{ redirect_uri: 'https://evil.example/callback' }, /redirect_uri/, 'lost'],
      [{ redirect_uri: 'http://127.0.0.1:4321/callback/../other' }, /redirect_uri/, 'lost'],
      [{ redirect_uri: 'http://localhost:4321/callback' }, /redirect_uri/, 'lost'],
      [{ redirect_uri: `${callback}?x=1` }, /redirect_uri/, 'lost'],
      [{ response_type: 'token' }, /response_type/, 'back'],
      [{ code_challenge_method: 'plain' }, /S256/, 'back'],
      [{ code_challenge_method: undefined }, /S256/, 'back'],
      [{ code_challenge: undefined }, /PKCE/, 'back'],
      [{ code_challenge: 'short' }, /PKCE/, 'back'],
      [{ resource: 'https://other.example/mcp' }, /resource/, 'back'],
      [{ state: 'x'.repeat(1_025) }, /state/, 'back'],
    ];
    for (const [more, says, where] of wrong) {
      const { request } = await asked(more);
      const { status, headers, shown } = await page(request);
      t.match([status, shown.error], [400, says], JSON.stringify(more));
      t.equal(headers.get('location'), null);
      const told = await ask('GET', `/oauth/authorize?${new URLSearchParams(request)}`);
      t.match(told, { status: 400, body: { code: /^(invalid|oauth)_/ } }, 'who is no browser');
      t.equal(shown.back === undefined ? 'lost' : 'back', where);
      const answer = await yes(request, { key: (await given('wanda', ['read'])).headers['x-api-key'] });
      t.equal(answer.status, 400, 'nor is anybody let in');
      for (const { id } of (await ask('GET', '/auth/keys?nick=wanda', undefined, operator)).body.keys)
        await ask('DELETE', `/auth/keys/${id}`, undefined, operator);
    }
    const { request } = await asked();
    const twice = `/oauth/authorize?${new URLSearchParams(request)}&client_id=x`;
    t.match((await page(twice)).shown, { error: /more than once/, back: undefined });
    const { shown } = await page((await asked({ response_type: 'token' })).request);
    t.match(Object.fromEntries(new URL(shown.back!).searchParams), {
      error: 'invalid_request',
      state: 'x 1&y',
      iss: url,
    });
    for (const redirect_uri of ['http://127.0.0.1/callback', 'http://127.0.0.1:1/callback'])
      t.equal(
        (await page((await asked({ redirect_uri })).request)).status,
        200,
        'any port of its own machine',
      );
    for (const resource of [`${url}/mcp`, `${url}/mcp/`, url, undefined])
      t.equal((await page((await asked({ resource })).request)).status, 200);
    t.same((await page((await asked({ scope: 'openid read profile' })).request)).shown.scopes, ['read']);
  });

  await t.test('OAUTH-04 the page holds what others say as text, and is held by nobody', async (t) => {
    const client_name = `</body><script>alert(1)</script>"'>{page}$&\u202e\u0000\n evil`;
    const { request } = await asked({ state: '"><script>alert(2)</script>' }, { client_name });
    const { html, headers, shown } = await page(request);
    t.equal(html.match(/<script>/g)?.length, 1, 'its own');
    t.notMatch(html, /alert/.source + String.raw`\([12]\)</script>`);
    t.equal(shown.client, `</body><script>alert(1)</script>"'>{page}$& evil`);
    const policy = headers.get('content-security-policy') ?? '';
    t.match(policy, /^default-src 'none'; script-src 'sha256-[^;]+'; style-src 'sha256-[^;]+'; /);
    t.match(policy, /frame-ancestors 'none'/);
    t.match(policy, /form-action 'none'/);
    t.equal(headers.get('x-frame-options'), 'DENY');
    t.equal(headers.get('cache-control'), 'no-store');
    t.equal(headers.get('referrer-policy'), 'no-referrer');
    const elsewhere = { origin: 'https://evil.example' };
    for (const path of ['/oauth/authorize', '/oauth/message'])
      t.match(await ask('POST', path, { request, scopes: ['read'] }, elsewhere), {
        status: 403,
        body: { code: 'other_origin' },
      });
  });

  await t.test('OAUTH-05 a signature is for one request, once', async (t) => {
    const { account } = alice;
    const { request } = await asked();
    const scopes = ['read', 'speak'];
    const signed = await stage.signedText(account, request, scopes);
    const fields = parseSiweMessage(signed.message);
    t.match(fields, {
      domain: new URL(url).host,
      uri: `${url}/oauth/authorize`,
      resources: [`${url}/mcp`],
      statement:
        /^Give Desktop \(not checked\), which is sent the answer at http:\/\/127\.0\.0\.1:4321, a key .*: read, speak\.$/,
    });
    const send = async (more: object) => await ask('POST', '/oauth/authorize', { request, scopes, ...more });
    const isRefused = async (what: string, more: object) =>
      t.match(await send(more), { status: 401, body: { code: 'sign_in_invalid' } }, what);
    const resigned = async (more: object) => {
      const message = createSiweMessage({ ...fields, ...more } as Parameters<typeof createSiweMessage>[0]);
      return { message, signature: await account.signMessage({ message }) };
    };
    await isRefused('for another domain', await resigned({ domain: 'evil.example' }));
    await isRefused('at another page', await resigned({ uri: 'https://evil.example/' }));
    await isRefused('for another resource', await resigned({ resources: ['https://evil.example/mcp'] }));
    await isRefused('with another text', await resigned({ statement: 'Hello' }));
    const minutes = (n: number) => new Date(fields.issuedAt!.getTime() + n * 60_000);
    await isRefused('too old', await resigned({ issuedAt: minutes(-6), expirationTime: minutes(-1) }));
    await isRefused('of the future', await resigned({ issuedAt: minutes(6), expirationTime: minutes(11) }));
    await isRefused('more scopes than were signed', { ...signed, scopes: ['read', 'speak', 'vote'] });
    await isRefused('other parts', { ...signed, request: (await asked()).request });
    await isRefused('of another state', { ...signed, request: { ...request, state: 'other' } });
    await isRefused('another program', {
      ...signed,
      request: (await asked({}, { client_name: 'Desktop 2' })).request,
    });
    const others = await newWallet().account.signMessage({ message: signed.message });
    for (const signature of [others, `0x${'00'.repeat(65)}`, '0x', 'x', `${signed.signature}00`])
      await isRefused('not of the wallet', { ...signed, signature });
    await isRefused('no text of ours', { ...signed, message: 'hello' });
    t.match(await send({}), { status: 401, body: { code: 'sign_in_missing' } });
    t.match(await send(await resigned({ nonce: 'ab'.repeat(24) })), {
      status: 401,
      body: { code: 'nonce_unknown' },
    });
    t.equal((await send(signed)).status, 200, 'none of it used the nonce up');
    t.match(await send(signed), { status: 401, body: { code: 'nonce_replayed' } });

    const stranger = newWallet();
    t.match(await yes(request, stranger.account), { status: 404, body: { code: 'nick_not_linked' } });
    await stage.registry.link('carl', stranger.account.address, true, { by: 'carl' });
    await eventually('the link to be read', async () => {
      return (await yes(request, stranger.account)).body.code === 'wallet_not_verified';
    });
  });

  await t.test('OAUTH-06 a code is for its program, once, in all processes', async (t) => {
    const one = await asked();
    const exchange = exchangeOf(one, await yes(one.request, alice.account));
    const wrong: [string, Record<string, string | undefined>, string][] = [
      ['another secret', { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
      ['the challenge itself', { code_verifier: one.request.code_challenge }, 'invalid_grant'],
      ['no secret', { code_verifier: undefined }, 'invalid_request'],
      [
        'another program',
        { client_id: (await register({ client_name: 'evil' })).body.client_id },
        'invalid_grant',
      ],
      ['no program', { client_id: undefined }, 'invalid_request'],
      ['an invented program', { client_id: 'x' }, 'invalid_client'],
      ['another address', { redirect_uri: 'http://127.0.0.1:9/callback' }, 'invalid_grant'],
      ['another resource', { resource: url }, 'invalid_target'],
      ['a foreign resource', { resource: 'https://evil.example' }, 'invalid_target'],
      ['an invented code', { code: 'x'.repeat(43) }, 'invalid_grant'],
      ['no code', { code: undefined }, 'invalid_request'],
      ['another kind', { grant_type: 'refresh_token' }, 'unsupported_grant_type'],
      ['no kind', { grant_type: undefined }, 'invalid_request'],
    ];
    for (const [what, more, error] of wrong) {
      const { status, body } = await token({ ...exchange, ...more });
      t.match([status, body], [400, { error, error_description: String }], what);
    }
    const fields = new URLSearchParams(JSON.parse(JSON.stringify(exchange)));
    t.match((await token(`${fields}&code=x`)).body, { error: 'invalid_request' }, 'a field twice');
    t.equal((await ask('POST', '/oauth/token', exchange)).status, 415, 'no form');

    const { status, body, headers } = await token(exchange);
    t.match([status, body], [200, { token_type: 'Bearer', scope: 'read' }]);
    t.equal(headers.get('cache-control'), 'no-store');
    const bearer = { authorization: `Bearer ${body.access_token}` };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    t.equal((await ask('POST', '/mcp', call, bearer)).status, 200);
    t.match(await token(exchange), { status: 400, body: { error: 'invalid_grant' } });
    t.match(await ask('POST', '/mcp', call, bearer), {
      status: 401,
      body: { error: { data: { reason: 'api_key_invalid' } } },
    });

    const inUse = async () =>
      (await ask('GET', '/auth/keys?nick=alice', undefined, operator)).body.keys.length;
    const before = await inUse();
    const two = await asked();
    const raced = exchangeOf(two, await yes(two.request, alice.account));
    const ends = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? stage : other).token(raced)),
    );
    const given = ends.filter((end) => end.status === 200);
    t.ok(given.length <= 1, 'one key at most');
    t.equal(ends.filter((end) => end.body.error === 'invalid_grant').length, 20 - given.length);
    // the other process may have ended it, and this one sees that a moment later
    await eventually('whoever got it to have it no more', async () => (await inUse()) === before);
  });

  await t.test('OAUTH-07 five keys, and one more', async (t) => {
    const bob = await proven('bob');
    const first = await keyOf(bob.account);
    for (let n = 0; n < 4; n++) await keyOf(bob.account, { client_name: `Program ${n}` });
    const { request } = await asked({}, { client_name: 'A sixth' });
    const full = await yes(request, bob.account);
    t.match(full, {
      status: 409,
      body: { code: 'too_many_keys', error: /bob has 5 keys in use: .*OAuth: Desktop/ },
    });
    const elsewhere = { redirect_uris: ['http://127.0.0.1:9999/other', callback] };
    await t.rejects(keyOf(bob.account, elsewhere), /too_many_keys/, 'other addresses are another program');
    const listed = async () => (await ask('GET', '/auth/keys?nick=bob', undefined, operator)).body.keys;
    const before = await listed();
    const second = await keyOf(bob.account);
    t.equal((await ask('POST', '/sentinel/incidents', report, withKey(first))).status, 401);
    t.match(await ask('POST', '/sentinel/incidents', report, withKey(second)), {
      body: { code: 'scope_missing' },
    });
    const after = await listed();
    t.same([before.length, after.length], [5, 5]);
    t.equal(after[0].name, 'OAuth: Desktop');
  });

  await t.test('OAUTH-08 a key that is shown', async (t) => {
    const { id, headers } = await given('erin', ['rate', 'report', 'operate'], { days: 3 });
    const key = headers['x-api-key'];
    const { request } = await asked();
    t.match(await yes(request, { key }, ['read', 'vote']), { status: 403, body: { code: 'scope_missing' } });
    const childs = await keyOf({ key }, {}, ['read', 'speak', 'rate', 'report', 'vote']);
    const { keys } = (await ask('GET', '/auth/keys?nick=erin', undefined, operator)).body;
    t.match(keys[0], { name: 'OAuth: Desktop', scopes: ['rate', 'report'], expires_at: keys[1].expires_at });
    t.match(await yes(request, { key: childs }, ['rate']), { status: 403, body: { code: 'key_of_a_key' } });
    t.match(await yes(request, { key: `${key.slice(0, -1)}_` }), {
      status: 401,
      body: { code: 'api_key_invalid' },
    });
    const facts = [];
    for await (const fact of log.subject(stream, keysSubject('erin'))) facts.push(JSON.stringify(fact));
    for (const secret of [key, childs]) t.notMatch(facts.join(), secret.slice(17), 'it is stored nowhere');
    const tried = () => ask('POST', '/sentinel/incidents', report, withKey(childs));
    t.equal((await tried()).status, 201);
    t.equal((await ask('DELETE', `/auth/keys/${id}`, undefined, operator)).status, 200);
    t.match(await tried(), { status: 401, body: { code: 'api_key_invalid' } });

    const two = await given('erin', ['rate']);
    const later = await asked();
    const answer = await yes(later.request, { key: two.headers['x-api-key'] }, ['rate']);
    await ask('DELETE', `/auth/keys/${two.id}`, undefined, operator);
    t.match(await token(exchangeOf(later, answer)), { status: 400, body: { error: 'invalid_grant' } });
  });

  await t.test('OAUTH-09 an operator’s key', async (t) => {
    const { request } = await asked();
    t.match(await yes(request, { key: operator['x-api-key'] }), {
      status: 403,
      body: { code: 'operators_key_not_taken' },
    });
  });
});

/** Codes on a log server, in a time of their own, and what somebody says yes to. */
async function codesStage(t: Test) {
  const nats = await startNats(t);
  const logger = pino({ level: 'silent' });
  const log = await Log.open({
    urls: nats.url,
    name: 'codes',
    streams: [],
    replicas: 1,
    maxBytes: 100_000_000,
    logger,
  });
  t.teardown(() => log.close());
  const time = { now: new Date('2026-01-01T00:00:00Z') };
  const codes = new Codes({ log, replicas: 1, now: () => time.now });
  const grant = {
    clientId: 'c',
    redirectUri: callback,
    challenge: 'x',
    resource: 'r',
    nick: 'alice',
    wallet: null,
    scopes: ['read' as const],
    keyEnds: '2026-02-01T00:00:00Z',
    by: 'alice',
    parent: undefined,
  };
  return { log, time, codes, grant };
}

t.test('OAUTH-06 a code is good for a minute', async (t) => {
  const { log, time, codes, grant } = await codesStage(t);
  const code = await codes.make(grant);
  time.now = new Date(time.now.getTime() + codeSec * 1_000 - 1);
  t.match(await codes.find(code), { is: 'good', grant: { nick: 'alice' } });
  time.now = new Date(time.now.getTime() + 1);
  t.same(await codes.find(code), { is: 'unknown' });
  const held = await log.manager.streams.getMessage('RELAY_OAUTH_CODES', { seq: 1 });
  t.notMatch(`${held.subject} ${new TextDecoder().decode(held.data)}`, code, 'it is kept as a hash');

  const gave = { nick: 'alice', id: 'k3mf7q2xa4bc' };
  const used = async () => {
    const one = await codes.make(grant);
    const found = await codes.find(one);
    t.ok(found.is === 'good' && (await found.use()));
    t.same(await codes.find(one), { is: 'used' });
    return one;
  };
  const early = await used();
  t.equal(await codes.again(early), undefined, 'brought again while its key is made');
  t.equal(await codes.note(early, gave), false, 'who makes it learns of it');
  const late = await used();
  t.equal(await codes.note(late, gave), true);
  t.same(await codes.again(late), gave, 'brought again later');
});

t.test('OAUTH-12 a nick has five codes at a time, and takes no room from others', async (t) => {
  const { log, codes, grant } = await codesStage(t);
  const kept = async (name: string) => (await log.manager.streams.info(name)).state.messages;
  const are = async (given: string[]) =>
    await Promise.all(given.map(async (code) => (await codes.find(code)).is));
  const bobs = await codes.make({ ...grant, nick: 'bob' });
  const given: string[] = [];
  for (let n = 0; n < 8; n++) given.push(await codes.make(grant));
  const newest = given.slice(-5);
  t.same(await are(given), [...Array(3).fill('unknown'), ...Array(5).fill('good')], 'the oldest gave way');
  t.same(await are([bobs]), ['good'], 'nobody else’s');
  t.equal(await kept('RELAY_OAUTH_CODES'), 6);

  for (const code of newest) {
    const found = await codes.find(code);
    t.ok(found.is === 'good' && (await found.use()));
  }
  t.equal(await kept('RELAY_OAUTH_CODES'), 1, 'a used one takes no place');
  const more = await Promise.all(Array.from({ length: 5 }, () => codes.make(grant)));
  t.same(await are([...newest, ...more]), [...Array(5).fill('used'), ...Array(5).fill('good')]);
  const { config } = await log.manager.streams.info('RELAY_OAUTH_CODES');
  t.equal(config.max_age, nanos(codeSec * 1_000), 'none is kept longer than it is good');
});

t.test('OAUTH-02 strangers are limited like everywhere', async (t) => {
  const { ask } = await oauthStage(t, { RATE_LIMIT: '3', TRUST_PROXY: '127.0.0.1' });
  const stranger = { 'x-forwarded-for': '203.0.113.9' };
  const register = () => ask('POST', '/oauth/register', { redirect_uris: [callback] }, stranger);
  const statuses = [];
  for (let n = 0; n < 4; n++) statuses.push((await register()).status);
  t.same(statuses, [201, 201, 201, 429]);
  t.match((await register()).body, { error: 'rate_limited', error_description: String });
});

t.test('OAUTH-10 switched off', async (t) => {
  const { ask, url } = await oauthStage(t, { OAUTH: 'false' });
  for (const path of ['/.well-known/oauth-authorization-server', '/oauth/authorize'])
    t.equal((await ask('GET', path)).status, 404, path);
  for (const path of ['/oauth/register', '/oauth/token', '/oauth/authorize', '/oauth/message'])
    t.equal((await ask('POST', path, {})).status, 404, path);
  for (const path of ['', '/mcp'])
    t.notOk(
      'authorization_servers' in (await ask('GET', `/.well-known/oauth-protected-resource${path}`)).body,
    );
  const refused = await ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
  t.match(refused.headers.get('www-authenticate'), `${url}/.well-known/oauth-protected-resource/mcp`);
  t.notMatch(await (await fetch(`${url}/auth.md`)).text(), '/oauth/');
});
