import t from 'tap';
import type { Hex } from 'viem';
import { walletChallenges } from '../../src/operations/identity/challenges.js';
import { identity, registryDecider } from '../../streams/identity/index.js';
import { irc } from '../../streams/network/index.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { openLog } from './log.js';
import { type IdentityStage, identityStage, newWallet } from './stage.js';

t.test('the identity routes', async (t) => {
  const stage = await identityStage(t);
  const { ask, link, verify } = stage;
  const wallet = newWallet();
  const lower = wallet.address.toLowerCase();

  t.test('IDENT-01 IDENT-04 a link is made, and found by both', async (t) => {
    const made = await link('Alice[1]', wallet.address);
    t.equal(made.status, 201);
    t.match(made.body, {
      nick: 'alice{1}',
      wallet_address: wallet.address,
      verified: 0,
      level: 0,
      agent_id: null,
      linked_at: /^\d{4}-.*Z$/,
      last_seen: made.body.linked_at,
    });
    for (const path of [
      'by-nick/alice%5B1%5D',
      'by-nick/ALICE%7B1%7D',
      `by-wallet/${wallet.address}`,
      `by-wallet/${lower}`,
      `by-wallet/0x${lower.slice(2).toUpperCase()}`,
    ]) {
      const found = await ask('GET', `/identity/${path}`);
      t.same([found.status, found.body], [200, made.body], path);
    }
    const nobody = await ask('GET', '/identity/by-nick/nobody');
    t.match([nobody.status, nobody.body], [404, { error: 'No wallet linked', code: 'wallet_not_linked' }]);
    t.match(nobody.body.hint, /LINK <address> .* POST \/identity\/link/);
    const nothing = await ask('GET', `/identity/by-wallet/0x${'0'.repeat(40)}`);
    t.same([nothing.status, nothing.body], [404, { error: 'No nick linked', code: 'nick_not_linked' }]);
  });

  t.test('IDENT-02 neither is linked twice', async (t) => {
    const cases: [string, string, string][] = [
      ['alice{1}', newWallet().address, 'nick_linked'],
      ['bob', wallet.address, 'wallet_linked'],
      ['bob', lower, 'wallet_linked'],
      ['Alice[1]', lower, 'nick_linked'],
    ];
    for (const [nick, address, code] of cases) {
      const answer = await link(nick, address);
      t.equal(answer.status, 409);
      t.match(answer.body, { code, error: /already linked$/ });
    }
  });

  t.test('IDENT-03 what is none of it', async (t) => {
    const signature = `0x${'1'.repeat(130)}`;
    const cases: [string, string, unknown, string[]][] = [
      ['POST', 'link', {}, ['nick', 'wallet_address']],
      ['POST', 'link', { nick: '1st', wallet_address: lower }, ['nick']],
      ['POST', 'link', { nick: 'x'.repeat(31), wallet_address: lower }, ['nick']],
      ['POST', 'link', { nick: 'ok', wallet_address: lower.slice(2) }, ['wallet_address']],
      ['POST', 'link', { nick: 'ok', wallet_address: `${lower}0` }, ['wallet_address']],
      ['POST', 'link', { nick: 'ok', wallet_address: `${lower}\n` }, ['wallet_address']],
      ['POST', 'link', { nick: 7, wallet_address: null }, ['nick', 'wallet_address']],
      ['POST', 'link', [], ['']],
      ['DELETE', 'link/1st', undefined, ['nick']],
      ['GET', 'by-nick/a%20b', undefined, ['nick']],
      ['GET', 'by-wallet/0x12', undefined, ['address']],
      ['POST', 'verify-challenge', {}, ['nick']],
      ['POST', 'verify-signature', { nick: 'alice{1}' }, ['signature']],
      ['POST', 'verify-signature', { nick: 'ok', signature: signature.slice(0, -1) }, ['signature']],
      ['POST', 'verify-signature', { nick: 'ok', signature: signature.slice(2) }, ['signature']],
      ['POST', 'verify-signature', { nick: 'ok', signature: `0x${'g'.repeat(130)}` }, ['signature']],
    ];
    for (const [method, path, body, paths] of cases) {
      const answer = await ask(method, `/identity/${path}`, body);
      t.equal(answer.status, 400, `${path} ${JSON.stringify(body)}`);
      t.match(answer.body, { code: 'validation_failed', error: /./ });
      t.same(
        answer.body.details.map((detail: { path: string }) => detail.path),
        paths,
      );
    }
  });

  t.test('IDENT-07 challenges', async (t) => {
    const nobody = await ask('POST', '/identity/verify-challenge', { nick: 'nobody' });
    t.same([nobody.status, nobody.body.code], [404, 'wallet_not_linked']);
    const before = Math.floor(Date.now() / 1000);
    const first = await ask('POST', '/identity/verify-challenge', { nick: 'ALICE[1]' });
    t.equal(first.status, 200);
    t.same(Object.keys(first.body).sort(), ['challenge', 'expires_at']);
    const [, at] = /^svc:verify:alice\{1\}:(\d{10}):[0-9a-f]{6}$/.exec(first.body.challenge) ?? [];
    t.ok(Number(at) >= before - 1 && Number(at) <= before + 5, first.body.challenge);
    const minutes = (Date.parse(first.body.expires_at) - Number(at) * 1000) / 60_000;
    t.ok(minutes >= 30 && minutes < 30.1, `${minutes} minutes`);
    const second = await ask('POST', '/identity/verify-challenge', { nick: 'alice{1}' });
    t.not(second.body.challenge, first.body.challenge);
  });

  t.test('IDENT-07 a challenge that somebody else asks for leaves the owner’s good', async (t) => {
    const owner = newWallet();
    await link('calm', owner.address);
    const own = await ask('POST', '/identity/verify-challenge', { nick: 'calm' });
    for (let times = 0; times < 7; times += 1)
      await ask('POST', '/identity/verify-challenge', { nick: 'calm' });
    const send = async (signature: string) =>
      await ask('POST', '/identity/verify-signature', { nick: 'calm', signature });
    const others = await send(await newWallet().signMessage({ message: own.body.challenge }));
    t.same([others.status, others.body.code], [401, 'wallet_mismatch']);
    const answer = await send(await owner.signMessage({ message: own.body.challenge }));
    t.match(answer, { status: 200, body: { verified: true } });
  });

  t.test(
    'IDENT-28 who asks on and on gets the last challenge again, and the owner can answer it',
    async (t) => {
      const owner = newWallet();
      await link('often', owner.address);
      const answers = [];
      for (let times = 0; times < 8; times += 1)
        answers.push((await ask('POST', '/identity/verify-challenge', { nick: 'often' })).body);
      t.equal(new Set(answers.map(({ challenge }) => challenge)).size, 5);
      t.same(answers.slice(5), [answers[4], answers[4], answers[4]], 'with the same expiry');
      const signature = await owner.signMessage({ message: answers[4].challenge });
      t.equal((await ask('POST', '/identity/verify-signature', { nick: 'often', signature })).status, 200);
    },
  );

  t.test('IDENT-09 signatures that prove nothing', async (t) => {
    const send = (nick: string, signature: string) =>
      ask('POST', '/identity/verify-signature', { nick, signature });
    const any = await newWallet().signMessage({ message: 'anything' });
    const missing = await send('nobody', any);
    t.same([missing.status, missing.body.code], [404, 'wallet_not_linked']);
    await link('carl', newWallet().address);
    const unasked = await send('carl', any);
    t.same([unasked.status, unasked.body.code], [400, 'challenge_missing']);
    t.match(unasked.body.hint, /challenge/);
    const { body } = await ask('POST', '/identity/verify-challenge', { nick: 'carl' });
    const others = await send('carl', await newWallet().signMessage({ message: body.challenge }));
    t.same([others.status, others.body.code], [401, 'wallet_mismatch']);
    for (const bad of [`0x${'0'.repeat(130)}`, `0x${'f'.repeat(130)}`, `${any.slice(0, -2)}09`]) {
      const nobodys = await send('carl', bad);
      t.same([nobodys.status, nobodys.body.code], [400, 'signature_invalid'], bad);
    }
    t.equal((await ask('GET', '/identity/by-nick/carl')).body.verified, 0);
  });

  t.test('IDENT-08 IDENT-10 a signature verifies, and the nick is not proven by it', async (t) => {
    const done = await verify('Alice[1]', wallet);
    t.equal(done.status, 200);
    t.match(done.body, {
      verified: true,
      nick: 'alice{1}',
      wallet_address: wallet.address,
      agent_id: null,
      verified_at: /^\d{4}-.*Z$/,
    });
    t.same(Object.keys(done.body).sort(), ['agent_id', 'nick', 'verified', 'verified_at', 'wallet_address']);
    t.match((await ask('GET', '/identity/by-nick/alice{1}')).body, { verified: 1, level: 0, agent_id: null });
    const again = await ask('POST', '/identity/verify-challenge', { nick: 'alice{1}' });
    t.same([again.status, again.body.code], [409, 'already_verified']);
    const used = await ask('POST', '/identity/verify-signature', {
      nick: 'alice{1}',
      signature: await wallet.signMessage({ message: 'x' }),
    });
    t.same([used.status, used.body.code], [400, 'challenge_missing'], 'a challenge is used once');
  });

  t.test('IDENT-08 recovery bits 0 and 1 are as good as 27 and 28', async (t) => {
    for (const nick of ['bits-a', 'bits-b', 'bits-c']) {
      const one = newWallet();
      await link(nick, one.address);
      const { body } = await ask('POST', '/identity/verify-challenge', { nick });
      const usual: Hex = await one.signMessage({ message: body.challenge });
      const bit = (Number.parseInt(usual.slice(-2), 16) - 27).toString(16).padStart(2, '0');
      const answer = await ask('POST', '/identity/verify-signature', {
        nick,
        signature: usual.slice(0, -2).toUpperCase().replace('0X', '0x') + bit,
      });
      t.equal(answer.status, 200, bit);
    }
  });

  t.test('IDENT-05 an unlink leaves both free', async (t) => {
    const gone = await ask('DELETE', '/identity/link/ALICE%5B1%5D');
    t.same([gone.status, gone.body], [200, { unlinked: true, nick: 'alice{1}' }]);
    t.equal((await ask('GET', `/identity/by-wallet/${lower}`)).status, 404);
    const again = await ask('DELETE', '/identity/link/alice{1}');
    t.same([again.status, again.body.code], [404, 'wallet_not_linked']);
    const next = await link('bob', lower);
    t.equal(next.status, 201);
    t.match(next.body, { verified: 0, wallet_address: lower });
    t.equal((await link('alice{1}', newWallet().address)).status, 201);
  });

  t.test('IDENT-25 health', async (t) => {
    const { body } = await ask('GET', '/health');
    t.match(body.services.mrserv, {
      status: 'degraded',
      irc: { connected: false },
      uptime: Number,
      stats: { links: 8, verified: 5 },
    });
  });
});

