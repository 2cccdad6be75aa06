import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import t from 'tap';
import { walletChallenges } from '../../src/operations/identity/challenges.js';
import { incidentSubject, incidents } from '../../streams/incidents/index.js';
import { IdentityRegistry } from '../../workers/identity/index.js';
import { openLog } from '../identity/log.js';
import { identityStage } from '../identity/stage.js';
import { eventually } from '../support/eventually.js';
import { newWallet, publicUrl } from './stage.js';

const key = 'k'.repeat(40);

t.test('wallets that act for their nicks', async (t) => {
  // with keys, so that being on this machine opens nothing
  const file = join(t.testdir({ keys: '# none yet\n' }), 'keys');
  const stage = await identityStage(t, {
    API_KEYS_FILE: file,
    PUBLIC_URL: publicUrl,
    API_KEYS: `ops:${key}`,
    NONCE_RATE_LIMIT: '0',
  });
  const { ask } = stage;
  const withKey = { 'x-api-key': key };
  const log = await openLog(t, stage.nats);
  const registry = new IdentityRegistry({
    log,
    logger: pino({ level: 'silent' }),
    agents: undefined,
    challenges: walletChallenges(log, 1),
  });

  const signed = async (
    wallet: ReturnType<typeof newWallet>,
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ) => {
    const { nonce } = (await ask('GET', '/auth/erc8128/nonce')).body;
    const init = body
      ? { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      : { method };
    const request = await wallet.sign(publicUrl + path, init, { nonce });
    return await ask(method, path, body, { ...request.headers, ...headers });
  };
  /** A nick that linked this wallet, over IRC as identified or by an API key, and then proved the wallet. */
  const linked = async (nick: string, identified: boolean, verified: boolean) => {
    const wallet = newWallet();
    await registry.link(nick, wallet.account.address, identified, { by: nick });
    // the registry is not the service's own, which hears of the link a little later
    const known = async () => (await ask('GET', `/identity/by-nick/${nick}`)).status === 200;
    await eventually(`the service to know the wallet of ${nick}`, known);
    if (verified) t.equal((await stage.verify(nick, wallet.account)).status, 200);
    return wallet;
  };

  await t.test('AUTH-12 the linked wallet unlinks its nick, and no other does', async (t) => {
    const [ann, bob] = [await linked('ann', true, false), await linked('bob', true, true)];
    t.match(await ask('DELETE', '/identity/link/ann'), { status: 401, body: { code: 'api_key_required' } });
    t.match(await signed(bob, 'DELETE', '/identity/link/ann'), {
      status: 403,
      body: { code: 'wallet_not_of_nick' },
    });
    t.match(await signed(ann, 'DELETE', '/identity/link/nobody'), { status: 404 });
    t.match(await signed(ann, 'DELETE', '/identity/link/1x'), {
      status: 400,
      body: { code: 'validation_failed' },
    });
    t.match(await signed(ann, 'DELETE', '/identity/link/Ann'), { status: 200, body: { unlinked: true } });
    t.equal((await ask('GET', '/identity/by-nick/ann')).status, 404);
    t.equal((await ask('GET', '/identity/by-nick/bob')).status, 200);
  });

  await t.test(
    'AUTH-13 a signature decides, whatever key is beside it, and a key needs no signature',
    async (t) => {
      const carl = await linked('carl', false, false);
      const other = newWallet();
      const answer = await signed(other, 'DELETE', '/identity/link/carl', undefined, withKey);
      t.match(answer, { status: 403, body: { code: 'wallet_not_of_nick' } });
      const broken = await ask('DELETE', '/identity/link/carl', undefined, {
        ...withKey,
        signature: 'eth=:AAAA:',
      });
      t.match(broken, { status: 401, body: { code: 'signature_input_invalid' } });
      t.match(broken.headers.get('www-authenticate'), /^Bearer .*, ERC8128 /);
      t.ok(carl);
      t.equal((await ask('DELETE', '/identity/link/carl', undefined, withKey)).status, 200);
    },
  );

  await t.test('AUTH-14 a verified wallet reports and votes for its nick', async (t) => {
    const [dora, eve] = [await linked('dora', true, true), await linked('eve', true, true)];
    const report = { title: 'A leaked key', severity: 'SEV-2', reporterNick: 'Dora' };
    const created = await signed(dora, 'POST', '/sentinel/incidents', report);
    t.match(created, { status: 201, body: { reporter: 'Dora', status: 'pending' } });
    const path = `/sentinel/incidents/${created.body.id}/vote`;
    t.match(await signed(eve, 'POST', path, { voterNick: 'eve', score: 80 }), { status: 200 });
    t.match(await signed(eve, 'POST', path, { voterNick: 'EVE', score: 10 }), { status: 409 });
    t.match(await signed(eve, 'POST', path, { voterNick: 'dora', score: 10 }), {
      status: 403,
      body: { code: 'wallet_not_of_nick' },
    });
    const facts = [];
    for await (const { by, type } of log.subject(incidents, incidentSubject(created.body.id)))
      facts.push({ by, type });
    t.same(
      facts.map(({ by }) => by),
      [dora, eve].map(({ account }) => account.address.toLowerCase()),
      'the wallets stand in the facts',
    );
  });

  await t.test('AUTH-14 who is not verified, or names no nick, does not', async (t) => {
    const report = { title: 'A leaked key', severity: 'SEV-2' };
    const [fay, gus] = [await linked('fay', true, false), await linked('gus', false, true)];
    for (const [wallet, reporterNick] of [
      [fay, 'fay'],
      [gus, 'gus'],
    ] as const)
      t.match(
        await signed(wallet, 'POST', '/sentinel/incidents', { ...report, reporterNick }),
        { status: 403, body: { code: 'wallet_not_verified', hint: String } },
        reporterNick,
      );
    t.match(await signed(fay, 'POST', '/sentinel/incidents', report), {
      status: 400,
      body: { code: 'validation_failed', details: [{ path: 'reporterNick' }] },
    });
    t.match(await signed(newWallet(), 'POST', '/sentinel/incidents', { ...report, reporterNick: 'nobody' }), {
      status: 404,
    });
    t.match(await ask('POST', '/sentinel/incidents', report), { status: 401 });
    t.match(await ask('POST', '/sentinel/incidents', report, withKey), {
      status: 201,
      body: { reporter: 'ops' },
    });
  });

  await t.test('AUTH-09 a signed report that is sent 50 times at once counts once', async (t) => {
    const hal = await linked('hal', true, true);
    const report = { title: 'Again', severity: 'SEV-4', reporterNick: 'hal' };
    const { nonce } = (await ask('GET', '/auth/erc8128/nonce')).body;
    const init = {
      method: 'POST',
      body: JSON.stringify(report),
      headers: { 'content-type': 'application/json' },
    };
    const { headers } = await hal.sign(`${publicUrl}/sentinel/incidents`, init, { nonce });
    const before = (await ask('GET', '/sentinel/stats')).body.incidents;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => ask('POST', '/sentinel/incidents', report, headers)),
    );
    t.equal(answers.filter(({ status }) => status === 201).length, 1);
    t.equal(answers.filter(({ body }) => body.code === 'nonce_replayed').length, 49);
    t.equal((await ask('GET', '/sentinel/stats')).body.incidents, before + 1);
  });

  await t.test(
    'AUTH-11 a key that is put into the file opens the service, until it is taken out',
    async (t) => {
      const status = async () =>
        (await ask('GET', '/ops/projections', undefined, { 'x-api-key': 'rotated' })).status;
      t.equal(await status(), 401);
      writeFileSync(file, 'ann:rotated\n');
      await eventually('the key to be known', async () => (await status()) === 200);
      writeFileSync(file, '');
      await eventually('the key to be forgotten', async () => (await status()) === 401);
      t.equal(
        (await ask('GET', '/ops/projections', undefined, withKey)).status,
        200,
        'the ones of API_KEYS stay',
      );
    },
  );
});
