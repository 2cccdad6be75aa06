import t from 'tap';
import { askOf, environmentOf, operatorOn, untilKept } from '../channels/stage.js';
import { startApp } from '../support/app.js';
import { withoutChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';
import { startPostgres } from '../support/sql.js';
import {
  bodyOf,
  channelsFile,
  entering,
  paidChannel,
  payingFetch,
  payTo,
  recordingFetch,
  startPayments,
} from './stage.js';

const skip = withoutChain;

t.test('paid channels on a real network', { skip }, async (t) => {
  const whole = t;
  const [nats, ircd, { chain, facilitator }] = await Promise.all([
    startNats(t),
    startIrcd(t),
    startPayments(t),
  ]);
  const file = await channelsFile(t, [
    paidChannel({ description: 'A room for those who pay' }),
    paidChannel({ name: '#short', durationSeconds: 10, price: '0.25' }),
  ]);
  const environment = {
    ...environmentOf({ nats, ircd }),
    X402_FACILITATOR_URL: facilitator.url,
    X402_PAY_TO: payTo,
    PAID_CHANNELS: file,
  };
  const early = await observe(ircd.port, { nick: 'early' });
  t.teardown(() => early.stop());
  await early.join('#alpha-test');
  let app = await startApp(t, environment);
  await untilKept(app.url);
  const witness = await operatorOn(t, ircd);
  const agent = async (nick: string) => {
    const observer = await observe(ircd.port, { nick });
    t.teardown(() => observer.stop());
    return observer;
  };
  const names = async (channel: string) =>
    (await witness.ask(`NAMES ${channel}`))
      .map((line) => line.replace(/^@\S+ /, ''))
      .filter((line) => / 353 /.test(line))
      .flatMap((line) => line.split(' :')[1]!.trim().split(' '));
  const access = (channel: string) => `${app.url}/payments/access/${channel}`;

  t.test('PAY-16 they are there, closed and private', async (t) => {
    const modes = await eventually('the channel', async () => {
      const line = (await witness.ask('MODE #alpha-test')).find((raw) => / 324 /.test(raw));
      return line?.split(' ').find((word) => word.startsWith('+'));
    });
    for (const flag of 'intN') t.ok(modes.includes(flag), `+${flag}`);
    // it is on the network before it is in the read model
    const recorded = await eventually('the record', async () => {
      const answer = await askOf(app.url, 'GET', '/channels/alpha-test');
      return answer.status === 200 && answer;
    });
    t.match(recorded, {
      body: { type: 'special', topic: 'A room for those who pay', metadata: { paid: true } },
    });
    const stranger = await agent('stranger');
    t.ok(
      (await stranger.ask('JOIN #alpha-test')).some((line) => / 473 /.test(line)),
      'nobody just comes in',
    );
    await t.rejects(
      fetch(`${app.url}/irc/channels`)
        .then(bodyOf)
        .then((all: { name: string }[]) => {
          if (all.every(({ name }) => name !== '#alpha-test')) throw new Error('not listed');
        }),
      { message: 'not listed' },
    );
    t.match((await askOf(app.url, 'GET', '/health')).body.services.turnstile, {
      status: 'ok',
      facilitator: { url: facilitator.url, reachable: true },
      channels: 2,
    });
  });

  t.test('PAY-31 they stay as they are sold', async (t) => {
    const before = await askOf(app.url, 'GET', '/channels/alpha-test');
    for (const [method, path, body] of [
      ['POST', '/channels', { name: '#alpha-test', type: 'special' }],
      ['PATCH', '/channels/alpha-test', { modes: '-i' }],
      ['PATCH', '/channels/%23Alpha-Test', { op: ['stranger'] }],
      ['DELETE', '/channels/alpha-test', undefined],
      ['DELETE', '/channels/alpha-test', { immediate: true }],
    ] as const)
      t.match(
        await askOf(app.url, method, path, body),
        { status: 409, body: { code: 'channel_reserved' } },
        `${method} ${path}`,
      );
    t.same((await askOf(app.url, 'GET', '/channels/alpha-test')).body, before.body);
    const leave = { action: 'sapart', nicks: ['stranger'], reason: 'Spam' };
    t.match(await askOf(app.url, 'POST', '/channels/alpha-test/members', leave), {
      status: 200,
      body: { successful: ['stranger'], failed: {} },
    });
  });

  t.test('PAY-15 who is not on IRC pays nothing', async (t) => {
    const account = await chain.payer();
    const response = await payingFetch(account)(access('alpha-test'), entering('ghost'));
    t.equal(response.status, 400);
    t.match(await bodyOf(response), {
      error: 'Nick not connected to IRC',
      code: 'nick_not_on_irc',
      hint: /./,
    });
    for (const nick of ['1bad', '', 'x'.repeat(31), 'a b']) {
      const refused = await payingFetch(account)(access('alpha-test'), entering(nick));
      t.match(
        { status: refused.status, body: await bodyOf(refused) },
        { status: 400, body: { code: 'validation_failed', details: [{ path: 'nick' }] } },
      );
    }
    t.equal(await chain.balance(account.address), 1_000_000n);
  });

  t.test('PAY-14 PAY-13 a payer is brought in with a voice, and may come back', async (t) => {
    const ann = await agent('Ann');
    const account = await chain.payer();
    const { pay, proofs } = recordingFetch(account);
    const response = await pay(access('alpha-test'), entering('ann'));
    t.equal(response.status, 200);
    const grant = await bodyOf(response);
    await eventually('ann with a voice', async () => (await names('#alpha-test')).includes('+Ann'));
    t.notOk(
      (await ann.ask('NICK other')).some((line) => /:other$| NICK /.test(line) && !/ 447 /.test(line)),
      'a nick stays while its time runs',
    );
    t.match((await askOf(app.url, 'GET', '/payments/channels/%23alpha-test')).body, {
      name: '#alpha-test',
      price: '0.10',
      currency: 'USDC',
      network: 'eip155:8453',
      activeSlots: 1,
      durationSeconds: 1_800,
      maxSlots: 20,
      description: 'A room for those who pay',
    });
    t.match((await askOf(app.url, 'GET', '/payments/channels')).body.channels, [
      { activeSlots: 1 },
      { activeSlots: 0 },
    ]);
    t.match(await askOf(app.url, 'GET', '/payments/channels/lobby'), {
      status: 404,
      body: { code: 'not_found' },
    });
    t.match(await askOf(app.url, 'POST', '/payments/access/lobby', { nick: 'ann' }), { status: 404 });
    t.match((await askOf(app.url, 'GET', '/payments/sessions/ann')).body, {
      sessions: [{ session_id: grant.sessionId }],
    });
    t.same((await askOf(app.url, 'GET', '/payments/sessions/nobody')).body, { nick: 'nobody', sessions: [] });
    t.equal((await askOf(app.url, 'GET', '/payments/sessions/1bad')).status, 400);
    await ann.ask('PART #alpha-test');
    t.ok((await ann.ask('JOIN #alpha-test')).some((line) => / 473 /.test(line)));
    const again = await fetch(access('alpha-test'), entering('ann', { 'x-payment': proofs[0]! }));
    t.same(await bodyOf(again), grant);
    await eventually('ann to be back', async () => (await names('#alpha-test')).includes('+Ann'));
    t.equal(await chain.balance(account.address), 900_000n);
  });

  t.test('PAY-32 one payment seats one nick', async (t) => {
    const isOut = (nick: string) => async () =>
      !(await names('#alpha-test')).some((one) => one.replace(/^[@+]+/, '') === nick);
    await eventually('who sat there before it was sold to be out', isOut('early'));
    t.ok((await early.ask('JOIN #alpha-test')).some((line) => / 473 /.test(line)));
    await agent('guest');
    await witness.ask('SAJOIN guest #alpha-test');
    await witness.ask('SAMODE #alpha-test +v guest');
    await eventually('who was let in by somebody else to be out', isOut('guest'));

    const kim = await agent('kim');
    const { pay, proofs } = recordingFetch(await chain.payer());
    t.equal((await pay(access('alpha-test'), entering('kim'))).status, 200);
    await eventually('kim with a voice', async () => (await names('#alpha-test')).includes('+kim'));
    await witness.ask('SANICK kim renamed');
    await kim.waitUntil(() => kim.raw.some((line) => / NICK :?renamed/.test(line)));
    const sessions = async (nick: string) =>
      (await askOf(app.url, 'GET', `/payments/sessions/${nick}`)).body.sessions.length;
    await eventually('the place to move with whoever is renamed', async () => {
      return (await sessions('renamed')) === 1 && (await names('#alpha-test')).includes('+renamed');
    });
    t.equal(await sessions('kim'), 0);
    const second = await agent('kim');
    await second.ask();
    t.ok(await isOut('kim')(), 'whoever takes the nick then is not brought in for it');
    await witness.ask('SAJOIN kim #alpha-test');
    await eventually('nor kept in', isOut('kim'));
    t.ok((await names('#alpha-test')).includes('+renamed'), 'who has paid stays');
    await second.stop();
    await kim.ask('PART #alpha-test');
    const again = await fetch(access('alpha-test'), entering('renamed', { 'x-payment': proofs[0]! }));
    t.match(await bodyOf(again), { status: 'granted', nick: 'renamed' });
    await eventually('who was renamed to be back', async () =>
      (await names('#alpha-test')).includes('+renamed'),
    );
  });

  t.test('PAY-14 the end of the time, also across a restart', async (t) => {
    const [bob, zoe] = [await agent('bob'), await agent('zoe')];
    const isSeated = (line: string) => / MODE #short :?\+v /.test(line);
    const enter = async (nick: string) => {
      const response = await payingFetch(await chain.payer())(access('short'), entering(nick));
      t.equal(response.status, 200, nick);
      return Date.parse((await bodyOf(response)).expiresAt);
    };
    const first = await enter('bob');
    await bob.waitUntil(() => bob.raw.some(isSeated), 'bob to have a voice');
    await eventually('bob to be out', async () => !(await names('#short')).some((nick) => /bob/.test(nick)));
    t.ok(Date.now() >= first, 'not before the end');

    const second = await enter('zoe');
    await zoe.waitUntil(() => zoe.raw.some(isSeated), 'zoe to have a voice');
    await app.stop();
    app = await startApp(whole, environment);
    await eventually('zoe to be out', async () => !(await names('#short')).some((nick) => /zoe/.test(nick)));
    t.ok(Date.now() >= second, 'with a restart in between');
    // others may see it a moment before zoe does
    await eventually('zoe to be parted by force', async () =>
      zoe.raw.some((line) => / PART :?#short/.test(line)),
    );
    await eventually('the end to be recorded', async () => {
      const { operations } = (await askOf(app.url, 'GET', '/channels/short/operations?limit=4')).body;
      const actions = operations.map(
        ({ operation, target_nick }: Record<string, string>) => `${operation} ${target_nick}`,
      );
      return actions.includes('sapart zoe') && actions.includes('devoice zoe');
    });
    t.same((await askOf(app.url, 'GET', '/payments/sessions/zoe')).body.sessions, []);
  });

  t.test('PAY-15 without the channel bot nothing is taken', async (t) => {
    await untilKept(app.url);
    const account = await chain.payer();
    await ircd.kill();
    await eventually('the loss to be seen', async () => {
      const { channelserv } = (await askOf(app.url, 'GET', '/health')).body.services;
      return channelserv.status === 'degraded';
    });
    const response = await payingFetch(account)(access('alpha-test'), entering('bob'));
    t.match(
      { status: response.status, body: await bodyOf(response) },
      { status: 503, body: { code: 'irc_unavailable' } },
    );
    t.equal(await chain.balance(account.address), 1_000_000n);
  });
});

t.test('PAY-17 the gateway in another process', { skip }, async (t) => {
  const [nats, ircd, postgres, { chain, facilitator }] = await Promise.all([
    ...([startNats(t), startIrcd(t), startPostgres(t)] as const),
    startPayments(t),
  ]);
  const shared = {
    ...environmentOf({ nats, ircd }),
    DATABASE_URL: postgres.url,
    X402_FACILITATOR_URL: facilitator.url,
    X402_PAY_TO: payTo,
    PAID_CHANNELS: await channelsFile(t, [paidChannel()]),
  };
  await startApp(t, { ...shared, ROLES: 'irc,projections,workers' });
  const port = await freePort();
  const services = await startApp(t, { ...shared, ROLES: 'services', PORT: String(port) });
  const at = `http://127.0.0.1:${port}`;
  const api = await startApp(t, {
    ...shared,
    ROLES: 'api',
    PAID_CHANNELS: '',
    X402_FACILITATOR_URL: '',
    TURNSTILE_URL: `${at}/turnstile`,
    CHANNELSERV_URL: `${at}/channelserv`,
  });
  await untilKept(api.url);
  const bob = await observe(ircd.port, { nick: 'bob' });
  t.teardown(() => bob.stop());
  await bob.ask();
  const access = `${api.url}/payments/access/alpha-test`;
  const account = await chain.payer();
  const response = await payingFetch(account)(access, entering('bob'));
  t.equal(response.status, 200, await response.clone().text());
  t.ok(response.headers.get('payment-response'), 'with its headers');
  t.equal(await chain.balance(payTo), 100_000n);
  await bob.waitUntil(() => bob.raw.some((line) => / JOIN :?#alpha-test/.test(line)));
  t.match((await askOf(api.url, 'GET', '/payments/sessions/bob')).body, {
    sessions: [{ payer: account.address }],
  });
  await services.stop();
  t.match(await askOf(api.url, 'GET', '/payments/channels'), { status: 502, body: { error: /turnstile/ } });
  await eventually('health to say so', async () => {
    const { body } = await askOf(api.url, 'GET', '/health');
    return body.services.turnstile.status === 'unreachable';
  });
});