t.test('IDENT-09 a challenge that was answered too late', async (t) => {
  const stage = await identityStage(t);
  const wallet = newWallet();
  await stage.link('dora', wallet.address);
  const challenge = 'svc:verify:dora:1767268800:a1b2c3';
  const log = await openLog(t, stage.nats);
  const { state } = await log.handle(identity, registryDecider, { is: 'look', nick: 'dora' }, { by: 'test' });
  const link = state.links.get('dora')!.id;
  const challenges = [{ text: challenge, expiresAt: Date.now() - 1 }];
  const key = Buffer.from('dora').toString('base64url');
  await walletChallenges(log, 1).change(key, () => JSON.stringify({ link, challenges }));
  const signature = await wallet.signMessage({ message: challenge });
  const late = await stage.ask('POST', '/identity/verify-signature', { nick: 'dora', signature });
  t.same([late.status, late.body.code], [410, 'challenge_expired']);
  t.equal((await stage.verify('dora', wallet)).status, 200, 'a new one may be had');
});

t.test('IDENT-30 what nobody has proven is no fact, and no address asks for ever', async (t) => {
  const nats = await startNats(t);
  const [one, two] = [await identityStage(t, {}, nats), await identityStage(t, {}, nats)];
  const log = await openLog(t, nats);
  const facts = async () => (await log.manager.streams.info(identity.name)).state.messages;
  const wallets = Array.from({ length: 32 }, newWallet);
  for (const [n, { address }] of wallets.entries())
    t.equal((await one.link(`flood${n}`, address)).status, 201);
  t.equal(await facts(), 32);
  const ask = (stage: IdentityStage, n: number) =>
    stage.ask('POST', '/identity/verify-challenge', { nick: `flood${n}` });
  const first = await ask(one, 0);
  const answers = [];
  for (let n = 0; n < 160; n++) answers.push(await ask(one, n % 32));
  const refused = answers.find(({ status }) => status !== 200);
  t.match(refused, { status: 429, body: { code: 'rate_limited', error: /150 in 30 minutes/ } });
  t.ok(Number(refused!.headers.get('retry-after')) > 0);
  t.equal(answers.filter(({ status }) => status === 200).length, 149);
  t.equal((await ask(two, 0)).status, 429, 'another process has counted them too');
  for (let n = 0; n < 5; n++) {
    const signature = await newWallet().signMessage({ message: first.body.challenge });
    const wrong = await one.ask('POST', '/identity/verify-signature', { nick: 'flood0', signature });
    t.equal(wrong.status, 401);
  }
  t.equal(await facts(), 32, 'the links, and nothing else');
  const { config } = await log.manager.streams.info('RELAY_WALLET_CHALLENGES');
  t.equal(config.max_age, 60 * 60 * 1e9);
  await one.app.stop();
  const again = await identityStage(t, {}, nats);
  const prove = async (stage: IdentityStage, n: number, challenge: string) => {
    const signature = await wallets[n]!.signMessage({ message: challenge });
    return await stage.ask('POST', '/identity/verify-signature', { nick: `flood${n}`, signature });
  };
  t.equal((await prove(two, 0, first.body.challenge)).status, 200, 'in another process');
  t.equal((await prove(again, 1, answers[1]!.body.challenge)).status, 200, 'in one that was started since');
});

