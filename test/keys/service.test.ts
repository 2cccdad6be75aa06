import t from 'tap';
import { incidentSubject, incidents } from '../../streams/incidents/index.js';
import { keysSubject, keys as stream } from '../../streams/keys/index.js';
import { newWallet } from '../auth/stage.js';
import { relay } from '../cli/terminal.js';
import { eventually } from '../support/eventually.js';
import { keysStage, operator, operatorKey } from './stage.js';

t.test('keys of agents in a running service', async (t) => {
  const stage = await keysStage(t);
  const other = await keysStage(t, {}, stage.nats);
  const { ask, signed, proven, given, log, tool } = stage;
  const report = { title: 'A leaked key', severity: 'SEV-2' };
  const withKey = (key: string) => ({ 'x-api-key': key });

  await t.test('KEY-04 a verified wallet gets keys of its own', async (t) => {
    const wallet = await proven('alice');
    const made = await signed(wallet, 'POST', '/auth/keys', { scopes: ['report', 'vote'], name: 'worker' });
    t.match(made, {
      status: 201,
      body: {
        nick: 'alice',
        scopes: ['report', 'vote'],
        name: 'worker',
        key: /^rak_[a-z2-9]{12}_[\w-]{43}$/,
      },
    });
    t.equal(made.headers.get('cache-control'), 'no-store');
    const { id, key, created_at, expires_at } = made.body;
    const days = (Date.parse(expires_at) - Date.parse(created_at)) / 86_400_000;
    t.ok(Math.abs(days - 90) < 0.01, `${days} days`);
    const facts = [];
    for await (const fact of log.subject(stream, keysSubject('alice'))) facts.push(JSON.stringify(fact));
    t.equal(facts.length, 1);
    t.notMatch(facts.join(), key.slice(17), 'it is stored nowhere');

    const listed = await signed(wallet, 'GET', '/auth/keys');
    t.match(listed, { status: 200, body: { keys: [{ id, nick: 'alice', scopes: ['report', 'vote'] }] } });
    t.notMatch(JSON.stringify(listed.body), key.slice(17));
    const created = await ask('POST', '/sentinel/incidents', report, withKey(key));
    t.match(created, { status: 201, body: { reporter: 'alice' } }, 'left out it is oneself');
    for await (const { by } of log.subject(incidents, incidentSubject(created.body.id)))
      t.equal(by, `agent:alice:${id}`);

    for (let n = 2; n <= 5; n++) t.equal((await signed(wallet, 'POST', '/auth/keys', {})).status, 201);
    t.match(await signed(wallet, 'POST', '/auth/keys', {}), { status: 409, body: { code: 'too_many_keys' } });
    t.match(await signed(wallet, 'POST', '/auth/keys', { nick: 'bob' }), {
      status: 403,
      body: { code: 'not_your_nick' },
    });
    for (const scope of ['tasks', 'deliberate', 'channels', 'operate'])
      t.match(await signed(wallet, 'POST', '/auth/keys', { scopes: [scope] }), {
        status: 403,
        body: { code: 'scope_of_operators' },
      });
    t.match(await signed(newWallet(), 'POST', '/auth/keys', {}), { status: 404 });
    t.match(await ask('POST', '/auth/keys', {}), { status: 401, body: { code: 'api_key_required' } });
    t.match(await ask('POST', '/auth/keys', {}, operator), { status: 400 }, 'an operator says for whom');
    t.match(await ask('GET', '/auth/keys', undefined, withKey(key)), {
      status: 403,
      body: { code: 'scope_missing' },
    });
    const bobs = await proven('bob');
    t.same((await signed(bobs, 'GET', '/auth/keys')).body, { keys: [] }, 'nobody sees those of others');
    t.match(await signed(bobs, 'DELETE', `/auth/keys/${id}`), { status: 404 });
    t.match(await signed(wallet, 'DELETE', `/auth/keys/${id}`), { status: 200, body: { revoked: true, id } });
    t.match(await ask('POST', '/sentinel/incidents', report, withKey(key)), {
      status: 401,
      body: { code: 'api_key_invalid' },
    });
    t.match(await signed(wallet, 'DELETE', `/auth/keys/${id}`), { status: 404 });
  });

  await t.test('KEY-12 a nick gets so many keys an hour', async (t) => {
    const wallet = await proven('zoe');
    const get = () => signed(wallet, 'POST', '/auth/keys', {});
    for (let n = 0; n < 20; n++) {
      const { status, body } = await get();
      t.equal(status, 201);
      t.equal((await signed(wallet, 'DELETE', `/auth/keys/${body.id}`)).status, 200);
    }
    t.match(await get(), { status: 429, body: { code: 'rate_limited' } });
    await given('zoe', ['read']);
  });

  await t.test(
    'KEY-04 a wallet that is not verified, or whose link the nick does not stand behind',
    async (t) => {
      const [carl, dora] = [newWallet(), newWallet()];
      await stage.registry.link('carl', carl.account.address, true, { by: 'carl' });
      await stage.registry.link('dora', dora.account.address, false, { by: 'ops' });
      t.equal((await stage.verify('dora', dora.account)).status, 200);
      for (const wallet of [carl, dora])
        t.match(await signed(wallet, 'POST', '/auth/keys', {}), {
          status: 403,
          body: { code: 'wallet_not_verified' },
        });
    },
  );

  await t.test(
    'KEY-02 KEY-09 an agent key acts as its own nick, and reaches nothing of operators',
    async (t) => {
      const { headers } = await given('erin', ['read', 'rate', 'report', 'vote']);
      t.match(await ask('POST', '/sentinel/incidents', { ...report, reporterNick: 'Erin' }, headers), {
        status: 201,
        body: { reporter: 'Erin' },
      });
      t.match(await ask('POST', '/sentinel/incidents', { ...report, reporterNick: 'fay' }, headers), {
        status: 403,
        body: { code: 'not_your_nick' },
      });
      for (const [method, path] of [
        ['POST', '/ops/projections/prune'],
        ['GET', '/ops/dead-letters'],
        ['GET', '/ops/audit'],
        ['GET', '/metrics'],
        ['POST', '/identity/link'],
        ['POST', '/em/tasks'],
        ['POST', '/channels'],
        ['POST', '/multibrain/query'],
      ] as const) {
        const answer = await ask(method, path, method === 'POST' ? {} : undefined, headers);
        t.match(answer, { status: 403, body: { code: 'scope_missing', error: /not good for \w+/ } }, path);
      }
      const feedback = { nick: 'fay', channel: '#lobby', rating: 5, from_nick: 'gus' };
      t.match(await tool('svc_give_feedback', feedback, headers), {
        result: { isError: true, content: [{ text: /You act here as erin/ }] },
      });
      t.match(await tool('svc_em_create_task', {}, headers), {
        result: { isError: true, content: [{ text: /not good for tasks/ }] },
      });
    },
  );

  await t.test('KEY-13 a key that an agent key gets ends with it', async (t) => {
    const { id, headers } = await given('nora', ['operate', 'report'], { days: 2 });
    const apart = await given('nora', ['report']);
    const get = (body: object, by: Record<string, string>) => ask('POST', '/auth/keys', body, by);
    const tried = async (by: Record<string, string>) =>
      (await ask('POST', '/sentinel/incidents', report, by)).status;
    const daysOf = ({ created_at, expires_at }: { created_at: string; expires_at: string }) =>
      Math.round((10 * (Date.parse(expires_at) - Date.parse(created_at))) / 86_400_000) / 10;

    const made = await get({ scopes: ['operate', 'report'], days: 365 }, headers);
    t.match(made, { status: 201, body: { nick: 'nora', scopes: ['report', 'operate'] } });
    t.equal(daysOf(made.body), 2, 'no longer than the key that it was got with');
    t.equal(daysOf((await get({ scopes: ['report'], days: 1 }, headers)).body), 1);
    const childs = withKey(made.body.key);
    t.equal(await tried(childs), 201);
    t.match(await get({ scopes: ['report'] }, childs), { status: 403, body: { code: 'key_of_a_key' } });
    t.match(await get({ scopes: ['rate'] }, headers), { status: 403, body: { code: 'scope_of_operators' } });
    t.match(await get({ nick: 'otto', scopes: ['report'] }, headers), {
      status: 403,
      body: { code: 'not_your_nick' },
    });

    t.equal((await ask('DELETE', `/auth/keys/${id}`, undefined, operator)).status, 200);
    t.equal(await tried(childs), 401);
    t.equal(await tried(apart.headers), 201, 'an operator has made it');
    const { keys } = (await ask('GET', '/auth/keys?nick=nora', undefined, operator)).body;
    t.match(keys, [{ id: apart.id }]);
    t.equal(keys.length, 1);
  });

  await t.test('KEY-06 a revocation ends a key in every process', async (t) => {
    const { id, headers } = await given('hal', ['report']);
    await eventually('the key to be known elsewhere', async () => {
      return (await other.ask('POST', '/sentinel/incidents', report, headers)).status === 201;
    });
    t.match(await ask('DELETE', `/auth/keys/${id}`, undefined, operator), { status: 200 });
    t.equal((await ask('POST', '/sentinel/incidents', report, headers)).status, 401);
    await eventually('the key to be revoked elsewhere', async () => {
      return (await other.ask('POST', '/sentinel/incidents', report, headers)).status === 401;
    });
  });

  await t.test('KEY-07 a key goes with the link of its nick', async (t) => {
    const wallet = await proven('ivy');
    const { key } = (await signed(wallet, 'POST', '/auth/keys', {})).body;
    const tryIt = async () => await ask('POST', '/sentinel/incidents', report, withKey(key));
    t.equal((await tryIt()).status, 201);
    t.equal((await signed(wallet, 'DELETE', '/identity/link/ivy')).status, 200);
    await eventually('the key to be void', async () => (await tryIt()).body.code === 'api_key_void');
    await proven('ivy');
    t.match(await tryIt(), { status: 401, body: { code: 'api_key_void' } }, 'of another wallet');
    const { headers } = await given('jane', ['report']);
    t.equal((await ask('POST', '/sentinel/incidents', report, headers)).status, 201, 'without any wallet');
    await proven('jane');
    await eventually('the key of an unproven nick to be void', async () => {
      return (await ask('POST', '/sentinel/incidents', report, headers)).body.code === 'api_key_void';
    });
  });

  await t.test('KEY-05 on the command line', async (t) => {
    const asked = ['keys', 'new', 'worker', '--nick', 'Mona', '--scopes', 'rate,report', '--days', '7'];
    const made = await relay([...asked, '--url', stage.app.url, '--key', operatorKey]);
    t.equal(made.code, 0, made.err);
    t.match(made.out, /^rak_[a-z2-9]{12}_[\w-]{43}$/);
    t.match(await ask('GET', '/auth/keys?nick=mona', undefined, operator), {
      body: { keys: [{ nick: 'mona', name: 'worker', scopes: ['rate', 'report'], wallet: null }] },
    });
    t.equal((await ask('POST', '/sentinel/incidents', report, withKey(made.out))).status, 201);
    t.match(await relay(['keys', 'new', '--scopes', 'rate']), { code: 2, err: /--nick/ });
    for (const nick of ['channe1serv', 'ChanServ', 're1ay'])
      t.match(
        await ask('POST', '/auth/keys', { nick }, operator),
        { status: 409, body: { code: 'nickname_reserved' } },
        nick,
      );
    const wrong = ['keys', 'new', '--nick', 'mona', '--scopes', 'fly', '--url', stage.app.url];
    t.match(await relay([...wrong, '--key', operatorKey]), { code: 1, err: /scopes/ });
    const at = ['--url', stage.app.url, '--key', operatorKey];
    const listed = await relay(['keys', 'list', '--nick', 'mona', ...at]);
    const [, id = ''] = made.out.split('_');
    t.match(listed, { code: 0, out: new RegExp(`${id} +mona +worker +rate,report `) });
    t.match(JSON.parse((await relay(['keys', 'list', '--json', ...at])).out).keys[0], { id, nick: 'mona' });
    t.notMatch(listed.out, made.out, 'without the key itself');
    t.match(await relay(['keys', 'revoke', id, ...at]), { code: 0, out: `key ${id} is revoked` });
    const after = await ask('POST', '/sentinel/incidents', report, withKey(made.out));
    t.match(after, { status: 401, body: { code: 'api_key_invalid' } });
    t.match(await relay(['keys', 'revoke', id, ...at]), { code: 1, err: /no such key/ });
    t.match(await relay(['keys', 'revoke', '../x', ...at]), { code: 2, err: /id of an agent key/ });
    t.match(await relay(['keys', 'list', '--nick', 'mona', ...at]), { code: 0, out: 'none' });
  });

  await t.test('KEY-03 what a key is told of tools', async (t) => {
    const { headers } = await given('kim', ['rate', 'report']);
    const { body } = await ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
    t.same(
      body.result.tools.map(({ name }: { name: string }) => name),
      ['svc_give_feedback', 'svc_security_report'],
    );
    const wrong = { 'x-api-key': `rak_${'a'.repeat(12)}_${'b'.repeat(43)}` };
    t.match(await ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, wrong), {
      status: 401,
      body: { error: { data: { reason: 'api_key_invalid' } } },
    });
  });
});

