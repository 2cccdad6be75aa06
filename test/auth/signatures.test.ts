import { createHash } from 'node:crypto';
import t from 'tap';
import { signatureFaults } from '../../src/auth/erc8128/policy.js';
import { signatureOf } from '../../src/auth/erc8128/signature-input.js';
import { startNats } from '../support/nats.js';
import { guardedServer, newWallet, publicUrl } from './stage.js';

const url = `${publicUrl}/guarded`;
const body = '{"hello":"world"}';
const json = { 'content-type': 'application/json' };
const post = { method: 'POST', body, headers: json };
const now = () => Math.floor(Date.now() / 1_000);

t.test('wallet signatures', async (t) => {
  const nats = await startNats(t);
  let ahead = 0;
  const later = { now: () => new Date(Date.now() + ahead) };
  const { server, nonces } = await guardedServer({ natsUrl: nats.url, ...later });
  t.teardown(() => server.close());
  const wallet = newWallet();
  const address = wallet.account.address.toLowerCase();
  const fresh = async () => (await nonces.issue()).nonce;
  const seen = new Set<string>();

  const send = async (request: {
    method?: 'GET' | 'POST' | 'DELETE';
    path?: string;
    headers: Record<string, string>;
    body?: string | undefined;
  }) => {
    const { method = 'POST', path = '/guarded', headers } = request;
    const answer = await server.inject({
      method,
      url: path,
      headers,
      ...(request.body === undefined ? {} : { payload: request.body }),
    });
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
  };

  /** A signature made by hand, for what no client would sign. */
  const byHand = async (options: {
    components: string[];
    values: Record<string, string>;
    parameters: (nonce: string) => string;
    nonce: string;
  }) => {
    const { components, values, parameters, nonce } = options;
    const described = `(${components.map((name) => `"${name}"`).join(' ')})${parameters(nonce)}`;
    const lines = components.map((name) => `"${name}": ${values[name]}`);
    const message = [...lines, `"@signature-params": ${described}`].join('\n');
    const signature = await wallet.account.signMessage({ message });
    return {
      'signature-input': `eth=${described}`,
      signature: `eth=:${Buffer.from(signature.slice(2), 'hex').toString('base64')}:`,
    };
  };
  const values = {
    '@method': 'POST',
    '@authority': 'api.relay.example',
    '@path': '/guarded',
    'content-digest': `sha-256=:${createHash('sha256').update(body).digest('base64')}:`,
    'content-type': 'application/json',
  };
  const usual = (nonce: string) =>
    `;created=${now()};expires=${now() + 300};nonce="${nonce}";keyid="erc8128:8453:${address}"`;
  const withBody = { ...json, 'content-digest': values['content-digest'] };

  t.test('AUTH-01 what the published client signs is taken, and its wallet is known', async (t) => {
    for (const [method, path, init] of [
      ['POST', '/guarded', post],
      ['GET', '/guarded', { method: 'GET' }],
      ['GET', '/guarded?a=1&b=%20', { method: 'GET' }],
      ['DELETE', '/guarded?x=', { method: 'DELETE' }],
      ['POST', '/guarded?q=1', post],
    ] as const) {
      const signed = await wallet.sign(publicUrl + path, init, { nonce: await fresh() });
      const answer = await send({ method, path, ...signed });
      t.match(answer, { status: 200, body: { wallet: { address } } }, `${method} ${path}`);
      t.equal(answer.body.wallet.keyid, `erc8128:8453:${address}`);
    }
  });

  t.test(
    'AUTH-02 with a query that is not there, as the client writes it and as RFC 9421 does',
    async (t) => {
      const answers = await Promise.all(
        ['', '?', '?a=1'].flatMap((query) =>
          [0, 5].map(async (place) => {
            const components = ['@method', '@authority', '@path', 'content-digest', 'content-type'];
            components.splice(place, 0, '@query');
            const asSigned = { ...values, '@query': query };
            const signed = await byHand({
              components,
              values: asSigned,
              parameters: usual,
              nonce: await fresh(),
            });
            const { status, body: answered } = await send({ headers: { ...withBody, ...signed }, body });
            return [query, place, status, answered.code];
          }),
        ),
      );
      t.same(answers, [
        ['', 0, 200, undefined],
        ['', 5, 200, undefined],
        ['?', 0, 200, undefined],
        ['?', 5, 200, undefined],
        ['?a=1', 0, 401, 'wallet_mismatch'],
        ['?a=1', 5, 401, 'wallet_mismatch'],
      ]);
    },
  );

  t.test(
    'AUTH-02 in any order, with more than is needed, with alg, and with the key in any case',
    async (t) => {
      const orders = [
        ['content-digest', '@path', '@method', '@authority'],
        ['@authority', '@method', '@path', 'content-digest', 'content-type'],
      ];
      for (const components of orders) {
        const signed = await byHand({ components, values, parameters: usual, nonce: await fresh() });
        t.equal(
          (await send({ headers: { ...withBody, ...signed }, body })).status,
          200,
          components.join(' '),
        );
      }
      const checksummed = (nonce: string) =>
        `;keyid="erc8128:8453:${wallet.account.address}";nonce="${nonce}";expires=${now() + 60};created=${now()};alg="eip191"`;
      const signed = await byHand({
        components: orders[0]!,
        values,
        parameters: checksummed,
        nonce: await fresh(),
      });
      t.match(await send({ headers: { ...withBody, ...signed }, body }), {
        status: 200,
        body: { wallet: { address } },
      });
    },
  );

  t.test('AUTH-02 a clock may be 30 seconds off', async (t) => {
    for (const created of [now() + 25, now() - 325]) {
      const signed = await wallet.sign(url, post, { created, expires: created + 300, nonce: await fresh() });
      t.equal((await send(signed)).status, 200, String(created - now()));
    }
  });

  t.test('AUTH-03 of several signatures the first decides, and a body of another type is none', async (t) => {
    const [good, other] = [await wallet.sign(url, post, { nonce: await fresh() }), newWallet()];
    const second = await other.sign(url, post, { nonce: 'A'.repeat(32) });
    const joined = (one: Record<string, string>, two: Record<string, string>) => ({
      ...good.headers,
      'signature-input': `${one['signature-input']}, ${two['signature-input']}`,
      signature: `${one.signature}, ${two.signature}`,
    });
    t.equal((await send({ headers: joined(second.headers, good.headers), body })).status, 401);
    const plain = await byHand({
      components: ['@method', '@authority', '@path'],
      values,
      parameters: usual,
      nonce: await fresh(),
    });
    t.equal(
      (await send({ headers: { ...plain, 'content-type': 'text/plain' }, body: 'hidden' })).status,
      415,
    );
    t.equal((await send(good)).status, 200);
  });

  t.test('AUTH-02 it is for our host, whatever the request says its host is', async (t) => {
    const signed = await wallet.sign(url, post, { nonce: await fresh() });
    const headers = { ...signed.headers, host: 'edge.internal:9000', 'x-forwarded-host': 'elsewhere' };
    t.equal((await send({ headers, body })).status, 200);
  });

  /** A request that is refused, and what it is refused for; it is made with a nonce that stays good. */
  type Refused = [fault: string, what: string, make: (nonce: string) => Promise<Parameters<typeof send>[0]>];
  const sign = (nonce: string, options = {}) => wallet.sign(url, post, { nonce, ...options });
  const changed = async (
    nonce: string,
    change: (headers: Record<string, string>) => Record<string, string>,
  ) => {
    const signed = await sign(nonce);
    return { ...signed, headers: change(signed.headers) };
  };
  const hand =
    (components: string[], parameters = usual) =>
    async (nonce: string) => ({
      headers: { ...withBody, ...(await byHand({ components, values, parameters, nonce })) },
      body,
    });
  const all = ['@method', '@authority', '@path', 'content-digest'];
  const refused: Refused[] = [
    [
      'signature_input_invalid',
      'a signature without its description',
      (n) => changed(n, ({ 'signature-input': _, ...rest }) => rest),
    ],
    [
      'signature_input_invalid',
      'a description without its signature',
      (n) => changed(n, ({ signature: _, ...rest }) => rest),
    ],
    ['signature_input_invalid', 'another label', (n) => sign(n, { label: 'sig1' })],
    [
      'signature_input_invalid',
      'what cannot be read',
      (n) => changed(n, (headers) => ({ ...headers, 'signature-input': 'eth=("@method' })),
    ],
    [
      'wallet_invalid',
      'a key of no wallet',
      hand(all, (n) => `;created=${now()};expires=${now() + 60};nonce="${n}";keyid="mine"`),
    ],
    [
      'wallet_mismatch',
      'the key of another wallet',
      hand(
        all,
        (n) =>
          `;created=${now()};expires=${now() + 60};nonce="${n}";keyid="erc8128:8453:0x${'1'.repeat(40)}"`,
      ),
    ],
    [
      'wallet_mismatch',
      'another host',
      (n) => wallet.sign('https://elsewhere.example/guarded', post, { nonce: n }),
    ],
    ['wallet_mismatch', 'another path', (n) => wallet.sign(`${publicUrl}/other`, post, { nonce: n })],
    [
      'wallet_mismatch',
      'another body with its digest',
      async (n) => {
        const digest = `sha-256=:${createHash('sha256').update('{"a":1}').digest('base64')}:`;
        const signed = await sign(n);
        return { headers: { ...signed.headers, 'content-digest': digest }, body: '{"a":1}' };
      },
    ],
    ['signature_stale', 'one of the past', (n) => sign(n, { created: now() - 400, expires: now() - 100 })],
    ['signature_stale', 'one of the future', (n) => sign(n, { created: now() + 60, expires: now() + 120 })],
    ['signature_stale', 'one that holds too long', (n) => sign(n, { ttlSeconds: 301 })],
    [
      'signature_stale',
      'one that ends before it begins',
      hand(all, (n) => `;created=${now()};expires=${now() - 1};nonce="${n}";keyid="erc8128:8453:${address}"`),
    ],
    ['nonce_required', 'none', (n) => sign(n, { replay: 'replayable' })],
    ['nonce_unknown', "a nonce of one's own", () => sign('A'.repeat(32))],
    ['components_invalid', 'a body that is not covered', hand(['@method', '@authority', '@path'])],
    [
      'components_invalid',
      'a query that is not covered',
      async (n) => ({ ...(await sign(n)), path: '/guarded?more=1' }),
    ],
    ['components_invalid', 'a header that is not there', hand([...all, 'x-absent'])],
    ['components_invalid', 'what no header is called', hand([...all, '@target-uri'])],
    ['class_bound_rejected', 'every request to this host', hand(['@authority'])],
    ['class_bound_rejected', 'every request with this path', hand(['@authority', '@path', 'content-digest'])],
    [
      'content_digest_required',
      'a digest that is not there',
      (n) => changed(n, ({ 'content-digest': _, ...rest }) => rest),
    ],
    [
      'content_digest_mismatch',
      'another body',
      async (n) => ({ ...(await sign(n)), body: '{"hello":"moon"}' }),
    ],
    [
      'signature_invalid',
      'too few bytes',
      (n) => changed(n, (headers) => ({ ...headers, signature: 'eth=:AAAA:' })),
    ],
    [
      'signature_invalid',
      'no point of the curve',
      (n) =>
        changed(n, (headers) => ({
          ...headers,
          signature: `eth=:${Buffer.alloc(65, 255).toString('base64')}:`,
        })),
    ],
    ['alg_unsupported', 'another algorithm', hand(all, (n) => `${usual(n)};alg="ecdsa-p256-sha256"`)],
    ['chain_not_allowed', 'another chain', (n) => newWallet(1).sign(url, post, { nonce: n })],
  ];
  for (const [fault, what, make] of refused) {
    t.test(`AUTH-03 AUTH-04 ${fault}: ${what}; the nonce stays good`, async (t) => {
      const nonce = await fresh();
      const answer = await send(await make(nonce));
      t.match(answer, { status: 401, body: { code: fault, error: String } });
      t.match(
        answer.headers['www-authenticate'],
        new RegExp(`^Bearer .*error_description="${fault}".*, ERC8128 `),
      );
      t.match(
        answer.headers['accept-signature'],
        /^eth=\("@method" "@authority" "@path".*\);keyid;created;expires;nonce$/,
      );
      t.equal((await send(await sign(nonce))).status, 200);
      seen.add(fault);
    });
  }

  t.test('AUTH-03 what describes a signature has its bounds, and costs little', async (t) => {
    const padded = (nonce: string) => `${usual(nonce)};tag="${'x'.repeat(2_048)}"`;
    const several = async (nonce: string) =>
      await changed(nonce, (headers) => ({
        ...headers,
        'signature-input': `${headers['signature-input']}, other=("@method");created=1;expires=2;keyid="k"`,
        signature: `${headers.signature}, other=:AAAA:`,
      }));
    for (const make of [hand(all, padded), several]) {
      const nonce = await fresh();
      t.match(await send(await make(nonce)), {
        status: 401,
        body: { code: 'signature_input_invalid', hint: 'Sign as /auth.md says' },
      });
      t.equal((await send(await sign(nonce))).status, 200, 'the nonce stays good');
    }
    const parts = [',eth=(', 'eth=("', 'eth=();a="', ';a=b', '\\"', '"', ' ;'];
    const before = process.cpuUsage();
    for (let round = 0; round < 4; round += 1) {
      for (const part of parts) {
        const long = `eth=(${part.repeat(15_000 / part.length)}`;
        const headers = { 'signature-input': long, signature: 'eth=:AAAA:' };
        t.match(await send({ headers, method: 'GET' }), { body: { code: 'signature_input_invalid' } }, part);
      }
    }
    const { user } = process.cpuUsage(before);
    t.ok(user < 28 * 20_000, `${user / 28_000} ms of CPU each`);
  });

  t.test('AUTH-03 how a description is read', async (t) => {
    t.match(signatureOf('eth=("@method" "a\\"b";bs  "@path");created=1; keyid="x;y,z=(" ;tag;alg=eip191'), {
      label: 'eth',
      components: ['@method', 'a\\"b', '@path'],
      parameters: new Map([
        ...[['created', '1'] as const, ['keyid', 'x;y,z=('] as const, ['tag', '?1'] as const],
        ['alg', 'eip191'],
      ]),
    });
    for (const broken of [
      '',
      'eth',
      'eth=',
      'eth=(',
      'eth=("a)',
      'eth=(a)',
      'eth=()x',
      'eth=();',
      'eth=();A=1',
      'eth=(), b=()',
    ])
      t.equal(signatureOf(broken), undefined, broken);
  });

  t.test('AUTH-03 AUTH-04 nonce_replayed: the same request again', async (t) => {
    const signed = await sign(await fresh());
    t.equal((await send(signed)).status, 200);
    t.match(await send(signed), { status: 401, body: { code: 'nonce_replayed', hint: String } });
    const other = newWallet();
    const nonce = await fresh();
    t.equal((await send(await sign(nonce))).status, 200);
    t.match(await send(await other.sign(url, post, { nonce })), { body: { code: 'nonce_replayed' } });
    seen.add('nonce_replayed');
  });

  t.test('AUTH-03 AUTH-05 nonce_expired: a nonce that was kept too long', async (t) => {
    const nonce = await fresh();
    ahead = 301_000;
    t.match(await send(await sign(nonce)), { status: 401, body: { code: 'nonce_expired' } });
    ahead = 0;
    seen.add('nonce_expired');
  });

  t.test('AUTH-03 every reason has been seen', async (t) => {
    t.same([...seen].sort(), [...signatureFaults].sort());
  });

  t.test('AUTH-08 without the store of nonces nobody is let in, and nobody is blamed', async (t) => {
    const signed = await sign(await fresh());
    await nats.kill();
    t.match(await send(signed), { status: 503, body: { code: 'nonce_store_unavailable' } });
  });
});