t.test('IDENT-18 when a nick was last seen', async (t) => {
  const stage = await identityStage(t);
  const { body } = await stage.link('Gil[x]', newWallet().address);
  const log = await openLog(t, stage.nats);
  const minute = Math.floor(Date.now() / 60_000) * 60_000 + 600_000;
  const said = { is: 'message' as const, nick: 'gil{X}', at: minute + 17_000, text: 'hello' };
  const data = { channel: '#lobby', lines_before: 0, seen: [said] };
  await log.append(irc, 'irc.lobby', { type: 'channel.observed', data }, { by: 'test' });
  const seen = await eventually('it to be seen', async () => {
    const { last_seen } = (await stage.ask('GET', '/identity/by-nick/gil%7Bx%7D')).body;
    return last_seen !== body.last_seen && last_seen;
  });
  t.equal(seen, new Date(minute).toISOString());
});

t.test('IDENT-06 who may write', async (t) => {
  const keys = { API_KEYS: `ann:${'a'.repeat(32)},bob:${'b'.repeat(32)}` };
  const stage = await identityStage(t, keys);
  const { ask } = stage;
  const wallet = newWallet();
  const body = { nick: 'eve', wallet_address: wallet.address };
  const key = { 'x-api-key': 'a'.repeat(32) };
  t.equal((await ask('POST', '/identity/link', body)).status, 401);
  t.equal((await ask('POST', '/identity/link', body, { 'x-api-key': 'wrong' })).status, 401);
  t.equal((await ask('POST', '/identity/link', body, key)).status, 201);
  t.equal((await stage.verify('eve', wallet)).status, 200, 'a signature needs none');
  t.equal((await ask('GET', '/identity/by-nick/eve')).status, 200);
  t.equal((await ask('DELETE', '/identity/link/eve')).status, 401);
  const bearer = { authorization: `Bearer ${'b'.repeat(32)}` };
  t.equal((await ask('DELETE', '/identity/link/eve', undefined, bearer)).status, 200);
  const log = await openLog(t, stage.nats);
  const by: string[] = [];
  for await (const fact of log.subject(identity, 'identity.registry')) by.push(`${fact.type} ${fact.by}`);
  t.same(by, ['identity.linked ann', 'identity.verified api', 'identity.unlinked bob']);
});