t.test('KEY-08 requests are counted by key and by nick', async (t) => {
  const { ask, given } = await keysStage(t, { KEY_RATE_LIMIT: '3', NICK_RATE_LIMIT: '4' });
  const [first, second] = [await given('lea', ['read']), await given('lea', ['read'])];
  const answers = [];
  for (const { headers } of [first, first, first, first, second])
    answers.push(await ask('GET', '/irc/channels', undefined, headers));
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200, 429, 429],
  );
  t.same(
    answers.map(({ headers }) => [headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]),
    [
      ['3', '2'],
      ['3', '1'],
      ['3', '0'],
      ['3', '0'],
      ['4', '0'],
    ],
  );
  t.match(answers[3], { body: { code: 'rate_limited' } });
  t.ok(answers[3]!.headers.get('retry-after'));
  t.match(await ask('GET', '/irc/channels'), { status: 200 }, 'others are not counted with it');
});

t.test('KEY-08 the narrower limit is told, of the key or of the address', async (t) => {
  const { ask, given } = await keysStage(t, {
    TRUST_PROXY: '127.0.0.1',
    RATE_LIMIT: '4',
    KEY_RATE_LIMIT: '6',
    NICK_RATE_LIMIT: '6',
  });
  const { headers } = await given('lea', ['read', 'speak']);
  const from = (address: string) => ({ ...headers, 'x-forwarded-for': address });
  const told = [];
  for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.2', '192.0.2.2']) {
    const answer = await ask('GET', '/irc/webhook', undefined, from(address));
    told.push(['limit', 'remaining'].map((name) => answer.headers.get(`x-ratelimit-${name}`)));
  }
  t.same(told, [
    ['4', '3'],
    ['4', '2'],
    ['6', '3'],
    ['6', '2'],
    ['6', '1'],
  ]);
});