t.test('IDENT-24 the service in a process of its own', async (t) => {
  const inside = await identityStage(t, { ROLES: 'services,projections' });
  const outside = await startApp(t, {
    NATS_URL: inside.nats.url,
    ROLES: 'api,projections',
    MRSERV_URL: `${inside.app.url}/mrserv`,
  });
  const wallet = newWallet();
  const at = (path: string) => `${outside.url}/identity/${path}`;
  const post = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(at(path), { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as Record<string, string> };
  };
  t.equal((await post('link', { nick: 'Finn', wallet_address: wallet.address })).status, 201);
  t.equal((await post('link', { nick: 'finn', wallet_address: wallet.address })).status, 409);
  const { challenge = '' } = (await post('verify-challenge', { nick: 'finn' })).body;
  const signature = await wallet.signMessage({ message: challenge });
  t.match(await post('verify-signature', { nick: 'finn', signature }), {
    status: 200,
    body: { verified: true },
  });
  t.equal((await fetch(at('by-nick/finn'))).status, 200);
  t.equal((await fetch(at('link/finn'), { method: 'DELETE' })).status, 200);
  await inside.app.stop();
  const gone = await fetch(at('by-nick/finn'));
  t.equal(gone.status, 502);
  t.match(await gone.json(), { code: 'upstream_unreachable', error: /mrserv/ });
});
